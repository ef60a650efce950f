"""A generation of the embedded index that is filled from another index, and what one holds, vectors included."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from kb.errors import IndexDamagedError, IndexUnavailableError
from kb.index.embedded.generations import COPY, Generations, write_atomically
from kb.index.embedded.rebuild import EdgeRebuild, SwappableEdge
from kb.index.embedded.shard import Shard
from kb.index.port import IndexManifest


class EdgeCopy(EdgeRebuild):
    """A copy outlives its process, unlike a rebuild: beginning it again under its label resumes it."""

    def __init__(self, index: SwappableEdge, number: int, shard: Shard, *, beside: Generations) -> None:
        super().__init__(index, number, shard)
        self._beside = beside

    async def swap(self) -> None:
        await super().swap()
        await self._index.run(self._beside.finish_copies)

    async def complete(self) -> None:
        """Does nothing: what is kept of a copy is written when it is closed."""

    async def leave(self) -> None:
        await self._let_go()


def copy_in(generations: Generations, label: str, manifest: IndexManifest) -> tuple[int, Shard]:
    """Opens the unfinished copy of this label if it is whole and has this manifest, else begins a new one.

    Raises:
        IndexUnavailableError: the folder cannot be written.
    """
    number = generations.copy_of(label)
    if number is not None:
        with suppress(IndexDamagedError):
            shard = Shard.load(generations.path(number))
            if shard.manifest == manifest:
                return number, shard
            shard.close()
        generations.drop(number)
    try:
        number = generations.reserve()
        write_atomically(generations.path(number) / COPY, label)
        return number, Shard.create(generations.path(number), manifest)
    except OSError as error:
        raise IndexUnavailableError(f"a copy of an index cannot be written: {error}") from error


def others_in(generations: Generations, labels: Collection[str]) -> list[str]:
    """Names the generations other than unfinished copies of these labels."""
    return [
        path.name
        for path in map(generations.path, sorted(generations.numbers()))
        if generations.label(path) not in labels and any(path.iterdir())
    ]
