"""Requests to GitHub's REST and GraphQL APIs: one host, its credentials, its rate limits, page by page of results.

Limits are those of https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
and https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api. A
primary limit ends at the time in
`x-ratelimit-reset`, a secondary one after `Retry-After` seconds, or after a minute that doubles. GraphQL says
so with status 200.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
from pydantic import SecretStr
from yarl import URL

from ingest.sources.github.credentials import AppTokens, CredentialsError, PersonalToken, Tokens
from ingest.sources.json_api import Sleep
from kb.config.sources import GithubSettings

logger = logging.getLogger(__name__)

_ATTEMPTS = 6
_LONGEST_WAIT_S = 3_700.0
"""A primary limit ends within the hour."""
_SECONDARY_S = 60.0
_BUSY = (500, 502, 503, 504)
_MOVED = (301, 302, 307, 308)
_VERSION = "2022-11-28"
"""Version of the REST API. Each is served for two years after the next one."""
_PAGE_SIZE = 100
_MOST_HOPS = 3

Parameters = Mapping[str, str | int]


class GithubError(Exception):
    """GitHub gave no answer that can be used. `status`: HTTP's, or the one that a GraphQL
    error stands for; None when what came back was not GitHub's API, or nothing came.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, kw_only=True, slots=True)
class _Answer:
    payload: Any
    following: URL | None


class _AgainError(Exception):
    """Ask once more: after `wait_s`, else after `base_s` that doubles with each attempt."""

    def __init__(
        self, reason: str, *, status: int | None = None, wait_s: float | None = None, base_s: float = 1.0
    ) -> None:
        super().__init__(reason)
        self.status = status
        self.wait_s = wait_s
        self.base_s = base_s


