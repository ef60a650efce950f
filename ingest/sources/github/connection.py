"""Requests to GitHub's REST and GraphQL APIs about a repository: its credentials, its rate limits.

Limits are those of https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
and https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api. A primary limit ends
at the time in `x-ratelimit-reset`, a secondary one after `Retry-After` seconds, or after a minute that doubles.
GraphQL says so with status 200.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any

from pydantic import SecretStr

from ingest.sources.access_tokens import RenewedToken, bearer
from ingest.sources.api_responses import REDIRECTS, UNKNOWN_FORM, ApiError, BusyError, Response, seconds
from ingest.sources.github.credentials import App
from ingest.sources.json_api import Credentials, JsonApi, Parameters, Sleep
from kb.config.sources import GithubSettings

_LONGEST_WAIT_S = 3_700.0
"""A primary limit ends within the hour."""
_SECONDARY_S = 60.0
_BUSY = (500, 502, 503, 504)
_VERSION = "2022-11-28"
"""Version of the REST API. Each is served for two years after the next one."""
_PAGE_SIZE = 100
_GRAPHQL_STATUSES = {"NOT_FOUND": 404, "FORBIDDEN": 403, "INSUFFICIENT_SCOPES": 403}


class Connection:
    """Opens the APIs, each when it is needed; may be closed and used again. `clock`: seconds since 1970."""

    def __init__(
        self, settings: GithubSettings, *, sleep: Sleep, clock: Callable[[], float] = time.time
    ) -> None:
        self._settings = settings
        self._sleep = sleep
        self._clock = clock
        self._app = None if settings.app_id is None else App(settings, self._api, clock=clock)
        self._repositories: dict[str, RepositoryApi] = {}

    def of(self, repository: str) -> RepositoryApi:
        if repository not in self._repositories:
            token = None
            if self._app is not None:
                token = RenewedToken(partial(self._app.grant, repository), clock=self._clock)
            self._repositories[repository] = RepositoryApi(self._settings, self._api(token), token)
        return self._repositories[repository]

    async def close(self) -> None:
        for repository in self._repositories.values():
            await repository.api.close()
        if self._app is not None:
            await self._app.close()

    def _api(self, credentials: Credentials | None) -> JsonApi:
        headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": _VERSION}
        personal = self._settings.token
        if credentials is None and personal is not None:
            headers |= bearer(personal)
        return JsonApi(
            str(self._settings.api_url),
            vendor="github",
            headers=headers,
            credentials=credentials,
            timeout_s=self._settings.timeout_s,
            sleep=self._sleep,
            longest_wait_s=_LONGEST_WAIT_S,
            error_of=partial(_error_of, api_url=str(self._settings.api_url).rstrip("/"), clock=self._clock),
        )


class RepositoryApi:
    """Requests about one repository; `api` opens with its credentials. Every method raises `ApiError`."""

    def __init__(self, settings: GithubSettings, api: JsonApi, token: RenewedToken | None) -> None:
        self.api = api
        self._settings = settings
        self._token = token

    async def token(self) -> SecretStr | None:
        """Returns the token that opens this repository; None: there is none, so it must be public."""
        return self._settings.token if self._token is None else await self._token.secret()

    async def every(self, path: str, parameters: Parameters) -> AsyncIterator[Any]:
        """Yields every result of a list, along the links to the next page, which have cursors where numbers of pages
        would be too slow.
        """
        async for results in self.api.pages(path, {"per_page": _PAGE_SIZE, **parameters}):
            if not isinstance(results, list):
                raise ApiError(UNKNOWN_FORM)
            for result in results:
                yield result

    async def graphql(self, query: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the data of a query. Raises also where GitHub answered only a part of it."""
        base = str(self._settings.api_url).rstrip("/")
        # an Enterprise Server has its APIs at /api/v3 and /api/graphql
        address = f"{base.removesuffix('/v3')}/graphql" if base.endswith("/api/v3") else f"{base}/graphql"
        payload = await self.api.post(address, body={"query": query, "variables": dict(variables)})
        if not isinstance(payload, dict) or not isinstance(payload.get("data"), dict):
            raise ApiError(UNKNOWN_FORM)
        return dict(payload["data"])


def _error_of(response: Response, *, api_url: str, clock: Callable[[], float]) -> ApiError | None:
    status = response.status
    payload = response.payload if isinstance(response.payload, dict) else {}
    errors = [error for error in payload.get("errors") or () if isinstance(error, dict)]
    message = str(payload.get("message") or "; ".join(str(error.get("message", "")) for error in errors))
    if status in REDIRECTS:
        return ApiError("it was moved to another repository", status=301)
    if status in _BUSY:
        return BusyError(f"GitHub answers {status}", status=status)
    if (status in (403, 429) or errors) and (limit := _limit(response, message, errors, clock)):
        return limit
    if status == 200 and errors:
        return _graphql_error(errors, message)
    if status == 201 or (status == 200 and "message" not in payload):
        return None
    if not message:
        return ApiError(f"{api_url} does not answer as GitHub's API does ({status}): correct `api_url`")
    return ApiError(f"GitHub answers {status}: {message}", status=status)


def _limit(
    response: Response, message: str, errors: list[dict[str, Any]], clock: Callable[[], float]
) -> BusyError | None:
    """Recognizes a rate limit and returns when it ends; None where there is none."""
    named = any(error.get("type") == "RATE_LIMITED" for error in errors)
    limited = named or "rate limit" in message.lower() or "abuse detection" in message.lower()
    spent = response.headers.get("x-ratelimit-remaining") == "0" and (limited or response.status != 200)
    wait_s = response.retry_after_s
    if not (limited or spent or response.status == 429 or wait_s is not None):
        return None
    reason = "GitHub limits how many requests are made at a time"
    if wait_s is None and spent:
        until = seconds(response.headers.get("x-ratelimit-reset"))
        wait_s = None if until is None else max(0.0, until - _server_time(response, clock)) + 1.0
        reason = "GitHub's requests of this hour are used up"
    return BusyError(reason, status=429, wait_s=wait_s, first_s=_SECONDARY_S)


def _server_time(response: Response, clock: Callable[[], float]) -> float:
    """Returns the time by the server's own clock, by which its limits end, in seconds since 1970."""
    try:
        return parsedate_to_datetime(response.headers["Date"]).timestamp()
    except (KeyError, ValueError):
        return clock()


def _graphql_error(errors: list[dict[str, Any]], message: str) -> ApiError:
    types = [str(error.get("type")) for error in errors]
    status = next((_GRAPHQL_STATUSES[name] for name in types if name in _GRAPHQL_STATUSES), 200)
    if message.startswith("Something went wrong"):  # GitHub's own time-out
        return BusyError("GitHub could not answer in time", status=status)
    return ApiError(f"GitHub answers: {message}", status=status)
