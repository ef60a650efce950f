"""The pages that a sweep found to be new or changed, each on its way into the index: alone, or with the help of workers."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence

from ingest.crew.coordinator import Crew, Helpers
from ingest.crew.wire import ReadyPage
from ingest.errors import PageError
from ingest.listing import Work, ids_of
from ingest.pipeline import Origin, PagePipeline, PreparedPage, linked
from ingest.progress import Pace
from ingest.tally import Tally
from kb.forgotten import ForgottenPages
from kb.index.port import IndexedChunk, IndexWriter, VectorIndex
from kb.models import EVERYONE

logger = logging.getLogger(__name__)

GROUP = 128
"""Chunks embedded together: enough to sort by length, 0.2 MB of vectors, about two seconds on two cores."""


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

    async def run(self, work: Sequence[Work], crew: Crew) -> None:
        self._pace.starts([item.ref.size for item in work])
        todo = deque(work)
        async with crew.at_work(self._pipeline.manifest) as helpers:
            while todo or helpers.are_busy:
                await self._hand_out(todo, helpers)
                await self._own_group(todo)
                for item, outcome in await helpers.returned(wait=not todo):
                    await self._arrived(item, outcome)
                todo.extend(await helpers.taken_back())

    async def _hand_out(self, todo: deque[Work], helpers: Helpers) -> None:
        """Fills the lane, and leaves what is too little to share."""
        while len(todo) > 1 and await helpers.have_room():
            item = todo.popleft()
            try:
                raw = await item.listing.source.fetch(item.ref)
            except PageError as error:
                await self._failed(item, error)
                self._pace.finished([item.ref.size])
            else:
                await helpers.hand_out(item, raw)

    async def _own_group(self, todo: deque[Work]) -> None:
        group: list[PreparedPage] = []
        sizes: list[int] = []
        while todo and sum(len(page.chunks) for page in group) < GROUP:
            item = todo.popleft()
            sizes.append(item.ref.size)
            source = item.listing.source
            try:
                raw = await source.fetch(item.ref)
                page = await self._pipeline.prepare(raw, Origin.of(source))
            except PageError as error:
                await self._failed(item, error)
                if not group:
                    break  # told at once: the next page may take long
            else:
                group.append(await self._accepted(item, page))
        if group:
            await self._index(group, await self._pipeline.embed(group))
        self._pace.finished(sizes)

    async def _arrived(self, item: Work, outcome: ReadyPage | PageError) -> None:
        if isinstance(outcome, PageError):
            await self._failed(item, outcome)
        else:
            page = await self._accepted(item, outcome.page)
            await self._index([page], [outcome.linked_to(page)])
        self._pace.finished([item.ref.size])

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
