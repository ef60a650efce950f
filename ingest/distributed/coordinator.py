"""The side of the process that runs a sync: hands pages out while there are workers, takes overdue pages back.

Workers make pages ready; only this side writes them into the index, so no page can get there
twice, and an index that one process has to itself (Qdrant Edge) can be filled by many.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeVar

from ingest.distributed.page_queue import PageJobQueue
from ingest.distributed.serialization import Outcome, PageJob, encode_manifest, manifest_key_of
from ingest.listing import Work
from ingest.origin import Origin
from ingest.sources.port import RawPage
from kb.errors import StoreUnavailableError
from kb.index.port import IndexManifest

T = TypeVar("T")
D = TypeVar("D")

logger = logging.getLogger(__name__)

PER_WORKER = 16
"""Pages handed out per worker: it always finds the next ones in the queue, whatever Redis's disk is doing."""
TOGETHER = 4
"""Pages published in one step: Redis may sync its file to disk after each."""
MOST_BYTES = 32 << 20
"""Bytes of pages in the queue at a time: Redis holds them in memory."""
OVERDUE_S = 300.0
"""Seconds after which a job that has not come back is done here."""
WAIT_S = 0.2
"""Seconds to wait for a first outcome."""
COUNTED_FOR_S = 2.0
"""Seconds for which a count of the workers holds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Out:
    """A page that a worker has. `entry`: where its job stands in the queue, once it is there."""

    work: Work
    size: int
    since: float
    entry: str | None = None


class WorkerPool:
    """The workers that share one run; use it as a context manager. Without a queue (`queue` is None), or once Redis
    fails, there are no workers, and pages that were handed out are taken back.
    """

    def __init__(self, queue: PageJobQueue | None, manifest: IndexManifest) -> None:
        self._queue = queue
        self._manifest = manifest
        self._manifest_key = manifest_key_of(manifest)
        self._run = uuid.uuid4().hex
        self._out: dict[str, _Out] = {}
        self._count = 0
        self._counted_at = -COUNTED_FOR_S

    @property
    def may_come(self) -> bool:
        """Tells whether workers have a way to share the run."""
        return self._queue is not None

    @property
    def are_busy(self) -> bool:
        """Tells whether pages are still out."""
        return bool(self._out)

    async def __aenter__(self) -> Self:
        wanted = encode_manifest(self._manifest)
        await self._ask(lambda queue: queue.want(wanted, self._manifest_key), None)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._withdrawn(list(self._out))
        if self._queue is not None:
            try:
                await self._queue.finish(self._run)
            except StoreUnavailableError as error:  # its keys expire
                logger.warning("sync.lane_left", extra={"cause": str(error)})

    async def room(self) -> int:
        """Returns how many pages more are to be handed out at once."""
        free = PER_WORKER * await self._counted() - len(self._out)
        full = sum(out.size for out in self._out.values()) >= MOST_BYTES
        return 0 if full else max(0, min(free, TOGETHER))

    async def hand_out(self, pages: Sequence[tuple[Work, RawPage]]) -> None:
        jobs = [
            PageJob(id=uuid.uuid4().hex, run=self._run, origin=Origin.of(work.listing.source), raw=raw)
            for work, raw in pages
        ]
        now = time.monotonic()
        for job, (work, raw) in zip(jobs, pages, strict=True):
            self._out[job.id] = _Out(work=work, size=len(raw.content), since=now)
        if not jobs:
            return
        entries = await self._ask(lambda queue: queue.publish(jobs, self._manifest_key), ())
        for job, entry in zip(jobs, entries, strict=False):
            if job.id in self._out:  # else a worker has already returned it
                self._out[job.id] = replace(self._out[job.id], entry=entry)

    async def returned(self) -> list[tuple[Work, Outcome]]:
        """Returns the outcomes that came since; waits a moment for the first."""
        if not self._out:
            return []
        outcomes = await self._ask(lambda queue: queue.outcomes(self._run, wait_s=WAIT_S), ())
        return [(self._out.pop(job).work, outcome) for job, outcome in outcomes if job in self._out]

    async def taken_back(self) -> list[Work]:
        """Returns the pages that no worker will bring back."""
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
        """Returns a page that no worker has begun: whoever has nothing else to do takes the last ones."""
        if not self._out:
            return []
        job = await self._ask(lambda queue: queue.unstarted(self._manifest_key), None)
        return [self._out.pop(job).work] if job in self._out else []

    async def _withdrawn(self, jobs: Sequence[str]) -> list[Work]:
        outs = [self._out.pop(job) for job in jobs]
        entries = [out.entry for out in outs if out.entry]
        await self._ask(lambda queue: queue.withdraw(self._manifest_key, entries), None)
        return [out.work for out in outs]

    async def _counted(self) -> int:
        if time.monotonic() - self._counted_at >= COUNTED_FOR_S:
            self._count = await self._ask(lambda queue: queue.workers(self._manifest_key), 0)
            self._counted_at = time.monotonic()
        return self._count

    async def _ask(self, ask: Callable[[PageJobQueue], Awaitable[T]], otherwise: D) -> T | D:
        """Returns what the queue answers; `otherwise` where there is none, or no longer one."""
        if self._queue is None:
            return otherwise
        try:
            return await ask(self._queue)
        except StoreUnavailableError as error:
            self._queue, self._count = None, 0
            logger.warning("sync.alone", extra={"cause": str(error)})
            return otherwise
