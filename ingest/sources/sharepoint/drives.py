"""What a drive holds, by delta queries: whole at first, then what changed since
(https://learn.microsoft.com/en-us/graph/api/driveitem-delta); and with whom its files are shared.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from ingest.sources.api_responses import ApiError
from ingest.sources.kept_items import Held
from ingest.sources.sharepoint.connection import Graph, results_of
from ingest.sources.sharepoint.items import Change, Item, change_of, changed
from ingest.sources.sharepoint.memory import Asked, DriveMemory
from ingest.sources.sharepoint.permissions import Readers, readers_of

logger = logging.getLogger(__name__)

_WHOLE_EVERY_S = 7 * 86_400.0
"""Seconds after which a change that delta queries missed is found."""
_AT_A_TIME = 4
"""Requests for permissions under way together."""
_MANY_FAIL = 10
"""So many items without permissions point to a fault of the drive, not of single items."""
_LINK_REFUSED = (400, 404, 410)


@dataclass(frozen=True, kw_only=True, slots=True)
class Listed:
    """`items`: all of a drive, by id; `named`: those that changed since the last listing."""

    items: Mapping[str, Item]
    named: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Drives:
    """`clock`: seconds since 1970."""

    graph: Graph
    memory: DriveMemory
    clock: Callable[[], float]

    async def listed(self, drive: str) -> Listed:
        """Lists a drive.

        Raises:
            ApiError: it cannot be listed to its end; then what is kept of it stays as it was.
        """
        known = await self.memory.held(drive)
        if known is not None and self.clock() - known.listed < _WHOLE_EVERY_S:
            try:
                changes, link = await self._walk(known.link)
            except ApiError as error:
                if error.status not in _LINK_REFUSED:
                    raise
                logger.info("sharepoint.listed_anew", extra={"drive": drive, "reason": str(error)})
            else:
                now = replace(known, link=link, items=changed(known.items, changes))
                return await self._kept(drive, now, known.items, changes)
        changes, link = await self._walk(f"/drives/{drive}/root/delta")
        now = Held(link=link, listed=self.clock(), items=changed({}, changes))
        return await self._kept(drive, now, known.items if known else {}, changes)

    async def readers(
        self, drive: str, files: Sequence[Item], named: frozenset[str], every: timedelta | None
    ) -> tuple[dict[str, Readers], dict[str, str]]:
        """Returns with whom each file is shared, and why that is unknown of others. What changed
        is asked anew, and what was asked longer ago than `every`; None: everything.

        Raises:
            ApiError: the drive does not tell, rather than single files.
        """
        known = await self.memory.readers(drive)
        oldest = self.clock() - every.total_seconds() if every else self.clock() + 1
        due = [
            file for file in files if file.id in named or file.id not in known or known[file.id].at < oldest
        ]
        fresh, failed = await self._ask_all(drive, due)
        await self.memory.keep_readers(drive, fresh)
        known |= fresh
        return {item: answer.readers for item, answer in known.items() if item not in failed}, failed

    async def readers_of(self, drive: str, item: str) -> Readers:
        """Asks with whom an item is shared. Raises `ApiError`."""
        permissions = [grant async for grant in self.graph.every(f"/drives/{drive}/items/{item}/permissions")]
        return readers_of(permissions, datetime.fromtimestamp(self.clock(), UTC))

    async def _ask_all(self, drive: str, files: Sequence[Item]) -> tuple[dict[str, Asked], dict[str, str]]:
        fresh: dict[str, Asked] = {}
        failed: dict[str, str] = {}
        todo = list(reversed(files))

        async def ask() -> None:
            while todo:
                file = todo.pop()
                try:
                    readers = await self.readers_of(drive, file.id)
                except ApiError as error:
                    failed[file.id] = f"it does not tell with whom it is shared: {error}"
                    if error.status in (401, 429) or len(failed) > _MANY_FAIL:
                        todo.clear()
                        raise
                else:
                    fresh[file.id] = Asked(readers=readers, at=self.clock())

        results = await asyncio.gather(*(ask() for _ in range(_AT_A_TIME)), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result
        return fresh, failed

    async def _walk(self, link: str) -> tuple[list[Change], str]:
        """Returns every change, and the link to the next ones. `link`: a path for a whole listing, or Graph's link."""
        changes: list[Change] = []
        last = None
        async for page in self.graph.pages(link):
            changes += map(change_of, results_of(page))
            last = page.get("@odata.deltaLink")
        if not isinstance(last, str):
            raise ApiError("Microsoft Graph did not tell the changes to their end")
        return changes, last

    async def _kept(
        self, drive: str, now: Held[Item], before: Mapping[str, Item], changes: Sequence[Change]
    ) -> Listed:
        await self.memory.keep(drive, now, before)
        return Listed(items=now.items, named=frozenset(change.id for change in changes))
