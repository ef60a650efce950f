"""Reads a vendor's JSON API: one host, its credentials, its rate limits.

Redirects are not followed but by downloads, and credentials go to the
configured host alone; links to a next page are read as paths.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

import aiohttp
from yarl import URL

from kb.text.unicode import well_formed_value

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[object]]
Authorize = Callable[[], Awaitable[Mapping[str, str]]]
"""The headers that open the API now, where they do not stay the same. May raise `ApiError`."""
Later = Callable[[int, Any], float | None]
"""Status and JSON of a refusal -> how many seconds to wait first, where
it means "ask again later"; None: it means no.
"""
Parameters = Mapping[str, str | int | Sequence[str]]

_ATTEMPTS = 6
_LONGEST_WAIT_S = 120.0
_TRANSIENT = (429, 500, 502, 503, 504)
_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_REDIRECTS = 5
_PIECE = 64 * 1024
"""Bytes of a file that are read at a time."""


class ApiError(Exception):
    """The API gave no answer that can be used. `status`: HTTP's, or None
    when nothing came back; `told`: the JSON that came with it, if any.
    """

    def __init__(self, message: str, *, status: int | None = None, told: Any = None) -> None:
        super().__init__(message)
        self.status = status
        self.told = told


class JsonApi:
    """Requests below `base_url`, again after a pause while the vendor is
    busy or limits the rate. `longest_wait_s`: what the vendor may ask us
    to wait; with more, the source is unavailable until the next sync.
    """

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str],
        timeout_s: float,
        sleep: Sleep = asyncio.sleep,
        authorize: Authorize | None = None,
        longest_wait_s: float = _LONGEST_WAIT_S,
        later: Later | None = None,
    ) -> None:
        self._base = URL(base_url.rstrip("/"))
        self._headers = {"Accept": "application/json", "User-Agent": "Footnote/0.1", **headers}
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)
        self._sleep = sleep
        self._authorize = authorize
        self._longest_wait_s = longest_wait_s
        self._later = later
        self._session: aiohttp.ClientSession | None = None

    async def get(self, path: str, parameters: Parameters | None = None) -> Any:
        """The parsed JSON at `path`, which starts with a slash and is below the base URL, or below its host's root.

        Raises:
            ApiError: refused, unreachable, not JSON, or still busy after all attempts.
        """
        return await self._patiently(lambda: self._once(self._address(path, parameters or {})))

    async def follow(self, link: str) -> Any:
        """As `get`, for the whole address that the vendor gave for what follows, to the letter.

        Raises:
            ApiError: also where it leads to another host.
        """
        url = _whole(link)
        if url.origin() != self._base.origin():
            raise ApiError(f"it leads to another host ({url.host}): not followed")
        return await self._patiently(lambda: self._once(url))

    async def post(self, path: str, fields: Mapping[str, str]) -> Any:
        """As `get`, for a form that may be sent again."""
        return await self._patiently(lambda: self._once(self._address(path, {}), fields))

    async def download(self, path: str, *, most: int) -> bytes:
        """A file at `path`, along redirects: to other hosts over https alone, and without our credentials.
        A whole address in the place of `path` opens by itself: our credentials go to no host then.

        Raises:
            ApiError: refused, unreachable, larger than `most` bytes, or still busy after all attempts.
        """
        whole = not path.startswith("/")
        url = self._checked(_whole(path)) if whole else self._address(path, {})
        return await self._patiently(lambda: self._file(url, most, anonymous=whole))

    async def _patiently(self, ask: Callable[[], Awaitable[T]]) -> T:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return await ask()
            except _BusyError as busy:
                wait = busy.wait_s
                if wait is None:
                    wait = busy.first_s * 2 ** (attempt - 1) * (0.5 + random.random() / 2)
                if attempt == _ATTEMPTS or wait > self._longest_wait_s:
                    raise ApiError(str(busy), status=busy.status, told=busy.told) from busy
                await self._sleep(wait)
        raise AssertionError("unreachable")

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _address(self, path: str, parameters: Parameters) -> URL:
        """A vendor's "next" link may or may not repeat the base URL's own path."""
        below = (
            URL(path)
            if path.startswith(f"{self._base.raw_path}/")
            else URL(self._base.raw_path.rstrip("/") + path)
        )
        url = self._base.origin().join(below)
        return url.update_query(dict(parameters)) if parameters else url

    async def _once(self, url: URL, fields: Mapping[str, str] | None = None) -> Any:
        async with self._answer(url, fields) as answer:
            if answer.status != 200:
                raise await self._refusal(url, answer)
            return well_formed_value(await answer.json(content_type=None))

    async def _file(self, url: URL, most: int, *, anonymous: bool) -> bytes:
        for _ in range(_MOST_REDIRECTS):
            async with self._answer(url, anonymous=anonymous) as answer:
                if answer.status in _REDIRECTS and answer.headers.get("Location"):
                    url = self._checked(url.join(URL(answer.headers["Location"], encoded=True)))
                    continue
                if answer.status != 200:
                    raise await self._refusal(url, answer)
                content = bytearray()
                async for piece in answer.content.iter_chunked(_PIECE):
                    content += piece
                    if len(content) > most:
                        raise ApiError(f"it is larger than {most // 1_000_000} MB")
                return bytes(content)
        raise ApiError("it sends us from one address to the next")

    def _checked(self, url: URL) -> URL:
        """What a download is read from."""
        if url.origin() != self._base.origin() and url.scheme != "https":
            raise ApiError(f"it sends us to {url.origin()}, which is no https")
        return url

    @asynccontextmanager
    async def _answer(
        self, url: URL, fields: Mapping[str, str] | None = None, *, anonymous: bool = False
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """The answer to a request, with our credentials where it is to the configured host."""
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=self._timeout, cookie_jar=aiohttp.DummyCookieJar())
        ours = url.origin() == self._base.origin() and not anonymous
        headers = await self._credentials() if ours else {}
        asked = self._session.get if fields is None else partial(self._session.post, data=fields)
        try:
            async with asked(url, headers=headers, allow_redirects=False) as answer:
                if answer.status in _TRANSIENT:
                    raise _BusyError(answer.status, _seconds(answer.headers.get("Retry-After")))
                yield answer
        except TimeoutError as error:
            raise _BusyError(None, None) from error
        except aiohttp.ClientConnectorError as error:
            raise ApiError(f"{url.host} cannot be reached") from error
        except aiohttp.ClientError as error:  # cut off in the middle
            raise _BusyError(None, None) from error
        except ValueError as error:
            raise ApiError(f"{url.host} answers with something that is no JSON") from error

    async def _credentials(self) -> Mapping[str, str]:
        return self._headers if self._authorize is None else {**self._headers, **await self._authorize()}

    async def _refusal(self, url: URL, answer: aiohttp.ClientResponse) -> ApiError | _BusyError:
        try:
            told = await answer.json(content_type=None)
        except ValueError:
            told = None
        first_s = self._later(answer.status, told) if self._later is not None else None
        if first_s is not None:
            wait_s = _seconds(answer.headers.get("Retry-After"))
            return _BusyError(answer.status, wait_s, first_s=first_s, told=told)
        return ApiError(f"{url.host} answers {answer.status}", status=answer.status, told=told)


def _whole(address: str) -> URL:
    """An address as the vendor wrote it, to the letter."""
    try:
        url = URL(address, encoded=True)
        url.origin()
    except ValueError as error:
        raise ApiError("it gives an address that is none") from error
    return url


class _BusyError(Exception):
    """Ask again after `wait_s`; None: after about `first_s`, which doubles with each attempt."""

    def __init__(
        self, status: int | None, wait_s: float | None, *, first_s: float = 1.0, told: Any = None
    ) -> None:
        super().__init__(
            f"it answers {status}" if status else "it does not answer in time, or not to the end"
        )
        self.status = status
        self.wait_s = wait_s
        self.first_s = first_s
        self.told = told


def _seconds(header: str | None) -> float | None:
    try:
        return max(0.0, float(header)) if header else None
    except ValueError:
        return None
