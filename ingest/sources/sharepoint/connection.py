"""Requests to Microsoft Graph: one host, the app's token, page by page of results.

Throttling is waited out for as long as `Retry-After` says (https://learn.microsoft.com/en-us/graph/throttling).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from pydantic import TypeAdapter

from ingest.sources.api_responses import ApiError, CredentialsError, Response, error_of, parsed
from ingest.sources.json_api import JsonApi, Parameters, Sleep
from ingest.sources.sharepoint.credentials import AppToken
from kb.config.sources import SharePointSettings

_LONGEST_WAIT_S = 900.0
_OBJECT = TypeAdapter(dict[str, Any])
_OBJECTS = TypeAdapter(list[dict[str, Any]])


class Graph:
    """Every method raises `ApiError`, whose `code` is Graph's own ("itemNotFound"). `clock`: seconds since 1970."""

    def __init__(
        self,
        settings: SharePointSettings,
        *,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.api = JsonApi(
            str(settings.graph_url),
            vendor="sharepoint",
            timeout_s=settings.timeout_s,
            sleep=sleep,
            credentials=AppToken(settings, sleep=sleep, clock=clock),
            longest_wait_s=_LONGEST_WAIT_S,
            error_of=_error_of,
        )

    async def get(self, path: str, parameters: Parameters | None = None) -> dict[str, Any]:
        return parsed(_OBJECT, await self.api.get(path, parameters))

    async def every(self, path: str, parameters: Parameters | None = None) -> AsyncIterator[dict[str, Any]]:
        """Yields every result of a list."""
        async for page in self.pages(path, parameters):
            for result in results_of(page):
                yield result

    async def pages(
        self, address: str, parameters: Parameters | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        """Yields every page of results. `address`: a path, or a link that Graph gave."""
        async for page in self.api.pages(address, parameters, following=_next_link):
            yield parsed(_OBJECT, page)


def results_of(page: dict[str, Any]) -> list[dict[str, Any]]:
    return parsed(_OBJECTS, page.get("value"))


def _next_link(response: Response) -> str | None:
    return parsed(_OBJECT, response.payload).get("@odata.nextLink")


def _error_of(response: Response) -> ApiError | None:
    error = error_of(response)
    details = response.payload.get("error") if isinstance(response.payload, dict) else None
    if error is None or type(error) is not ApiError or not isinstance(details, dict):
        return error
    inner = details.get("innerError") or details.get("innererror")
    inner_code = inner.get("code") if isinstance(inner, dict) else None
    code = str(inner_code or details.get("code") or "")
    message = " ".join(str(details.get("message") or "").split())[:200]
    return ApiError(
        f"Microsoft Graph answers {response.status} ({code}): {message}", status=response.status, code=code
    )


def advice(error: ApiError) -> str:
    """Advises on an error that concerns a whole site, library or OneDrive."""
    match error.status:
        case 401 if isinstance(error, CredentialsError):
            return str(error)
        case 401:
            return f"{error}; look whether the app is of this tenant, and `graph_url` of its cloud"
        case 403:
            return (
                f"{error}; give the app the application permission Sites.Read.All (or Sites.Selected "
                f"and this site) and have "
                "an admin consent"
            )
        case 404:
            return (
                "the app sees nothing there: correct the settings, or give the app access "
                "(Sites.Read.All, or Sites.Selected "
                "and this site)"
            )
        case 423:
            return f"{error}; the site is locked by an admin"
        case 429 | 503:
            return (
                f"{error}; Microsoft limits the rate of requests and did not stop doing so: sync less "
                f"often, or later"
            )
        case _:
            return f"{error}; look whether Microsoft Graph can be reached from here"
