"""The methods of the port that one generation of the embedded index answers, whichever generation it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from kb.calibration import Calibration
from kb.index.embedded.shard import Shard
from kb.index.embedded.steps import Step, steps
from kb.index.port import (
    Candidate,
    Choose,
    IndexCounts,
    IndexedChunk,
    PageAddress,
    PageHeld,
    QueryVectors,
    StoredPassage,
)
from kb.models import Audience

_T = TypeVar("_T")


class ShardAccess:
    """Subclasses say which shard is meant, and keep what blocks off the event loop."""

    async def _use(self, work: Callable[[Shard], _T], *, empty: _T) -> _T:
        """Runs the work on the shard and returns its result; `empty` where there is no shard yet."""
        raise NotImplementedError

    async def _write(self, step: Step) -> None:
        await self._use(step, empty=None)

    async def search(
        self,
        queries: Sequence[QueryVectors],
        *,
        audience: Audience,
        limit: int,
        anchor_pages: Sequence[str] = (),
        made_with: str | None = None,
        choose: Choose | None = None,
    ) -> list[Candidate]:
        if not queries:
            return []
        search = partial(
            Shard.search,
            queries=queries,
            audience=audience,
            limit=limit,
            anchor_pages=anchor_pages,
            made_with=made_with,
            choose=choose,
        )
        return await self._use(search, empty=[])

    async def replace_pages(self, pages: Mapping[str, Sequence[IndexedChunk]]) -> None:
        for step in steps(pages):
            await self._write(step)

    async def delete_pages(self, page_ids: Sequence[str]) -> None:
        await self._use(lambda shard: shard.delete_pages(page_ids), empty=None)

    async def revisions(self) -> Mapping[str, str]:
        return await self._use(lambda shard: shard.revisions(), empty={})

    async def counts(self) -> IndexCounts:
        return await self._use(lambda shard: shard.counts(), empty=IndexCounts(pages=0, chunks=0))

    async def inventory(self) -> Mapping[str, PageHeld]:
        return await self._use(lambda shard: shard.inventory(), empty={})

    async def stored(self, page_ids: Sequence[str]) -> Sequence[IndexedChunk]:
        return await self._use(lambda shard: shard.stored(page_ids), empty=[])

    async def addresses(self) -> Sequence[PageAddress]:
        return await self._use(lambda shard: shard.addresses(), empty=[])

    async def calibrate(self, calibration: Calibration) -> None:
        await self._use(lambda shard: shard.calibrate(calibration), empty=None)

    async def calibration(self) -> Calibration | None:
        return await self._use(lambda shard: shard.calibration, empty=None)

    async def sample(self, limit: int) -> Sequence[StoredPassage]:
        return await self._use(lambda shard: shard.sample(limit), empty=[])

    async def languages(self) -> Sequence[str]:
        return await self._use(lambda shard: shard.languages(), empty=[])
