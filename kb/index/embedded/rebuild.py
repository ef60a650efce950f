"""A generation of the embedded index that is not the live one: being built, or the one before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from kb.calibration import Calibration
from kb.errors import IndexUnavailableError
from kb.index.embedded.shard import Shard
from kb.index.embedded.steps import steps
from kb.index.port import (
    Candidate,
    Choose,
    IndexCounts,
    IndexedChunk,
    IndexManifest,
    PageAddress,
    PageHeld,
    QueryVectors,
    StoredPassage,
)
from kb.models import Audience

_T = TypeVar("_T")


class SwappableEdge(Protocol):
    """`kb.index.embedded.index.EdgeIndex`, as a generation beside its live one uses it."""

    building: EdgeRebuild | None

    async def run(self, work: Callable[..., _T], *arguments: object) -> _T:
        """Runs blocking work off the loop. Raises `IndexUnavailableError` where the index is closed."""

    async def quantized(self, shard: Shard) -> tuple[int, Shard] | None: ...

    def promote(self, number: int, shard: Shard) -> None: ...

    def drop(self, number: int, shard: Shard) -> None: ...

    def abandon(self, number: int, shard: Shard) -> None: ...


class EdgeRebuild:
    """A generation beside the live one. Over after `swap` or `discard`."""

    def __init__(self, index: SwappableEdge, number: int, shard: Shard) -> None:
        self._index = index
        self._number = number
        self._shard: Shard | None = shard

    async def replace_pages(self, pages: Mapping[str, Sequence[IndexedChunk]]) -> None:
        for step in steps(pages):
            await self._index.run(step, self._building)

    async def delete_pages(self, page_ids: Sequence[str]) -> None:
        await self._index.run(self._building.delete_pages, page_ids)

    async def revisions(self) -> Mapping[str, str]:
        return await self._index.run(self._building.revisions)

    async def counts(self) -> IndexCounts:
        return await self._index.run(self._building.counts)

    async def addresses(self) -> Sequence[PageAddress]:
        return await self._index.run(self._building.addresses)

    async def inventory(self) -> Mapping[str, PageHeld]:
        return await self._index.run(self._building.inventory)

    async def stored(self, page_ids: Sequence[str]) -> Sequence[IndexedChunk]:
        return await self._index.run(self._building.stored, page_ids)

    async def calibrate(self, calibration: Calibration) -> None:
        await self._index.run(self._building.calibrate, calibration)

    async def calibration(self) -> Calibration | None:
        return self._building.calibration

    async def sample(self, limit: int) -> Sequence[StoredPassage]:
        return await self._index.run(self._building.sample, limit)

    async def languages(self) -> Sequence[str]:
        return await self._index.run(self._building.languages)

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
        def search() -> list[Candidate]:
            return self._building.search(
                queries,
                audience=audience,
                limit=limit,
                anchor_pages=anchor_pages,
                made_with=made_with,
                choose=choose,
            )

        return await self._index.run(search) if queries else []

    async def swap(self) -> None:
        await self._quantize()
        await self._index.run(self._index.promote, self._number, self._building)
        self._end()

    async def discard(self) -> None:
        """Fine after a swap or another discard: then there is nothing to drop."""
        if self._shard is not None:
            shard = self._building
            self._end()
            await self._index.run(self._index.abandon, self._number, shard)

    async def _quantize(self) -> None:
        made = await self._index.quantized(self._building)
        if made is not None:
            number, shard = self._number, self._building
            self._number, self._shard = made
            await self._index.run(self._index.drop, number, shard)

    @property
    def _building(self) -> Shard:
        if self._shard is None:
            raise IndexUnavailableError("this rebuild is over: it was swapped in or dropped")
        return self._shard

    def _end(self) -> None:
        self._shard = None
        if self._index.building is self:
            self._index.building = None


class EdgePrevious(EdgeRebuild):
    """The generation that was live before. It outlives a `discard`: that closes its files."""

    async def manifest(self) -> IndexManifest:
        return self._building.manifest

    async def _quantize(self) -> None:
        """A way back is short: it stays as it was when it was live."""

    async def discard(self) -> None:
        if self._shard is not None:
            shard = self._building
            self._end()
            await self._index.run(shard.close)
