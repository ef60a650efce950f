"""Reindexing on request, one at a time, across replicas too. Implements `kb.jobs.Reindexer` over `Sync`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime

from ingest.errors import SyncRefusedError
from ingest.sync.lock import OnlyReplica, ReindexLock
from ingest.sync.sync import Sync
from kb.errors import FootnoteError
from kb.index.port import PageAddress
from kb.jobs import ReindexProgress, ReindexRequest, SyncReport
from kb.runtime.faults import is_disk_full, is_fault, trace_of
from kb.runtime.tasks import cancelled
from kb.runtime.tracing import span

logger = logging.getLogger(__name__)

FOLLOW_S = 0.5
"""Seconds between two looks at what another replica tells."""
DISK_FULL = (
    "the disk with the data folder is full: free some space, then sync again. What was indexed before "
    "still answers"
)


class ReindexJobs:
    """Runs each reindex as a task of its own, so that it goes on when nobody listens any more.

    `after` is awaited when the index has changed, before the end is told.
    """

    def __init__(
        self,
        sync: Sync,
        *,
        clock: Callable[[], datetime],
        after: Callable[[], Awaitable[None]] | None = None,
        lock: ReindexLock | None = None,
    ) -> None:
        self._lock = lock or OnlyReplica()
        self._sync = sync
        self._clock = clock
        self._after = after
        self._run: _Run | None = None

    async def reindex(self, request: ReindexRequest) -> AsyncIterator[ReindexProgress]:
        """Starts a reindex, or joins the one under way whatever it was asked for, and yields its progress.

        A listener that is slower than the work gets the latest step, not every one; the last is never missed.
        """
        joined = self._run is not None and not self._run.is_over
        if self._run is None or self._run.is_over:
            self._run = _Run(self._sync, request, self._clock, self._after, self._lock)
        async for progress in self._run.follow():
            yield replace(progress, joined=joined or progress.joined)

    def sources(self) -> list[str]:
        return self._sync.source_names

    async def forget(self, address: str) -> Sequence[PageAddress]:
        """Forgets a page without waiting for a reindex under way."""
        pages = await self._sync.forget(address)
        if pages and self._after is not None:
            await self._after()
        return pages

    async def remember(self, address: str) -> Sequence[str]:
        """Lets the next reindex find forgotten pages of this path or id again; returns their ids."""
        return await self._sync.remember(address)

    async def close(self) -> None:
        """Stops a reindex under way. What it has not done is found by the next one."""
        if self._run is not None:
            await self._run.cancel()


class _Run:
    """One reindex: its task, its latest progress and those who wait for the next."""

    def __init__(
        self,
        sync: Sync,
        request: ReindexRequest,
        clock: Callable[[], datetime],
        after: Callable[[], Awaitable[None]] | None,
        lock: ReindexLock,
    ) -> None:
        self._after = after
        self._lock = lock
        self._latest = ReindexProgress(phase="queued", started_at=clock())
        self._changed = asyncio.Event()
        self._task = asyncio.create_task(self._work(sync, request), name="reindex")

    @property
    def is_over(self) -> bool:
        return _is_over(self._latest)

    async def follow(self) -> AsyncIterator[ReindexProgress]:
        while True:
            latest, changed = self._latest, self._changed
            yield latest
            if _is_over(latest):
                return
            if latest is self._latest:
                await changed.wait()

    async def cancel(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        if not self.is_over:  # stopped before its first step
            self._end_failed("it was stopped")

    async def _work(self, sync: Sync, request: ReindexRequest) -> None:
        logger.info("reindex.started", extra={"source": request.source, "full": request.full})
        try:
            try:
                with span("sync", source=request.source or "all", full=request.full):
                    report = await self._locked(sync, request)
            finally:  # a sync that fails has changed the index too, at least by what had to go
                if self._after is not None:
                    await self._after()
        except BaseException as error:
            if not is_fault(error):
                self._end_failed("it was stopped")
                raise
            self._failed(error)
        else:
            logger.info("reindex.done", extra={"chunks": report.chunks, "seconds": report.seconds})
            self._tell(replace(self._latest, phase="done", seconds_left=0.0, report=report))

    def _failed(self, error: BaseException) -> None:
        """Publishes the end of a task that nobody awaits: otherwise its listeners would wait for ever."""
        message, refusal = str(error), None
        if isinstance(error, SyncRefusedError):
            refusal = message
            logger.warning("reindex.refused", extra={"reason": refusal})
        elif isinstance(error, FootnoteError):
            logger.warning("reindex.failed", extra={"error": message})
        else:
            message = "a fault; see the log"
            logger.error("reindex.crashed", extra={"trace": trace_of(error)})
        if is_disk_full(error) and refusal is None:
            message = DISK_FULL
        self._end_failed(message, refusal)

    async def _locked(self, sync: Sync, request: ReindexRequest) -> SyncReport:
        """Does the work when no other replica does it; else follows that one, and takes over where it dies."""
        while not await self._lock.acquire():
            step = await self._lock.latest()
            if step is not None:
                self._tell(replace(step, phase="queued" if _is_over(step) else step.phase, joined=True))
            await asyncio.sleep(FOLLOW_S)
            step = await self._lock.latest()
            if step is not None and step.report is not None:
                self._tell(replace(self._latest, joined=True))
                return step.report
        working = asyncio.create_task(
            sync.roll_back(on_progress=self._tell)
            if request.rollback
            else sync.run(
                full=request.full,
                source=request.source,
                force=request.force,
                dry_run=request.dry_run,
                on_progress=self._tell,
            )
        )
        keeping = asyncio.create_task(self._lock.keep(lambda: self._latest))
        last = self._latest
        try:
            await asyncio.wait({working, keeping}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                keeping.result()  # the lock was lost: raises, and the work below is stopped
            report = working.result()
            last = replace(self._latest, phase="done", seconds_left=0.0, report=report)
            return report
        finally:
            working.cancel()  # once: a second time would interrupt its orderly end
            await cancelled(keeping)
            await asyncio.gather(working, keeping, return_exceptions=True)
            await self._lock.release(last)

    def _end_failed(self, message: str, refusal: str | None = None) -> None:
        self._tell(replace(self._latest, phase="failed", seconds_left=None, error=message, refusal=refusal))

    def _tell(self, progress: ReindexProgress) -> None:
        self._latest = progress
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


def _is_over(step: ReindexProgress) -> bool:
    return step.phase in ("done", "failed")
