"""The pages that a sweep found to be new or changed, each on its way into the index: alone, or with the help of workers."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from ingest.crew.coordinator import Crew, Helpers
from ingest.crew.wire import Outcome
from ingest.errors import PageError
from ingest.listing import Work, ids_of
from ingest.pipeline import Origin, PagePipeline, PreparedPage, linked
from ingest.progress import Pace
from ingest.sources.port import RawPage
from ingest.tally import Tally
from kb.forgotten import ForgottenPages
from kb.index.port import IndexedChunk, IndexWriter, VectorIndex
from kb.models import EVERYONE
from kb.tasks import cancelled, happened

logger = logging.getLogger(__name__)

GROUP = 128
"""Chunks embedded together: enough to sort by length, 0.2 MB of vectors, about two seconds on two cores."""


IDLE_S = 0.5
"""Between two looks for workers that may have come."""


@dataclass(kw_only=True, slots=True)
class _Group:
    """Pages that are embedded together, and their sizes in bytes."""

    pages: list[PreparedPage] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    chunks: int = 0

    def add(self, page: PreparedPage, *, size: int) -> None:
        self.pages.append(page)
        self.sizes.append(size)
        self.chunks += len(page.chunks)


class Processing:
    """One sweep's. `live` is the index that answers questions, `writer` what is filled: the same, or one beside it."""

    def __init__(
        self,
        *,
        pipeline: PagePipeline,
        live: VectorIndex,
        writer: IndexWriter,
        forgotten: ForgottenPages,
        tally: Tally,
        pace: Pace,
    ) -> None:
        self._pipeline = pipeline
        self._live = live
        self._writer = writer
        self._forgotten = forgotten
        self._tally = tally
        self._pace = pace
        self._emptied = asyncio.Event()
        self._served = asyncio.Event()
        """Workers have as many pages as they get: only then does this process begin another of its own."""

    async def run(self, work: Sequence[Work], crew: Crew) -> None:
        """This process works group by group; meanwhile whoever else there is gets pages from the same list."""
        self._pace.starts([item.ref.size for item in work])
        todo = deque(work)
        async with crew.at_work(self._pipeline.manifest) as helpers:
            sharing = asyncio.create_task(self._share(todo, helpers))
            filing: asyncio.Task[None] | None = None
            try:
                while todo or not sharing.done():
                    if sharing.done():
                        await sharing  # it failed
                    if todo:
                        group = await self._own_group(todo)
                        if filing:
                            await filing  # one group is embedded while the next is read
                        filing = asyncio.create_task(self._file(group))
                    else:
                        self._emptied.set()
                        if left := await helpers.unstarted():
                            todo.extend(left)
                            self._emptied.clear()
                        else:
                            await asyncio.wait({sharing}, timeout=IDLE_S)
                if filing:
                    await filing
                await sharing
            finally:
                if filing:
                    await cancelled(filing)
                await cancelled(sharing)

    async def _share(self, todo: deque[Work], helpers: Helpers) -> None:
        try:
            while (todo and helpers.may_come) or helpers.are_busy:
                await self._hand_out(todo, helpers)
                self._served.set()
                if helpers.are_busy:
                    if outcomes := await helpers.returned():
                        self._served.clear()
                        await self._arrived(outcomes)
                    if back := await helpers.taken_back():
                        todo.extend(back)
                        self._emptied.clear()
                else:
                    await happened(self._emptied, within_s=IDLE_S)
        finally:
            self._served.set()

    async def _hand_out(self, todo: deque[Work], helpers: Helpers) -> None:
        """Fills the lane, and leaves what is too little to share."""
        while len(todo) > 1 and (room := await helpers.room()):
            read: list[tuple[Work, RawPage]] = []
            while len(todo) > 1 and len(read) < room:
                item = todo.popleft()
                try:
                    read.append((item, await item.listing.source.fetch(item.ref)))
                except PageError as error:
                    await self._failed(item, error)
                    self._pace.finished([item.ref.size])
            await helpers.hand_out(read)

    async def _own_group(self, todo: deque[Work]) -> _Group:
        """Reads pages until there is enough to embed together."""
        group = _Group()
        while todo and group.chunks < GROUP:
            if not self._served.is_set():
                await self._served.wait()
                continue  # the rest may be handed out by now
            item = todo.popleft()
            source = item.listing.source
            try:
                raw = await source.fetch(item.ref)
                page = await self._pipeline.prepare(raw, Origin.of(source))
            except PageError as error:
                await self._failed(item, error)
                self._pace.finished([item.ref.size])
            else:
                group.add(await self._accepted(item, page), size=item.ref.size)
        return group

    async def _file(self, group: _Group) -> None:
        if group.pages:
            await self._index(group.pages, await self._pipeline.embed(group.pages))
            self._pace.finished(group.sizes)

    async def _arrived(self, outcomes: Sequence[tuple[Work, Outcome]]) -> None:
        pages: list[PreparedPage] = []
        chunks: list[list[IndexedChunk]] = []
        for item, outcome in outcomes:
            if isinstance(outcome, PageError):
                await self._failed(item, outcome)
            else:
                pages.append(await self._accepted(item, outcome.page))
                chunks.append(outcome.linked_to(pages[-1]))
        await self._index(pages, chunks)
        self._pace.finished([item.ref.size for item, _ in outcomes])

    async def _accepted(self, item: Work, prepared: PreparedPage) -> PreparedPage:
        """Counted, and with its links; one that its author limited is not public until the swap either."""
        page = linked(prepared, item.listing.source, item.listing.refs)
        before = item.listing.indexed.get(item.ref.path)
        self._tally.indexed(page, before=before)
        beside = self._writer is not self._live
        if beside and before != page.page.revision and EVERYONE not in page.page.audience:
            await self._live.delete_pages([page.page.id])
        return page

    async def _index(self, pages: Sequence[PreparedPage], chunks: Sequence[Sequence[IndexedChunk]]) -> None:
        """Puts each page in the place of what the index held of it.

        What was forgotten since it was read goes again: forgetting does not wait for a sync.
        """
        if not pages:
            return
        for page, indexed in zip(pages, chunks, strict=True):
            await self._writer.replace_page(page.page.id, indexed)
        forgotten = await self._forgotten.ids()
        await self._writer.delete_pages([page.page.id for page in pages if page.page.id in forgotten])

    async def _failed(self, item: Work, error: PageError) -> None:
        """A page that has to go goes at once, from the live index too."""
        path = item.ref.path
        was_indexed = path in item.listing.indexed
        gone = error.withdraw or path in item.listing.exposed
        if was_indexed and gone:
            await self._live.delete_pages(ids_of(item.listing, [path]))
        kept = was_indexed and not gone and self._writer is self._live
        reason = f"{error.reason} (its earlier text stays in the index)" if kept else error.reason
        self._tally.fail(path, reason, title=item.ref.title)
        logger.warning("page.failed", extra={"source": item.listing.source.name, "path": path, "kept": kept})
