"""Reads a vendor's JSON API: one host, its credentials, its rate limits, page by page of results.

Redirects are followed by downloads, and by `get` where it is told so; credentials go to the configured host alone.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

import aiohttp
from yarl import URL

from ingest.sources.api_responses import REDIRECTS, ApiError, BusyError, CredentialsError, Response, error_of
from kb.text.unicode import well_formed_value

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[object]]
Parameters = Mapping[str, str | int | Sequence[str]]

logger = logging.getLogger(__name__)

_ATTEMPTS = 6
_LONGEST_WAIT_S = 120.0
_MOST_REDIRECTS = 5
_CHUNK = 64 * 1024
"""Bytes of a file that are read at a time."""


class Credentials(Protocol):
    async def headers(self) -> Mapping[str, str]:
        """Returns the headers that open the API now. May raise `ApiError`."""

    def forget(self) -> bool:
        """Drops the credentials that the API refused. Returns whether there may be others."""


class JsonApi:
    """Requests below `base_url`, again after a pause while the vendor is busy or limits the rate, and once more with
    new credentials where it did not accept the last ones. Opened by the first request; may be closed and used again.

    Args:
        vendor: begins the name of the log event that tells of pauses.
        longest_wait_s: what the vendor may ask us to wait; with more, the source is unavailable until the next sync.
        error_of: what is wrong with an answer; None: nothing.
    """

    def __init__(
        self,
        base_url: str,
        *,
        vendor: str,
        timeout_s: float,
        sleep: Sleep = asyncio.sleep,
        headers: Mapping[str, str] | None = None,
        credentials: Credentials | None = None,
        longest_wait_s: float = _LONGEST_WAIT_S,
        error_of: Callable[[Response], ApiError | None] = error_of,
    ) -> None:
        self._base = URL(base_url.rstrip("/"))
        self._waits_event = f"{vendor}.waits"
        self._headers = {"Accept": "application/json", "User-Agent": "Footnote/0.1", **(headers or {})}
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)
        self._sleep = sleep
        self._credentials = credentials
        self._longest_wait_s = longest_wait_s
        self._error_of = error_of
        self._session: aiohttp.ClientSession | None = None

    async def get(
        self, address: str, parameters: Parameters | None = None, *, follow_redirects: bool = False
    ) -> Any:
        """Returns the parsed JSON at a path, which starts with a slash and is below the base URL or its host's root, or
        at the address of a link that the vendor gave, which is used unchanged.

        Raises:
            ApiError: refused, unreachable, not JSON, on another host, or still busy after all attempts.
        """
        response = await self._response("GET", address, parameters, follow_redirects=follow_redirects)
        return response.payload

    async def pages(
        self,
        address: str,
        parameters: Parameters | None = None,
        *,
        following: Callable[[Response], str | None] = lambda response: response.following,
    ) -> AsyncIterator[Any]:
        """Yields the JSON of every page of results. `following`: where the next page is. Raises as `get`."""
        visited: set[str] = set()
        next_page: str | None = address
        while next_page:
            if next_page in visited:
                raise ApiError("it leads from one page of results back to an earlier one")
            visited.add(next_page)
            response = await self._response("GET", next_page, None if len(visited) > 1 else parameters)
            yield response.payload
            next_page = following(response)

    async def post(self, path: str, *, form: Mapping[str, str] | None = None, body: Any = None) -> Any:
        """Posts a form, or JSON, that may be sent again; returns the parsed JSON. Raises as `get`."""
        return (await self._response("POST", path, data=form, json=body)).payload

    async def download(self, address: str, *, max_bytes: int) -> bytes:
        """Returns a file at a path, along redirects: to other hosts over https alone, and without our credentials.
        A whole address in the place of the path opens by itself: our credentials go to no host then.

        Raises:
            ApiError: refused, unreachable, larger than `max_bytes`, or still busy after all attempts.
        """
        anonymous = not address.startswith("/")
        url = self._checked(_whole(address)) if anonymous else self._below(address)
        return await self._persistently(lambda: self._file(url, max_bytes, anonymous=anonymous))

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

    async def _response(
        self,
        method: str,
        address: str,
        parameters: Parameters | None = None,
        *,
        follow_redirects: bool = False,
        **content: Any,
    ) -> Response:
        url = self._below(address) if address.startswith("/") else self._own(_whole(address))
        if parameters:
            url = url.update_query(dict(parameters))
        return await self._persistently(lambda: self._once(method, url, follow_redirects, content))

    async def _persistently(self, ask: Callable[[], Awaitable[T]]) -> T:
        try:
            return await self._patiently(ask)
        except CredentialsError:
            raise
        except ApiError as error:
            if error.status != 401 or self._credentials is None or not self._credentials.forget():
                raise
        return await self._patiently(ask)

    async def _patiently(self, ask: Callable[[], Awaitable[T]]) -> T:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return await ask()
            except BusyError as busy:
                wait_s = busy.wait_s
                if wait_s is None:
                    wait_s = busy.first_s * 2 ** (attempt - 1) * (1 + random.random() / 4)
                if attempt == _ATTEMPTS or wait_s > self._longest_wait_s:
                    raise
                logger.warning(self._waits_event, extra={"reason": str(busy), "seconds": round(wait_s, 1)})
                await self._sleep(wait_s)
        raise AssertionError("unreachable")

    async def _once(
        self, method: str, url: URL, follow_redirects: bool, content: Mapping[str, Any]
    ) -> Response:
        for _ in range(_MOST_REDIRECTS):
            async with self._requested(method, url, content) as answer:
                if follow_redirects and (target := _redirect(answer)):
                    url = self._own(target)
                    continue
                return await self._accepted(answer)
        raise ApiError("it sends us from one address to the next", status=301)

    async def _file(self, url: URL, max_bytes: int, *, anonymous: bool) -> bytes:
        for _ in range(_MOST_REDIRECTS):
            async with self._requested("GET", url, {}, anonymous=anonymous) as answer:
                if target := _redirect(answer):
                    url = self._checked(target)
                    continue
                if answer.status != 200:
                    await self._accepted(answer)
                content = bytearray()
                async for chunk in answer.content.iter_chunked(_CHUNK):
                    content += chunk
                    if len(content) > max_bytes:
                        raise ApiError(f"it is larger than {max_bytes // 1_000_000} MB")
                return bytes(content)
        raise ApiError("it sends us from one address to the next")

    @asynccontextmanager
    async def _requested(
        self, method: str, url: URL, content: Mapping[str, Any], *, anonymous: bool = False
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Opens the response to a request, with our credentials where it goes to the configured host."""
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=self._timeout, cookie_jar=aiohttp.DummyCookieJar())
        headers: Mapping[str, str] = {}
        if url.origin() == self._base.origin() and not anonymous:
            headers = {**self._headers, **(await self._credentials.headers() if self._credentials else {})}
        try:
            async with self._session.request(
                method, url, headers=headers, allow_redirects=False, **content
            ) as answer:
                yield answer
        except aiohttp.ClientConnectorError as error:
            raise ApiError(f"{url.host} cannot be reached") from error
        except (TimeoutError, aiohttp.ClientError) as error:  # or cut off in the middle
            raise BusyError("it does not answer in time, or not to the end") from error
        except ValueError as error:  # a header that holds no address
            raise ApiError(f"{url.host} answers with something that is no JSON") from error

    async def _accepted(self, answer: aiohttp.ClientResponse) -> Response:
        """Returns the response if it is no error."""
        try:
            payload = well_formed_value(await answer.json(content_type=None))
        except ValueError:
            payload = None
        link = answer.links.get("next")
        response = Response(
            host=answer.url.host,
            status=answer.status,
            headers=answer.headers,
            payload=payload,
            following=str(link["url"]) if link else None,
        )
        if error := self._error_of(response):
            raise error
        return response

    def _below(self, path: str) -> URL:
        """Returns a path's URL below the base; a vendor's "next" link may or may not repeat the base's own path."""
        own_path = self._base.raw_path.rstrip("/")
        below = URL(path) if path.startswith(f"{own_path}/") else URL(own_path + path)
        return self._base.origin().join(below)

    def _own(self, url: URL) -> URL:
        """Refuses another host: credentials go to the configured one alone."""
        if url.origin() != self._base.origin():
            raise ApiError(f"it leads to another host ({url.host}): not followed", status=301)
        return url

    def _checked(self, url: URL) -> URL:
        """Refuses to download from another host without https."""
        if url.origin() != self._base.origin() and url.scheme != "https":
            raise ApiError(f"it sends us to {url.origin()}, which is no https")
        return url


def _redirect(answer: aiohttp.ClientResponse) -> URL | None:
    location = answer.headers.get("Location")
    return answer.url.join(URL(location, encoded=True)) if answer.status in REDIRECTS and location else None


def _whole(address: str) -> URL:
    """Parses an absolute address without changing how the vendor encoded it."""
    try:
        url = URL(address, encoded=True)
        url.origin()
    except ValueError as error:
        raise ApiError("it gives an address that is none") from error
    return url
