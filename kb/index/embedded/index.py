"""The embedded vector index: Qdrant's engine in this process, one folder a generation, no server.

    FOLDER/CURRENT            names the live generation
    FOLDER/gen-3/             manifest.json, calibration.json and the points
    FOLDER/gen-2/             the one before, for a way back

The folder belongs to one process. Engine calls run on a small thread pool of their own; the event loop never waits
for a disk.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import TypeVar

import qdrant_edge as engine

from kb.errors import IndexDamagedError, IndexMismatchError, IndexUnavailableError
from kb.index.embedded.copies import EdgeCopy, copy_in, others_in
from kb.index.embedded.generations import Generations
from kb.index.embedded.quantized import QuantizedCopies
from kb.index.embedded.rebuild import EdgePrevious, EdgeRebuild
from kb.index.embedded.rwlock import ReadWriteLock
from kb.index.embedded.shard import Shard
from kb.index.embedded.shard_access import ShardAccess
from kb.index.embedded.steps import Step
from kb.index.port import IndexManifest, PagesWanted
from kb.index.word_counts import WordCounts
from kb.models import Audience, Chunk, Page

logger = logging.getLogger(__name__)
_T = TypeVar("_T")

COUNTING_PAUSE_S = 0.02
"""Between two steps of counting words anew, so that questions go first."""


class EdgeIndex(ShardAccess):
    """A `VectorIndex` in `folder`. Opens its files at the first call, not before.

    `manifest` is what a first write to an empty index builds with. Without one such a write is refused, and
    `begin_rebuild` is the way to fill the index.
    """

    def __init__(self, folder: Path, *, manifest: IndexManifest | None = None, threads: int = 4) -> None:
        self._generations = Generations(folder)
        self._folder = folder
        self._new_manifest = manifest
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="footnote-index")
        self._live: Shard | None = None
        self._damage: IndexDamagedError | None = None
        """Why the live generation cannot be opened. It stays an outage until another one is swapped in."""
        self.building: EdgeRebuild | None = None
        self._opened = False
        self._closed = False
        self._opening = threading.Lock()
        self._swapping = ReadWriteLock()
        self._copies = QuantizedCopies(self.run, self._generations, self._opening)

    async def every_page(self) -> Sequence[Page]:
        return await self._use(lambda live: live.every_page(), empty=[])

    async def pages(self, wanted: PagesWanted, *, audience: Audience) -> Sequence[Page]:
        if wanted.nothing:
            return []
        return await self._use(lambda live: live.pages(wanted, audience), empty=[])

    async def readable(self, page_ids: Collection[str], *, audience: Audience) -> frozenset[str]:
        return await self._use(lambda live: live.readable(page_ids, audience), empty=frozenset())

    async def neighbours(
        self, spots: Mapping[str, Collection[int]], *, audience: Audience
    ) -> Sequence[Chunk]:
        return await self._use(lambda live: live.neighbours(spots, audience), empty=[])

    async def passages(
        self, *, audience: Audience, of_pages: Sequence[str] | None = None
    ) -> AsyncIterator[Sequence[Chunk]]:
        nothing: tuple[list[Chunk], engine.PointId | None] = ([], None)
        _, offset = nothing
        if of_pages is not None and not of_pages:
            return
        while True:
            read = partial(Shard.batch, audience=audience, of_pages=of_pages, offset=offset)
            batch, offset = await self._use(read, empty=nothing)
            if batch:
                yield batch
            if offset is None:
                return

    async def manifest(self) -> IndexManifest | None:
        return await self._use(lambda live: live.manifest, empty=None)

    async def begin_rebuild(self, manifest: IndexManifest) -> EdgeRebuild:
        if self.building is not None:
            await self.building.discard()
        number, shard = await self.run(self._create, manifest)
        self.building = EdgeRebuild(self, number, shard)
        logger.info("index.rebuild.begun", extra={"generation": number})
        return self.building

    async def open_previous(self) -> EdgePrevious | None:
        if self.building is not None:
            raise IndexUnavailableError("a rebuild is under way: there is no way back before it has ended")
        number = await self.run(self._previous)
        if number is None:
            return None
        shard = await self.run(Shard.load, self._generations.path(number))
        self.building = EdgePrevious(self, number, shard)
        return self.building

    async def begin_copy(self, label: str, manifest: IndexManifest) -> EdgeCopy:
        number, shard = await self.run(self._copy, label, manifest)
        return EdgeCopy(self, number, shard, beside=self._generations)

    async def others(self, labels: Collection[str]) -> Sequence[str]:
        return await self.run(others_in, self._generations, labels)

    @property
    def words(self) -> WordCounts:
        live = self._live
        return live.words.counts if live is not None else WordCounts()

    async def count_words(self) -> None:
        more = True
        while more:
            more = await self._use(lambda live: live.count_words(), empty=False)
            await asyncio.sleep(COUNTING_PAUSE_S if more else 0)

    async def settle(self) -> None:
        await self._use(lambda live: live.leave(), empty=None)
        await self._quantize_live()

    async def close(self) -> None:
        """Waits for the calls under way, then frees the folder. A rebuild under way is dropped."""
        if self._closed:
            return
        if self.building is not None:
            await self.building.discard()
        await self.run(self._shut)
        self._closed = True
        self._pool.shutdown(wait=False)

    async def _use(self, work: Callable[[Shard], _T], *, empty: _T) -> _T:
        """Uses the live generation, which no swap can close meanwhile; `empty` where there is none."""

        def read() -> _T:
            self._open()
            with self._swapping.read():
                return empty if self._live is None else work(self._live)

        return await self.run(read)

    async def run(self, work: Callable[..., _T], *arguments: object) -> _T:
        if self._closed:
            raise IndexUnavailableError(f"the index in {self._folder} is closed")
        traced = copy_context()  # what the thread logs carries the id of the question or sync
        return await asyncio.get_running_loop().run_in_executor(self._pool, traced.run, work, *arguments)

    def _previous(self) -> int | None:
        self._open()
        return self._generations.previous()

    def _open(self) -> None:
        with self._opening:
            if self._opened:
                return
            if self._damage is not None:
                raise IndexDamagedError(*self._damage.args)
            try:
                number = self._generations.current()
                if number is not None:
                    self._live = Shard.load(self._generations.path(number))
            except IndexDamagedError as error:
                self._damage = error
                raise
            self._opened = True

    async def _write(self, step: Step) -> None:
        await self.run(self._write_into_live, step)

    def _write_into_live(self, step: Step) -> None:
        """Makes the first generation where there is none."""
        self._open()
        with self._opening:
            if self._live is None:
                if self._new_manifest is None:
                    raise IndexMismatchError(f"the index in {self._folder} is empty: reindex in full")
                number, shard = self._new_generation(self._new_manifest)
                self._generations.commit(number)
                self._live = shard
        with self._swapping.read():
            assert self._live is not None
            step(self._live)

    def _create(self, manifest: IndexManifest) -> tuple[int, Shard]:
        with suppress(IndexDamagedError):  # a new generation repairs it
            self._open()
        with self._opening:
            try:
                self._generations.drop_unfinished()
            except OSError as error:
                raise IndexUnavailableError(f"{self._folder} cannot be written: {error}") from error
            return self._new_generation(manifest)

    def _copy(self, label: str, manifest: IndexManifest) -> tuple[int, Shard]:
        with suppress(IndexDamagedError):  # a swap repairs it
            self._open()
        with self._opening:
            return copy_in(self._generations, label, manifest)

    def _new_generation(self, manifest: IndexManifest) -> tuple[int, Shard]:
        try:
            number = self._generations.reserve()
            return number, Shard.create(self._generations.path(number), manifest)
        except OSError as error:
            raise IndexUnavailableError(f"{self._folder} cannot be written: {error}") from error

    def promote(self, number: int, shard: Shard) -> None:
        """Commits a generation by `CURRENT`; searches change over when those under way have ended."""
        shard.leave()
        try:
            self._generations.commit(number)
        except OSError as error:
            raise IndexUnavailableError(f"{self._folder} cannot be written: {error}") from error
        with self._swapping.write():
            old, self._live = self._live, shard
            self._damage, self._opened = None, True
        if old is not None:
            old.close()
        self._generations.drop_old()
        logger.info("index.swapped", extra={"generation": number})

    def drop(self, number: int, shard: Shard) -> None:
        shard.close(keep=False)
        self._generations.drop(number)

    def abandon(self, number: int, shard: Shard) -> None:
        self.drop(number, shard)
        logger.info("index.rebuild.discarded", extra={"generation": number})

    async def quantized(self, shard: Shard) -> tuple[int, Shard] | None:
        return await self._copies.of(shard)

    async def _quantize_live(self) -> None:
        """Quantizes an index that grew large without a rebuild; after a failure not again before the next start."""
        live = self._live
        if live is None or self.building is not None or self._copies.failed:
            return
        writes, number = live.writes, await self.run(self._generations.current)
        made = await self.quantized(live)
        if made is not None:
            await self.run(self._take_over, number, live, writes, *made)

    def _take_over(self, old: int, live: Shard, writes: int, number: int, shard: Shard) -> None:
        """Replaces the live generation by its copy, unless that had more than so many `writes` by now."""
        with self._swapping.write():
            is_same = self._live is live and (live.writes, live.calibration) == (writes, shard.calibration)
            if is_same:
                self._generations.commit(number)
                self._live = shard
        if is_same:
            self.drop(old, live)
        else:  # tried again at the end of the next sync
            self.drop(number, shard)
            logger.info("index.quantized_in_vain", extra={"generation": old})

    def _shut(self) -> None:
        with self._opening, self._swapping.write():
            if self._live is not None:
                self._live.close()
            self._live, self._opened = None, True
