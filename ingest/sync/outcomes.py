"""What becomes of a page of a sweep: it is in the index, it failed, or it only leads to another one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from ingest.errors import PageError
from ingest.faults import as_page_failure
from ingest.listing import Work, ids_of
from ingest.page_links import linked
from ingest.pipeline import PreparedPage
from ingest.sync.emptied import STAYS
from ingest.sync.live import LivePages
from ingest.sync.looking import FirstLook
from ingest.sync.singly import Ready, each_alone
from ingest.sync.sync_stats import SyncStats
from kb.index.port import IndexedChunk, IndexWriter
from kb.runtime.tracing import span
from kb.store.forgotten import ForgottenPages

logger = logging.getLogger(__name__)


class PageOutcomes:
    """One sweep's. `live` is the index that answers questions, `writer` what is filled: the same, or one beside it.

    `finished` is told of pages that are in the index or reported.
    """

    def __init__(
        self,
        *,
        live: LivePages,
        writer: IndexWriter,
        forgotten: ForgottenPages,
        stats: SyncStats,
        look: FirstLook,
        finished: Callable[[Sequence[Work]], None],
    ) -> None:
        self._live = live
        filled: object = writer
        self._fills_live = filled is live
        self._writer = writer
        self._forgotten = forgotten
        self._stats = stats
        self._look = look
        self._finished = finished

    async def accepted(self, item: Work, prepared: PreparedPage) -> PreparedPage:
        """Adds the page's links. What its author limited is not public until it is replaced either.

        Raises:
            PageError: what it says of other pages breaks us.
        """
        with as_page_failure(item.listing.source.name, item.ref.path):
            page = linked(prepared, item.listing.source, item.listing.refs)
        prepared_page = page.page
        if item.ref.path in item.listing.indexed and await self._look.admits_fewer(
            prepared_page.id, prepared_page.audience
        ):
            await self._live.delete_pages([prepared_page.id])
        return page

    async def index(self, pages: Sequence[Ready], chunks: Sequence[Sequence[IndexedChunk]]) -> None:
        """Puts each page in the place of what the index held of it.

        What was forgotten since it was read goes again: forgetting does not wait for a sync.
        """
        if not pages:
            return
        of_page = {page.page.id: made for (_, page), made in zip(pages, chunks, strict=True)}
        alone = lambda page: self._writer.replace_pages({page.page.id: of_page[page.page.id]})  # noqa: E731

        try:
            with span("write", pages=len(of_page)):
                await self._writer.replace_pages(of_page)
        except BaseException as error:  # noqa: BLE001
            pages = await self.without_failed(await each_alone(pages, alone, error))
        forgotten = await self._forgotten.ids()
        await self._writer.delete_pages([page for page in of_page if page in forgotten])
        for item, page in pages:
            self._stats.indexed(page, before=item.listing.indexed.get(item.ref.path))
        self._finished([item for item, _ in pages])

    async def without_failed(self, done: Sequence[tuple[Ready, object]]) -> list[Ready]:
        """The pages that were not broken over; the others are reported."""
        for (item, _), result in done:
            if isinstance(result, PageError):
                await self.failed(item, result)
        return [ready for ready, result in done if not isinstance(result, PageError)]

    async def redirects(self, item: Work, target: str) -> None:
        """It has no text: the page that it leads to is indexed for itself. A rebuild leaves it out until the swap."""
        path = item.ref.path
        if path in item.listing.indexed and self._fills_live:
            await self._live.delete_pages(ids_of(item.listing, [path]))
            self._stats.removed.append(path)
        self._stats.note(
            path, f"it only redirects, to {target}: nothing of it is indexed", title=item.ref.title
        )
        self._finished([item])

    async def failed(self, item: Work, error: PageError) -> None:
        """A page that has to go goes at once, from the live index too."""
        path = item.ref.path
        was_indexed = path in item.listing.indexed
        gone = error.withdraw or path in item.listing.acl_changed
        if was_indexed and gone:
            await self._live.delete_pages(ids_of(item.listing, [path]))
        if error.left_out:
            self._stats.note(path, error.reason, title=item.ref.title)
            self._finished([item])
            return
        kept = was_indexed and not gone and self._fills_live
        reason = f"{error.reason}{STAYS}" if kept else error.reason
        self._stats.fail(path, reason, title=item.ref.title)
        logger.warning("page.failed", extra={"source": item.listing.source.name, "path": path, "kept": kept})
        self._finished([item])
