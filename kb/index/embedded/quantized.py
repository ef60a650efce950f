"""Large generations of the embedded index, each in its quantized copy: see `kb.index.embedded.quantizing`."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

from kb.index.embedded.generations import Generations
from kb.index.embedded.quantizing import is_due, quantize
from kb.index.embedded.shard import Shard

_T = TypeVar("_T")


class Runs(Protocol):
    """`kb.index.embedded.index.EdgeIndex.run`."""

    async def __call__(self, work: Callable[..., _T], *arguments: object) -> _T: ...


class QuantizedCopies:
    """`naming` is held while a generation gets its number."""

    def __init__(self, run: Runs, generations: Generations, naming: threading.Lock) -> None:
        self._run = run
        self._generations = generations
        self._naming = naming
        self._one_at_a_time = asyncio.Lock()
        self.failed = False
        """Whether the last one could not be made, though nobody wrote to its generation meanwhile."""

    async def of(self, shard: Shard) -> tuple[int, Shard] | None:
        """Makes and opens a quantized copy of this generation, and returns its number too; None where the generation is
        not large enough or the copy failed.

        The generation may be read meanwhile. What is written to it is not in the copy.
        """
        async with self._one_at_a_time:
            await self._run(shard.leave)
            points, dimension = await self._run(shard.passages), shard.manifest.dimension
            if not is_due(shard.folder, points=points, dimension=dimension):
                return None
            await self._run(self._generations.drop_making)
            place = self._generations.place_to_make()
            writes = shard.writes
            made = await quantize(shard.folder, place, dimension=dimension, points=points)
            self.failed = not made and shard.writes == writes
            return await self._run(self._take_in, place, shard) if made else None

    def _take_in(self, made: Path, of: Shard) -> tuple[int, Shard]:
        with self._naming:
            number = self._generations.take_in(made)
        shard = Shard.load(self._generations.path(number), of.words)
        if of.calibration is not None:
            shard.calibrate(of.calibration)
        return number, shard
