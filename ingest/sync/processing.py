"""Brings the pages that a sweep found to be new or changed into the index: alone, or with the help of workers."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Sequence

from ingest.distributed.coordinator import WorkerPool
from ingest.distributed.page_queue import PageJobQueue
from ingest.distributed.serialization import Outcome
from ingest.errors import PageError
from ingest.faults import as_page_failure
from ingest.listing import Work
from ingest.origin import Origin
from ingest.parsers.redirects import may_redirect, redirect_of
from ingest.sources.port import RawPage
from ingest.sync.looking import Seen
from ingest.sync.outcomes import PageOutcomes, Ready
from ingest.sync.sweep import Sweep
from kb.index.port import IndexedChunk, IndexWriter
from kb.runtime.tasks import cancelled, happened
from kb.runtime.tracing import span

logger = logging.getLogger(__name__)

GROUP = 128
"""Chunks embedded together: enough to sort by length, 0.2 MB of vectors, about two seconds on two cores."""
FIRST_GROUP = 16
"""The embedder has to wait for the first; each group is twice as large as the one before."""
AT_A_GLANCE = 20_000
"""Bytes that are looked through on the loop: some 50 µs."""
IDLE_S = 0.5
"""Between two looks for workers that may have come."""

Embedded = tuple[Sequence[Ready], list[list[IndexedChunk]]]


class Processing:
    """The pages of one sweep. `writer` is what is filled: the live index, or one beside it."""

    def __init__(self, sweep: Sweep, writer: IndexWriter) -> None:
        self._sweep = sweep
        self._pipeline = sweep.pipeline
        self._outcomes = PageOutcomes(sweep, writer, self._finished)
        self._todo: deque[Work] = deque()
        self._unfinished = 0
        """Pages that are neither in the index nor reported: to do, in hand or with a worker."""
        self._lent = asyncio.Event()
        self._returned = asyncio.Event()
        self._over = asyncio.Event()
        self._served = asyncio.Event()
        """Workers have as many pages as they get: only then does this process begin another of its own."""

    async def run(self, work: Sequence[Work], page_jobs: PageJobQueue | None) -> None:
        """Works group by group; meanwhile workers get pages from the same list."""
        self._sweep.progress.starts([item.ref.size for item in work])
        if not work:
            return
        self._todo.extend(work)
        self._unfinished = len(work)
        async with WorkerPool(page_jobs, self._pipeline.manifest) as workers, self._pipeline.warming():
            parts = [
                asyncio.create_task(part)
                for part in (self._lend(workers), self._collect(workers), self._do(workers))
            ]
            try:
                ended, _ = await asyncio.wait(parts, return_when=asyncio.FIRST_EXCEPTION)
                for part in ended:
                    part.result()
            finally:
                for part in parts:
                    await cancelled(part)
        await self._outcomes.judge_emptied()

    async def _lend(self, workers: WorkerPool) -> None:
        """Keeps the queue filled, up to what is too little to share."""
        while self._unfinished and workers.may_come:
            room = await workers.room() if len(self._todo) > 1 else 0
            if room:
                self._served.clear()
                read = await self._read(room)
                self._served.set()  # while these are on their way, this process goes on
                await workers.hand_out(read)
                self._lent.set()
            else:
                self._served.set()
                self._returned.clear()
                await happened(self._returned, within_s=IDLE_S)
        self._served.set()

    async def _read(self, most: int) -> list[tuple[Work, RawPage]]:
        read: list[tuple[Work, RawPage]] = []
        while len(self._todo) > 1 and len(read) < most:
            item = self._todo.popleft()
            seen = await self._fetched(item)
            if seen is not None:
                read.append((item, seen.raw))
        return read

    async def _fetched(self, item: Work) -> Seen | None:
        """Reads a page. None: it failed, is empty now or only leads to another page."""
        source = item.listing.source
        try:
            seen = self._sweep.look.take(item)
            with as_page_failure(source.name, item.ref.path):
                raw = seen.raw if seen else await source.fetch(item.ref)
                target = await _redirected(raw)
            if target is None and seen is not None and seen.failure is not None:
                raise seen.failure
        except PageError as error:
            await self._outcomes.failed(item, error)
            return None
        if target is not None:
            await self._outcomes.redirects(item, target)
            return None
        if raw.content.strip():
            return seen or Seen(raw=raw)
        try:
            await self._pipeline.prepare(raw, Origin.of(source))
        except PageError as error:
            await self._outcomes.emptied(item, error)
            return None
        return Seen(raw=raw)

    async def _collect(self, workers: WorkerPool) -> None:
        """Indexes what workers bring before this process begins a page of its own: they wait for more."""
        while self._unfinished and (workers.may_come or workers.are_busy):
            if workers.are_busy:
                if outcomes := await workers.returned():
                    self._served.clear()
                    await self._arrived(outcomes)
                    self._returned.set()
                self._todo.extend(await workers.taken_back())
            else:
                self._lent.clear()
                await happened(self._lent, within_s=IDLE_S)

    async def _arrived(self, outcomes: Sequence[tuple[Work, Outcome]]) -> None:
        pages: list[Ready] = []
        chunks: list[list[IndexedChunk]] = []
        for item, outcome in outcomes:
            try:
                if isinstance(outcome, PageError):
                    raise outcome
                page = await self._outcomes.accepted(item, outcome.page)
            except PageError as error:
                await self._outcomes.failed(item, error)
            else:
                pages.append((item, page))
                chunks.append(outcome.linked_to(page))
        await self._outcomes.index(pages, chunks)

    async def _do(self, workers: WorkerPool) -> None:
        """Does this process's own part: reads a group while the one before is embedded, another indexed."""
        size = FIRST_GROUP
        following: asyncio.Task[Embedded] | None = None
        embedding: asyncio.Task[Embedded] | None = None
        indexing: asyncio.Task[None] | None = None
        try:
            while self._unfinished:
                group = await self._own_group(size) if self._todo else []
                size = min(2 * size, GROUP)
                following = asyncio.create_task(self._embedded(group)) if group else None
                if embedding:
                    pages, chunks = await embedding
                    if indexing:
                        await indexing
                    indexing = asyncio.create_task(self._outcomes.index(pages, chunks))
                embedding = following
                if embedding is None:
                    if indexing:
                        await indexing
                    self._todo.extend(await workers.unstarted())
                    if not self._todo:
                        await happened(self._over, within_s=IDLE_S)
        except Exception:
            if indexing:
                await indexing  # what is embedded already need not be embedded by the next sync again
            raise
        finally:
            for task in (following, embedding, indexing):
                if task:
                    await cancelled(task)

    async def _own_group(self, size: int) -> list[Ready]:
        """Reads pages until there are so many chunks to embed together, or nothing is left."""
        with span("read"):
            return await self._own_pages(size)

    async def _own_pages(self, size: int) -> list[Ready]:
        group: list[Ready] = []
        chunks = 0
        while self._todo and chunks < size:
            if not self._served.is_set():
                await self._served.wait()
                continue  # the rest may be handed out by now
            item = self._todo.popleft()
            seen = await self._fetched(item)
            if seen is None:
                continue
            try:
                page = await self._pipeline.prepare(seen.raw, Origin.of(item.listing.source), seen.parsed)
                page = await self._outcomes.accepted(item, page)
            except PageError as error:
                await self._outcomes.failed(item, error)
            else:
                group.append((item, page))
                chunks += len(page.chunks)
        return group

    async def _embedded(self, group: Sequence[Ready]) -> Embedded:
        """Embeds pages; a page over which the embedder fails, fails."""
        try:
            with span("embed", pages=len(group)):
                return group, await self._pipeline.embed([page for _, page in group])
        except BaseException as error:  # noqa: BLE001 (what is no fault over a page is raised again)
            done = await self._outcomes.each_alone(group, lambda page: self._pipeline.embed([page]), error)
        return [ready for ready, _ in done], [chunks for _, embedded in done for chunks in embedded]

    def _finished(self, items: Sequence[Work]) -> None:
        self._sweep.progress.finished([item.ref.size for item in items])
        self._unfinished -= len(items)
        if not self._unfinished:
            for event in (self._over, self._returned, self._lent):
                event.set()


async def _redirected(raw: RawPage) -> str | None:
    """Returns where a page only leads to; see `redirect_of`. Most are judged at a glance, without a thread."""
    if len(raw.content) <= AT_A_GLANCE and not may_redirect(raw.content):
        return None
    return await asyncio.to_thread(
        redirect_of, raw.content, path=raw.file_name or raw.path, media_type=raw.media_type
    )
