"""Who runs a sync hands pages out, as long as there are workers, and takes back what does not return in time.

Workers make pages ready; only this side writes them into the index, so no page can get there
twice, and an index that one process has to itself (Qdrant Edge) can be filled by many.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from ingest.distributed.page_queue import PageJobQueue
from ingest.distributed.serialization import Outcome, PageJob, encode_manifest, manifest_key_of
from ingest.listing import Work
from ingest.origin import Origin
from ingest.sources.port import RawPage
from kb.errors import StoreUnavailableError
from kb.index.port import IndexManifest

logger = logging.getLogger(__name__)

PER_WORKER = 16
"""Pages that are out for each worker: it always finds the next ones in the queue, whatever Redis's disk is doing."""
TOGETHER = 4
"""Pages that are published in one step: Redis may sync its file to disk after each."""
MOST_BYTES = 32 << 20
"""Bytes of pages in the queue at a time: Redis holds them in memory."""
OVERDUE_S = 300.0
"""A job that has not come back by then is done here."""
WAIT_S = 0.2
COUNTED_FOR_S = 2.0
"""For how long a count of the workers holds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Out:
    """A page that was handed out. `entry`: where its job stands in the queue, once it is there."""

    work: Work
    size: int
    since: float
    entry: str | None = None


class WorkerPool:
    """Those who share one run. Where there is no queue, or Redis fails,
    there are none, and what is out is taken back.
    """

    def __init__(self, queue: PageJobQueue | None, *, manifest_key: str) -> None:
        self._queue = queue
        self._manifest_key = manifest_key
        self._run = uuid.uuid4().hex
        self._out: dict[str, _Out] = {}
        self._count = 0
        self._counted_at = -COUNTED_FOR_S

    @property
    def may_come(self) -> bool:
        """Whether there is a way for workers to share the run."""
        return self._queue is not None

    @property
    def are_busy(self) -> bool:
        """Whether pages are still out."""
        return bool(self._out)

    async def room(self) -> int:
        """How many pages more are to be handed out at once."""
        free = PER_WORKER * await self._counted() - len(self._out)
        full = sum(out.size for out in self._out.values()) >= MOST_BYTES
        return 0 if full else max(0, min(free, TOGETHER))

    async def start(self, manifest: IndexManifest) -> None:
        if self._queue is not None:
            try:
                await self._queue.want(encode_manifest(manifest), self._manifest_key)
            except StoreUnavailableError as error:
                self._lose(error)

    async def hand_out(self, pages: Sequence[tuple[Work, RawPage]]) -> None:
        jobs = [
            PageJob(id=uuid.uuid4().hex, run=self._run, origin=Origin.of(work.listing.source), raw=raw)
            for work, raw in pages
        ]
        now = time.monotonic()
        for job, (work, raw) in zip(jobs, pages, strict=True):
            self._out[job.id] = _Out(work=work, size=len(raw.content), since=now)
        if self._queue is None or not jobs:
            return
        try:
            entries = await self._queue.publish(jobs, self._manifest_key)
        except StoreUnavailableError as error:
            self._lose(error)
            return
        for job, entry in zip(jobs, entries, strict=True):
            if job.id in self._out:  # else it is back already
                self._out[job.id] = replace(self._out[job.id], entry=entry)

    async def returned(self) -> list[tuple[Work, Outcome]]:
        """What came back since; waits a moment for the first."""
        if not self._out or self._queue is None:
            return []
        try:
            outcomes = await self._queue.outcomes(self._run, wait_s=WAIT_S)
        except StoreUnavailableError as error:
            self._lose(error)
            return []
        return [(self._out.pop(job).work, outcome) for job, outcome in outcomes if job in self._out]

    async def taken_back(self) -> list[Work]:
        """Pages that nobody brings back any more."""
        if not self._out:
            return []
        alone = not await self._counted()
        now = time.monotonic()
        late = [job for job, out in self._out.items() if alone or now - out.since > OVERDUE_S]
        if not late:
            return []
        logger.warning("sync.pages_taken_back", extra={"pages": len(late)})
        return await self._withdrawn(late)

    async def unstarted(self) -> list[Work]:
        """A page that no worker has begun, for whoever has nothing else to
        do: the last ones need not wait in the queue.
        """
        if not self._out or self._queue is None:
            return []
        try:
            job = await self._queue.unstarted(self._manifest_key)
        except StoreUnavailableError as error:
            self._lose(error)
            return []
        return [self._out.pop(job).work] if job in self._out else []

    async def end(self) -> None:
        await self._withdrawn(list(self._out))
        if self._queue is not None:
            try:
                await self._queue.finish(self._run)
            except StoreUnavailableError as error:  # it all expires
                logger.warning("sync.lane_left", extra={"cause": str(error)})

    async def _withdrawn(self, jobs: Sequence[str]) -> list[Work]:
        outs = [self._out.pop(job) for job in jobs]
        if self._queue is not None:
            try:
                await self._queue.withdraw(self._manifest_key, [out.entry for out in outs if out.entry])
            except StoreUnavailableError as error:
                self._lose(error)
        return [out.work for out in outs]

    async def _counted(self) -> int:
        if self._queue is not None and time.monotonic() - self._counted_at >= COUNTED_FOR_S:
            try:
                self._count = await self._queue.workers(self._manifest_key)
                self._counted_at = time.monotonic()
            except StoreUnavailableError as error:
                self._lose(error)
        return self._count

    def _lose(self, error: StoreUnavailableError) -> None:
        self._queue, self._count = None, 0
        logger.warning("sync.alone", extra={"cause": str(error)})


class Coordinator:
    """`queue` None: this process is alone with its syncs."""

    def __init__(self, queue: PageJobQueue | None = None) -> None:
        self._queue = queue

    @asynccontextmanager
    async def at_work(self, manifest: IndexManifest) -> AsyncIterator[WorkerPool]:
        """The workers of one run, which makes chunks of this manifest."""
        workers = WorkerPool(self._queue, manifest_key=manifest_key_of(manifest))
        await workers.start(manifest)
        try:
            yield workers
        finally:
            await workers.end()
