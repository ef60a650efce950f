"""A process that makes pages ready for whoever runs a sync: it reads no source and writes no index."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from ingest.distributed.page_queue import PageJobQueue
from ingest.distributed.serialization import Outcome, PageJob, ReadyPage, decode_manifest, manifest_key_of
from ingest.errors import PageError
from ingest.pipeline import PagePipeline, PreparedPage
from kb.errors import IndexMismatchError, StoreUnavailableError
from kb.index.port import IndexManifest
from kb.runtime.tasks import cancelled, happened
from kb.store.redis import process_name

logger = logging.getLogger(__name__)

TAKEN = 4
"""Jobs at a time: enough to embed together, few enough for others to share the last ones. As many more wait in hand."""
BEAT_S = 3.0
IDLE_S = 2.0
"""Between two looks for a first sync."""
LONGEST_PAUSE_S = 5.0

Entry = tuple[str, PageJob]


@dataclass(kw_only=True, slots=True)
class WorkDone:
    """What one worker did. `failed`: pages that could not be read, which the sync reports by name."""

    pages: int = 0
    failed: int = 0
    chunks: int = 0


class PageWorker:
    """`pipeline_for` builds what makes chunks of a manifest, and loads its model."""

    def __init__(
        self,
        queue: PageJobQueue,
        *,
        pipeline_for: Callable[[IndexManifest], Awaitable[PagePipeline]],
        name: str | None = None,
    ) -> None:
        self._queue = queue
        self._pipeline_for = pipeline_for
        self._name = name or process_name()
        self._held: set[str] = set()
        self._coming: asyncio.Task[list[Entry]] | None = None
        self._bringing: asyncio.Task[None] | None = None
        self._wanted: bytes | None = None
        self._asked_at = self._heard_at = -BEAT_S
        self.did = WorkDone()

    async def run(self, stop: asyncio.Event, *, idle_exit_s: float | None = None) -> WorkDone:
        """Works until `stop` is set, which ends it after the pages in hand, or until nothing came for `idle_exit_s`.

        Raises:
            IndexMismatchError: it cannot make what the sync fills its index with.
            EmbedderUnavailableError: the model cannot be loaded.
        """
        pipeline, manifest_key, pauses = None, "", 0
        idle_since = time.monotonic()
        try:
            while self._coming or not (stop.is_set() or _over(idle_since, idle_exit_s)):
                try:
                    wanted = await self._what_is_wanted()
                    if wanted is None:
                        await self._let_go()
                        await happened(stop, within_s=IDLE_S)
                        continue
                    if pipeline is None or manifest_key != manifest_key_of(decode_manifest(wanted)):
                        await self._let_go()
                        pipeline, manifest_key = await self._ready_for(decode_manifest(wanted))
                        idle_since = time.monotonic()
                    if await self._turn(pipeline, manifest_key, stop):
                        idle_since = time.monotonic()
                    pauses = 0
                except StoreUnavailableError as error:
                    logger.warning("worker.store_lost", extra={"cause": str(error.__cause__)})
                    await self._let_go()
                    pauses = min(pauses + 1, 10)
                    longest = min(0.1 * 2**pauses, LONGEST_PAUSE_S)
                    await happened(stop, within_s=random.uniform(longest / 2, longest))
        finally:
            await self._let_go()
        await self._leave(manifest_key)
        return self.did

    async def _what_is_wanted(self) -> bytes | None:
        """Reads what the latest sync wants. Not at every turn: a store that keeps all it is told is slow."""
        if self._wanted is None or time.monotonic() - self._asked_at >= BEAT_S:
            self._wanted = await self._queue.wanted()
            self._asked_at = time.monotonic()
        return self._wanted

    async def _ready_for(self, wanted: IndexManifest) -> tuple[PagePipeline, str]:
        pipeline = await self._pipeline_for(wanted)
        if pipeline.manifest != wanted:
            ours = pipeline.manifest
            raise IndexMismatchError(
                f"this worker makes passages with {ours.embedder} ({ours.chunker}), the bot wants {wanted.embedder} "
                f"({wanted.chunker}): give both the same version and the same [embed] settings"
            )
        logger.info("worker.ready", extra={"worker": self._name, "embedder": wanted.embedder})
        return pipeline, manifest_key_of(wanted)

    async def _turn(self, pipeline: PagePipeline, manifest_key: str, stop: asyncio.Event) -> bool:
        """Works on some jobs while the next ones come and the last outcomes go. Returns whether there were any."""
        entries = await (self._coming or self._take(manifest_key))
        self._coming = None
        if not entries:
            await self._brought()
            return False
        if not stop.is_set():
            self._coming = asyncio.create_task(self._take(manifest_key))
        beating = asyncio.create_task(self._beat(manifest_key))
        try:
            outcomes = await self._outcomes(pipeline, entries)
        finally:
            await cancelled(beating)
        await self._brought()
        finished = [(*entry, outcome) for entry, outcome in zip(entries, outcomes, strict=True)]
        self._bringing = asyncio.create_task(self._bring(finished, manifest_key))
        if self._coming is None:  # the last ones
            await self._brought()
        return True

    async def _take(self, manifest_key: str) -> list[Entry]:
        due = time.monotonic() - self._heard_at >= BEAT_S
        if due:
            await self._enlist(manifest_key)
        entries = await self._queue.take(self._name, manifest_key, TAKEN, inherit=due)
        self._held.update(entry for entry, _ in entries)
        return entries

    async def _bring(self, finished: Sequence[tuple[str, PageJob, Outcome]], manifest_key: str) -> None:
        await self._queue.done(finished, manifest_key)
        self._held.difference_update(entry for entry, _, _ in finished)

    async def _brought(self) -> None:
        """Waits until the last outcomes have arrived: one batch is on its way at a time."""
        if self._bringing is not None:
            await self._bringing
            self._bringing = None

    async def _let_go(self) -> None:
        """Gives up all jobs that it holds, so that another worker takes them over."""
        tasks = [task for task in (self._coming, self._bringing) if task is not None]
        for task in tasks:
            await cancelled(task)
        await asyncio.gather(*tasks, return_exceptions=True)  # how they ended no longer matters
        self._coming = self._bringing = None
        self._held.clear()

    async def _outcomes(self, pipeline: PagePipeline, entries: Sequence[Entry]) -> list[Outcome]:
        prepared = [await _prepared(pipeline, job) for _, job in entries]
        pages = [page for page in prepared if isinstance(page, PreparedPage)]
        embedded = iter(await pipeline.embed(pages) if pages else ())
        outcomes: list[Outcome] = []
        for page in prepared:
            if isinstance(page, PageError):
                self.did.failed += 1
                outcomes.append(page)
            else:
                chunks = tuple(next(embedded))
                self.did.pages += 1
                self.did.chunks += len(chunks)
                outcomes.append(ReadyPage(page=page, chunks=chunks))
        return outcomes

    async def _beat(self, manifest_key: str) -> None:
        while True:
            await asyncio.sleep(BEAT_S)
            try:
                await self._enlist(manifest_key)
            except StoreUnavailableError as error:
                logger.warning("worker.beat_lost", extra={"cause": str(error.__cause__)})

    async def _enlist(self, manifest_key: str) -> None:
        await self._queue.enlist(self._name, manifest_key, list(self._held))
        self._heard_at = time.monotonic()

    async def _leave(self, manifest_key: str) -> None:
        try:
            await self._queue.leave(self._name, manifest_key)
        except StoreUnavailableError as error:  # it will be missed soon enough
            logger.warning("worker.left_unheard", extra={"cause": str(error.__cause__)})


async def _prepared(pipeline: PagePipeline, job: PageJob) -> PreparedPage | PageError:
    try:
        return await pipeline.prepare(job.raw, job.origin)
    except PageError as error:
        return error


def _over(idle_since: float, idle_exit_s: float | None) -> bool:
    return idle_exit_s is not None and time.monotonic() - idle_since >= idle_exit_s
