"""What becomes of a page of a sweep: it is indexed, it failed, it is empty now, or it only leads to another one."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from ingest.errors import PageError
from ingest.faults import as_page_failure
from ingest.listing import Work, ids_of
from ingest.pipeline import PreparedPage, with_page_addresses
from ingest.swap_checks import advice, source_loss
from ingest.sync.sweep import Sweep
from kb.errors import FootnoteError
from kb.index.port import IndexedChunk, IndexWriter
from kb.runtime.faults import is_disk_full, is_fault
from kb.runtime.tracing import span

T = TypeVar("T")

Ready = tuple[Work, PreparedPage]

logger = logging.getLogger(__name__)

STAYS = " (its earlier text stays in the index)"


class PageOutcomes:
    """The outcomes of one sweep. `writer` is what is filled: the live index, or one beside it.

    `finished` is called with pages that are in the index or reported.
    """

    def __init__(self, sweep: Sweep, writer: IndexWriter, finished: Callable[[Sequence[Work]], None]) -> None:
        self._sweep = sweep
        self._live, self._stats = sweep.live, sweep.stats
        filled: object = writer
        self._fills_live = filled is sweep.live
        self._writer = writer
        self._finished = finished
        self._emptied: list[tuple[Work, PageError]] = []

    async def accepted(self, item: Work, prepared: PreparedPage) -> PreparedPage:
        """Adds the page's links. A page that its author limited meanwhile does not stay public until it is replaced.

        Raises:
            PageError: what it says of other pages breaks us.
        """
        with as_page_failure(item.listing.source.name, item.ref.path):
            page = with_page_addresses(prepared, item.listing.source, item.listing.refs)
        page_id, audience = page.page.id, page.page.audience
        if item.ref.path in item.listing.indexed and await self._sweep.look.admits_fewer(page_id, audience):
            await self._live.delete_pages([page_id])
        return page

    async def index(self, pages: Sequence[Ready], chunks: Sequence[Sequence[IndexedChunk]]) -> None:
        """Replaces what the index held of each page.

        What was forgotten since it was read goes again: forgetting does not wait for a sync.
        """
        if not pages:
            return
        of_page = {page.page.id: made for (_, page), made in zip(pages, chunks, strict=True)}

        async def write(page: PreparedPage) -> None:
            await self._writer.replace_pages({page.page.id: of_page[page.page.id]})

        try:
            with span("write", pages=len(of_page)):
                await self._writer.replace_pages(of_page)
        except BaseException as error:  # noqa: BLE001 (what is no fault over a page is raised again)
            pages = [ready for ready, _ in await self.each_alone(pages, write, error)]
        forgotten = await self._sweep.forgotten.ids()
        await self._writer.delete_pages([page for page in of_page if page in forgotten])
        for item, page in pages:
            self._stats.indexed(page, before=item.listing.indexed.get(item.ref.path))
        self._finished([item for item, _ in pages])

    async def each_alone(
        self, pages: Sequence[Ready], work: Callable[[PreparedPage], Awaitable[T]], error: BaseException
    ) -> list[tuple[Ready, T]]:
        """Repeats page by page what failed for many at once, so that only the page at fault fails.

        Returns the results of the pages that did not fail. `error`: what all of them together raised.

        Raises:
            BaseException: `error`, where no page is at fault (an outage, a full disk, an order to stop) or all fail.
        """
        if isinstance(error, FootnoteError) or not is_fault(error) or is_disk_full(error):
            raise error
        done: list[tuple[Ready, T]] = []
        failures: list[tuple[Work, PageError]] = []
        for item, page in pages:
            try:
                with as_page_failure(item.listing.source.name, item.ref.path, doing="indexing it failed"):
                    done.append(((item, page), await work(page)))
            except PageError as page_error:
                failures.append((item, page_error))
        if len(pages) > 1 and not done:
            raise error
        for item, failure in failures:
            await self.failed(item, failure)
        return done

    async def redirects(self, item: Work, target: str) -> None:
        """Leaves out a page without text: its target is indexed for itself. A rebuild leaves it out by its swap."""
        path = item.ref.path
        if path in item.listing.indexed and self._fills_live:
            await self._live.delete_pages(ids_of(item.listing, [path]))
            self._stats.removed.append(path)
        self._stats.note(
            path, f"it only redirects, to {target}: nothing of it is indexed", title=item.ref.title
        )
        self._finished([item])

    async def failed(self, item: Work, error: PageError) -> None:
        """Reports a page. One that has to go goes at once, from the live index too."""
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

    async def emptied(self, item: Work, error: PageError) -> None:
        """Takes a page without text: one was emptied by its author, many at a time may be a disk that lost them.

        So a page that was indexed is judged at the end, with the others; else it is a failure as any other.
        """
        path = item.ref.path
        if path in item.listing.indexed and path not in item.listing.acl_changed and error.withdraw:
            self._emptied.append((item, error))
            self._finished([item])
        else:
            await self.failed(item, error)

    async def judge_emptied(self) -> None:
        """Removes the pages that were emptied, unless they are too many to be believed."""
        for listing in {id(item.listing): item.listing for item, _ in self._emptied}.values():
            emptied = [(item.ref, error) for item, error in self._emptied if item.listing is listing]
            name, indexed = listing.source.name, len(listing.indexed)
            loss = source_loss(name, lost=len(emptied), indexed=indexed, listed=indexed)
            kept = loss is not None and not self._sweep.force
            if loss and kept:
                self._stats.fail(name, f"{loss}, since they are empty now: {advice(name)}")
            elif loss:
                self._stats.concerns.append(loss)
            if not kept:
                await self._live.delete_pages(ids_of(listing, [ref.path for ref, _ in emptied]))
            for ref, error in emptied:
                self._stats.fail(ref.path, f"{error.reason}{STAYS if kept else ''}", title=ref.title)
