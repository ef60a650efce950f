"""Gets one address of a website: politely, within limits, and from nowhere but where it may.

Redirects are followed by hand, so that every hop is asked of `refusal` (allowed hosts, robots.txt) and every address of
the guarded connector. Nothing of the environment (proxies, netrc) is used.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from ingest.sources.web.addresses import ForbiddenAddressError, MayReach, guarded_socket, is_public
from ingest.sources.web.hrefs import written_address
from kb.runtime.faults import is_disk_full, is_fault, trace_of

logger = logging.getLogger(__name__)

USER_AGENT = "Footnote/0.1 (knowledge base crawler)"
AGENT_NAME = "Footnote"
"""The name by which robots.txt knows us."""
MAX_BYTES = 5_000_000
"""Bytes of one page, decompressed."""
_MAX_HOPS = 5
_ATTEMPTS = 3
_MAX_WAIT_S = 60.0
"""A site that asks for a longer pause is left until the next sync."""
_PERMANENT_REDIRECTS = (301, 308)
_REDIRECTS = (*_PERMANENT_REDIRECTS, 302, 303, 307)
_BUSY = (429, 500, 502, 503, 504)

Refusal = Callable[[URL], str | None]
Sleep = Callable[[float], Awaitable[object]]


class WebError(Exception):
    """An address gave no page. `gone`: the site says that there is none; otherwise
    it may be there tomorrow. `for_good`: it says that this will stay so.

    `private`: it is there, but not for everybody: it asks for a login, or sends visitors to another host for now.
    `to`: the address that it redirects to and that was not asked.
    """

    def __init__(
        self,
        reason: str,
        *,
        gone: bool = False,
        private: bool = False,
        for_good: bool = False,
        to: URL | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.gone = gone
        self.private = private
        self.for_good = for_good
        self.to = to


@contextmanager
def as_web_error(what: str) -> Iterator[None]:
    """
    Raises:
        WebError: whatever the code within raised. `what`: how the sentence begins where that was a fault.
    """
    try:
        yield
    except WebError:
        raise
    except BaseException as error:
        if not is_fault(error):
            raise
        logger.error("web.broke", extra={"trace": trace_of(error)})  # noqa: TRY400
        why = "the disk is full" if is_disk_full(error) else f"{type(error).__name__}; the log says where"
        raise WebError(f"{what} ({why})") from error


@dataclass(frozen=True, kw_only=True, slots=True)
class WebResponse:
    """What an address answered. `url` is the last one after redirects. Status 304 has no content.

    `robots`: the X-Robots-Tag header. `location`: where a redirect leads. `wait_s`: the pause that a busy site asks for.
    """

    url: URL
    status: int
    content: bytes = b""
    media_type: str = ""
    charset: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    robots: str = ""
    location: str = ""
    wait_s: float = 1.0


class WebClient:
    """`pause_s` is the least time between two requests to a host; robots.txt may lengthen it (`slow_down`)."""

    def __init__(
        self,
        *,
        pause_s: float,
        timeout_s: float,
        may_reach: MayReach = is_public,
        sleep: Sleep = asyncio.sleep,
        resolver: AbstractResolver | None = None,
    ) -> None:
        self._pauses: dict[str | None, float] = defaultdict(lambda: pause_s)
        self._next_at: dict[str | None, float] = {}
        self._sleep = sleep
        self.requests = 0
        """Requests made so far: each hop of a redirect and each attempt is one."""
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                socket_factory=guarded_socket(may_reach), limit_per_host=1, resolver=resolver
            ),
            timeout=aiohttp.ClientTimeout(total=timeout_s),
            headers={"User-Agent": USER_AGENT, "Accept": "text/html,*/*;q=0.5"},
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
        )

    async def close(self) -> None:
        await self._session.close()

    def slow_down(self, host: str | None, pause_s: float) -> None:
        """Respects a longer pause that a site asks for, within reason."""
        self._pauses[host] = max(self._pauses[host], min(pause_s, _MAX_WAIT_S))

    async def get(
        self,
        url: URL,
        *,
        refusal: Refusal,
        validators: Mapping[str, str] | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> WebResponse:
        """Gets a page, or status 304 when it still is what the validators (headers) name.

        Raises:
            WebError: refused, unreachable, too slow, too large, or any status but 200 and 304.
        """
        for _ in range(_MAX_HOPS + 1):
            answer = await self._patiently(url, validators or {}, max_bytes)
            if answer.status not in _REDIRECTS:
                return answer
            url = _followed(url, answer, refusal)
        raise WebError(f"it redirects more than {_MAX_HOPS} times")

    async def _patiently(self, url: URL, headers: Mapping[str, str], max_bytes: int) -> WebResponse:
        """Asks one address, again after a pause when the site is busy."""
        for attempt in range(1, _ATTEMPTS + 1):
            await self._wait_for_turn(url.host)
            answer = await self._once(url, headers, max_bytes)
            if answer.status not in _BUSY:
                return answer
            if attempt == _ATTEMPTS or answer.wait_s > _MAX_WAIT_S:
                break
            await self._sleep(answer.wait_s * attempt)
        raise WebError(f"the site answers {answer.status}: try again later")

    async def _wait_for_turn(self, host: str | None) -> None:
        now = time.monotonic()
        turn = max(now, self._next_at.get(host, now))
        self._next_at[host] = turn + self._pauses[host]
        if turn > now:
            await self._sleep(turn - now)

    async def _once(self, url: URL, headers: Mapping[str, str], max_bytes: int) -> WebResponse:
        self.requests += 1
        try:
            async with self._session.get(url, headers=headers, allow_redirects=False) as response:
                return await _received(response, max_bytes)
        except TimeoutError as error:
            raise WebError("it took too long to answer") from error
        except aiohttp.ClientConnectorError as error:
            if isinstance(error.os_error, ForbiddenAddressError):
                raise WebError(f"{url.host} leads to a private or local address: not fetched") from error
            raise WebError(f"{url.host} cannot be reached") from error
        except (aiohttp.ClientError, ValueError) as error:  # ValueError: an address that aiohttp cannot send
            raise WebError(f"the site's answer cannot be read ({type(error).__name__})") from error


def _followed(url: URL, redirect: WebResponse, refusal: Refusal) -> URL:
    target = written_address(redirect.location, url)
    if target is None:
        raise WebError("it redirects to something that is no address")
    target = target.with_fragment(None)
    why = refusal(target)
    if why is not None:
        permanent = redirect.status in _PERMANENT_REDIRECTS
        reason = f"it redirects to {target.host or 'nowhere'}: {why}"
        raise WebError(reason, gone=permanent, private=not permanent, to=target)
    return target


async def _received(response: aiohttp.ClientResponse, max_bytes: int) -> WebResponse:
    if response.status in (*_REDIRECTS, *_BUSY):
        return WebResponse(
            url=response.url,
            status=response.status,
            location=response.headers.get("Location", ""),
            wait_s=_retry_after(response.headers.get("Retry-After")),
        )
    if response.status in (404, 410):
        raise WebError(
            f"the site answers {response.status}: there is no such page",
            gone=True,
            for_good=response.status == 410,
        )
    if response.status in (401, 403):
        raise WebError(f"the site answers {response.status}: it is not public", private=True)
    if response.status not in (200, 304):
        raise WebError(f"the site answers {response.status}")
    content = bytearray()
    async for piece in response.content.iter_chunked(65_536):
        content += piece
        if len(content) > max_bytes:
            raise WebError(f"it is larger than {max_bytes / 1e6:.0f} MB")
    return WebResponse(
        url=response.url,
        status=response.status,
        content=bytes(content),
        media_type=response.content_type,
        charset=response.charset,
        etag=response.headers.get("ETag"),
        last_modified=response.headers.get("Last-Modified"),
        robots=", ".join(response.headers.getall("X-Robots-Tag", [])),
    )


def _retry_after(header: str | None) -> float:
    """Reads seconds, of a number or until a date; else 1."""
    if header is None:
        return 1.0
    if header.strip().isdigit():
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return 1.0