class Connection:
    """`clock`: seconds since 1970."""

    def __init__(
        self,
        settings: GithubSettings,
        *,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._base = URL(str(settings.api_url).rstrip("/"))
        self._timeout = aiohttp.ClientTimeout(total=settings.timeout_s)
        self._sleep = sleep
        self._clock = clock
        self._session: aiohttp.ClientSession | None = None
        self._tokens: Tokens = PersonalToken(settings.token)
        if settings.app_id is not None:
            self._tokens = AppTokens(settings, ask=self._as_app, clock=clock)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def token(self, repository: str) -> SecretStr | None:
        """What opens this repository; None: nothing, it must be public.

        Raises:
            GithubError: the app cannot be used, or is not installed there.
        """
        try:
            return await self._tokens.token(repository)
        except CredentialsError as error:
            raise GithubError(str(error), status=401) from error

    async def get(self, path: str, repository: str, *, follow: bool = False) -> Any:
        """The parsed JSON at `path`. `follow`: also to where a repository was renamed or moved to.

        Raises:
            GithubError: refused, moved, unreachable, or still busy after all attempts.
        """
        return (await self._asked("GET", self._below(path), repository, follow=follow)).payload

    async def every(self, path: str, parameters: Parameters, repository: str) -> AsyncIterator[Any]:
        """Every result of a list, along the links to the next page. Raises as `get`."""
        url: URL | None = self._below(path).update_query({"per_page": _PAGE_SIZE, **parameters})
        while url is not None:
            answer = await self._asked("GET", url, repository)
            if not isinstance(answer.payload, list):
                raise GithubError("it answers in a form that Footnote does not know")
            for result in answer.payload:
                yield result
            url = answer.following

    async def graphql(self, query: str, variables: Mapping[str, Any], repository: str) -> dict[str, Any]:
        """The data of a query. Raises as `get`, also where GitHub could answer a part of it only."""
        body = {"query": query, "variables": dict(variables)}
        payload = (await self._asked("POST", self._graphql_url(), repository, body=body)).payload
        if not isinstance(payload, dict) or not isinstance(payload.get("data"), dict):
            raise GithubError("it answers in a form that Footnote does not know")
        return dict(payload["data"])

    async def _as_app(self, method: str, path: str, bearer: SecretStr) -> Any:
        try:
            return (await self._persistent(method, self._below(path), bearer)).payload
        except GithubError as error:
            raise CredentialsError(str(error), status=error.status) from error

    async def _asked(
        self, method: str, url: URL, repository: str, *, body: Any = None, follow: bool = False
    ) -> _Answer:
        bearer = await self.token(repository)
        try:
            return await self._persistent(method, url, bearer, body=body, follow=follow)
        except GithubError as error:
            if error.status != 401 or not self._tokens.forget(repository):
                raise
        return await self._persistent(method, url, await self.token(repository), body=body, follow=follow)

    async def _persistent(
        self, method: str, url: URL, bearer: SecretStr | None, *, body: Any = None, follow: bool = False
    ) -> _Answer:
        """Again and again while GitHub is busy or limits the rate: every request here only reads."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return await self._hopping(method, url, bearer, body, follow=follow)
            except _AgainError as again:
                wait = again.wait_s
                if wait is None:
                    wait = again.base_s * 2 ** (attempt - 1) * (1 + random.random() / 4)
                if attempt == _ATTEMPTS or wait > _LONGEST_WAIT_S:
                    raise GithubError(str(again), status=again.status) from again
                logger.warning("github.waits", extra={"reason": str(again), "seconds": round(wait, 1)})
                await self._sleep(wait)
        raise AssertionError("unreachable")

    async def _hopping(
        self, method: str, url: URL, bearer: SecretStr | None, body: Any, *, follow: bool
    ) -> _Answer:
        for _ in range(_MOST_HOPS):
            answer = await self._once(method, url, bearer, body)
            if isinstance(answer, _Answer):
                return answer
            if not follow:
                raise GithubError("it was moved to another repository", status=301)
            url = self._here(answer)
        raise GithubError("it is moved on again and again", status=301)

    async def _once(self, method: str, url: URL, bearer: SecretStr | None, body: Any) -> _Answer | URL:
        """The answer, or where it is to be had."""
        try:
            async with self._opened().request(
                method, url, json=body, headers=_headers(bearer), allow_redirects=False
            ) as response:
                if response.status in _MOVED and response.headers.get("Location"):
                    return url.join(URL(response.headers["Location"]))
                payload = await _json(response)
                self._check(response, payload)
                return _Answer(payload=payload, following=self._following(response))
        except TimeoutError as error:
            raise _AgainError("GitHub does not answer in time") from error
        except aiohttp.ClientConnectorError as error:
            raise GithubError(f"{url.host} cannot be reached") from error
        except aiohttp.ClientError as error:  # cut off in the middle
            raise _AgainError("GitHub does not answer to the end") from error

    def _following(self, response: aiohttp.ClientResponse) -> URL | None:
        """Follows the header `Link`, which has cursors where numbers of pages would be too slow."""
        link = response.links.get("next")
        return None if link is None else self._here(URL(str(link["url"])))

    def _check(self, response: aiohttp.ClientResponse, payload: Any) -> None:
        """Raises unless this is an answer."""
        status, told = response.status, payload if isinstance(payload, dict) else {}
        errors = [one for one in told.get("errors") or () if isinstance(one, dict)]
        message = str(told.get("message") or "; ".join(str(one.get("message", "")) for one in errors))
        if status in _BUSY:
            raise _AgainError(f"GitHub answers {status}", status=status)
        if status in (403, 429) or errors:
            self._check_limits(response, message, errors)
        if status == 200 and "message" not in told:
            if errors:
                raise _graphql_error(errors, message)
            return
        if status == 201:
            return
        if not message:
            raise GithubError(
                f"{self._base} does not answer as GitHub's API does ({status}): correct `api_url`"
            )
        raise GithubError(f"GitHub answers {status}: {message}", status=status)

    def _check_limits(
        self, response: aiohttp.ClientResponse, message: str, errors: list[dict[str, Any]]
    ) -> None:
        headers = response.headers
        named = any(one.get("type") == "RATE_LIMITED" for one in errors)
        told = named or "rate limit" in message.lower() or "abuse detection" in message.lower()
        spent = headers.get("x-ratelimit-remaining") == "0" and (told or response.status != 200)
        after = _number(headers.get("Retry-After"))
        if not (told or spent or response.status == 429 or after is not None):
            return
        wait, reason = after, "GitHub limits how many requests are made at a time"
        if wait is None and spent:
            until = _number(headers.get("x-ratelimit-reset"))
            wait = None if until is None else max(0.0, until - self._now(response)) + 1.0
            reason = "GitHub's requests of this hour are used up"
        raise _AgainError(reason, status=429, wait_s=wait, base_s=_SECONDARY_S)

    def _now(self, response: aiohttp.ClientResponse) -> float:
        """The time by the server's own clock, by which its limits end."""
        try:
            return parsedate_to_datetime(response.headers["Date"]).timestamp()
        except (KeyError, ValueError):
            return self._clock()

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                timeout=self._timeout, cookie_jar=aiohttp.DummyCookieJar(), headers={"User-Agent": "Footnote"}
            )
        return self._session

    def _below(self, path: str) -> URL:
        return self._base.origin().join(URL(self._base.raw_path.rstrip("/") + path))

    def _graphql_url(self) -> URL:
        """An Enterprise Server has its APIs at /api/v3 and /api/graphql."""
        if self._base.path.endswith("/api/v3"):
            return self._base.parent / "graphql"
        return self._below("/graphql")

    def _here(self, url: URL) -> URL:
        """Credentials go to the configured host alone."""
        if url.origin() != self._base.origin():
            raise GithubError(f"it leads to another host ({url.host}): not followed", status=301)
        return url


def _headers(bearer: SecretStr | None) -> dict[str, str]:
    headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": _VERSION}
    return headers if bearer is None else headers | {"Authorization": f"Bearer {bearer.get_secret_value()}"}


async def _json(response: aiohttp.ClientResponse) -> Any:
    try:
        return await response.json(content_type=None)
    except ValueError:
        return None


def _graphql_error(errors: list[dict[str, Any]], message: str) -> Exception:
    statuses = {"NOT_FOUND": 404, "FORBIDDEN": 403, "INSUFFICIENT_SCOPES": 403}
    status = next((statuses[str(one["type"])] for one in errors if str(one.get("type")) in statuses), 200)
    if message.startswith("Something went wrong"):  # GitHub's own time-out
        return _AgainError("GitHub could not answer in time", status=status)
    return GithubError(f"GitHub answers: {message}", status=status)


def _number(written: str | None) -> float | None:
    try:
        return float(written) if written else None
    except ValueError:
        return None
