"""Requests to Notion: at the rate that it allows, again while it is busy, page by page of results."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
from notion_client import AsyncClient
from notion_client.errors import APIResponseError, HTTPResponseError, RequestTimeoutError

from ingest.sources.json_api import Sleep
from kb.text.unicode import well_formed_value

_INTERVAL_S = 0.34
"""Notion allows three requests a second on average."""
_ATTEMPTS = 6
_LONGEST_WAIT_S = 120.0
_BUSY = (429, 500, 502, 503, 504, 529)
_PAGE_SIZE = 100
REFUSED = (400, 403, 404)
"""Answers that another attempt does not change: a thing that the API does not show, or not to this integration."""

Call = Callable[..., Awaitable[dict[str, Any]]]


class NotionError(Exception):
    """Notion gave no answer that can be used. `status`: HTTP's, or None when nothing came back."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class Connection:
    def __init__(
        self,
        token: str,
        *,
        api_url: str,
        timeout_s: float,
        sleep: Sleep = asyncio.sleep,
        interval_s: float = _INTERVAL_S,
    ) -> None:
        # Its own retries leave out searches and queries, which are POSTs that only read.
        self.client = AsyncClient(
            auth=token,
            base_url=api_url.rstrip("/"),
            timeout_ms=round(timeout_s * 1000),
            retry=False,
            logger=logging.getLogger("notion_client"),
            log_level=logging.ERROR,
        )
        self._sleep = sleep
        self._interval_s = interval_s
        self._next_at = 0.0

    async def close(self) -> None:
        await self.client.aclose()

    async def ask(self, call: Call, **arguments: Any) -> dict[str, Any]:
        """Makes one request of notion-client's, e.g. `ask(client.pages.retrieve, page_id=...)`.

        Raises:
            NotionError: refused, or still busy after all attempts.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            await self._wait_for_turn()
            try:
                return dict(well_formed_value(await call(**arguments)))
            except (APIResponseError, HTTPResponseError) as error:
                wait = _wait(error, attempt)
                if error.status not in _BUSY or attempt == _ATTEMPTS or wait > _LONGEST_WAIT_S:
                    raise NotionError(f"Notion answers {error.status}", status=error.status) from error
            except (RequestTimeoutError, httpx.TransportError) as error:
                wait = _backoff(attempt)
                if attempt == _ATTEMPTS:
                    raise NotionError("Notion cannot be reached") from error
            await self._sleep(wait)
        raise AssertionError("unreachable")

    async def all(self, call: Call, **arguments: Any) -> AsyncIterator[dict[str, Any]]:
        """Yields every result of a request whose results come in pages."""
        cursor: str | None = None
        while True:
            more = {"start_cursor": cursor} if cursor else {}
            answer = await self.ask(call, page_size=_PAGE_SIZE, **arguments, **more)
            for result in answer.get("results", []):
                yield result
            cursor = answer.get("next_cursor")
            if not answer.get("has_more") or not cursor:
                return

    async def _wait_for_turn(self) -> None:
        now = time.monotonic()
        turn = max(now, self._next_at)
        self._next_at = turn + self._interval_s
        if turn > now:
            await self._sleep(turn - now)


def _wait(error: APIResponseError | HTTPResponseError, attempt: int) -> float:
    named = error.headers.get("retry-after")
    try:
        return max(0.0, float(named)) if named else _backoff(attempt)
    except ValueError:
        return _backoff(attempt)


def _backoff(attempt: int) -> float:
    return float(min(30, 2 ** (attempt - 1)))
