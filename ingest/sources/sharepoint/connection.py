"""Requests to Microsoft Graph: one host, the app's token, page by page of results.

Throttling is waited out for as long as `Retry-After` says (https://learn.microsoft.com/en-us/graph/throttling).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

from ingest.sources.json_api import ApiError, JsonApi, Parameters, Sleep
from ingest.sources.sharepoint.credentials import AppToken, CredentialsError
from kb.config.sources import SharePointSettings

T = TypeVar("T")

_LONGEST_WAIT_S = 900.0
_UNKNOWN = "it answers in a form that Footnote does not know"


class GraphError(Exception):
    """Graph gave no answer that can be used. `status`: HTTP's, 401 also where there is no token, None when nothing came
    back; `code`: Graph's own word for it ("itemNotFound").
    """

    def __init__(self, message: str, *, status: int | None = None, code: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class Graph:
    """`clock`: seconds since 1970."""

    def __init__(
        self,
        settings: SharePointSettings,
        *,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._token = AppToken(settings, clock=clock, sleep=sleep)
        self._api = JsonApi(
            str(settings.graph_url),
            headers={},
            timeout_s=settings.timeout_s,
            sleep=sleep,
            authorize=self._token.headers,
            longest_wait_s=_LONGEST_WAIT_S,
        )

    async def close(self) -> None:
        await self._api.close()
        await self._token.close()

    async def get(self, path: str, parameters: Parameters | None = None) -> dict[str, Any]:
        """
        Raises:
            GraphError: refused, unreachable, or still busy after all attempts.
        """
        return _object(await self._asked(lambda: self._api.get(path, parameters)))

    async def follow(self, link: str) -> dict[str, Any]:
        """What is at a link that Graph gave. Raises as `get`."""
        return _object(await self._asked(lambda: self._api.follow(link)))

    async def every(self, path: str, parameters: Parameters | None = None) -> AsyncIterator[dict[str, Any]]:
        """Every result of a list. Raises as `get`."""
        answer = await self.get(path, parameters)
        while True:
            for result in results_of(answer):
                yield result
            if (following := answer.get("@odata.nextLink")) is None:
                return
            answer = await self.follow(str(following))

    async def download(self, address: str, *, most: int) -> bytes:
        """A file at the address that Graph gave for it, which opens by
        itself: the token goes to no other host. Raises as
        `get`, also for one above `most` bytes.
        """
        return await self._asked(lambda: self._api.download(address, most=most))

    async def _asked(self, ask: Callable[[], Awaitable[T]]) -> T:
        try:
            return await ask()
        except CredentialsError as error:
            raise GraphError(str(error), status=error.status) from error
        except ApiError as error:
            if error.status != 401:
                raise _as_graph(error) from error
        self._token.forget()
        try:
            return await ask()
        except CredentialsError as error:
            raise GraphError(str(error), status=error.status) from error
        except ApiError as error:
            raise _as_graph(error) from error


def results_of(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """
    Raises:
        GraphError: it is no list.
    """
    found = answer.get("value")
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise GraphError(_UNKNOWN)
    return found


def _object(answer: Any) -> dict[str, Any]:
    if not isinstance(answer, dict):
        raise GraphError(_UNKNOWN)
    return answer


def _as_graph(error: ApiError) -> GraphError:
    told = error.told.get("error") if isinstance(error.told, dict) else None
    if not isinstance(told, dict):
        return GraphError(str(error), status=error.status)
    inner = told.get("innerError") or told.get("innererror")
    inner_code = inner.get("code") if isinstance(inner, dict) else None
    code = str(inner_code or told.get("code") or "")
    message = " ".join(str(told.get("message") or "").split())[:200]
    return GraphError(
        f"Microsoft Graph answers {error.status} ({code}): {message}", status=error.status, code=code
    )


def advice(error: GraphError) -> str:
    """What to do about an error that met a whole site, library or OneDrive."""
    match error.status:
        case 401 if not error.code:
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
