"""A generation of the embedded index that is not the live one: being built, or the one before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from kb.errors import IndexUnavailableError
from kb.index.embedded.shard import Shard
from kb.index.embedded.shard_access import ShardAccess
from kb.index.port import IndexManifest

_T = TypeVar("_T")


class SwappableEdge(Protocol):
    """What a generation beside the live one asks of `kb.index.embedded.index.EdgeIndex`, which makes it."""

    building: EdgeRebuild | None

    async def run(self, work: Callable[..., _T], *arguments: object) -> _T:
        """Runs blocking work off the loop. Raises `IndexUnavailableError` where the index is closed."""

    async def quantized(self, shard: Shard) -> tuple[int, Shard] | None: ...

    def promote(self, number: int, shard: Shard) -> None: ...

    def drop(self, number: int, shard: Shard) -> None: ...

    def abandon(self, number: int, shard: Shard) -> None: ...


class EdgeRebuild(ShardAccess):
    """A generation beside the live one. Over after `swap` or `discard`."""

    def __init__(self, index: SwappableEdge, number: int, shard: Shard) -> None:
        self._index = index
        self._number = number
        self._shard: Shard | None = shard

    async def _use(self, work: Callable[[Shard], _T], *, empty: _T) -> _T:  # noqa: ARG002 - it has a shard
        return await self._index.run(work, self._building)

    async def swap(self) -> None:
        await self._quantize()
        await self._index.run(self._index.promote, self._number, self._building)
        self._end()

    async def discard(self) -> None:
        """Drops the generation; does nothing after a swap or another discard."""
        if self._shard is not None:
            shard = self._building
            self._end()
            await self._index.run(self._index.abandon, self._number, shard)

    async def _let_go(self) -> None:
        """Closes its files, which stay on the disk."""
        if self._shard is not None:
            shard = self._building
            self._end()
            await self._index.run(shard.close)

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
        """Does nothing: a rollback is quick and takes the generation as it was when it was live."""

    async def discard(self) -> None:
        await self._let_go()
