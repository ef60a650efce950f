"""The pages that a sweep found to be new or changed, each on its way into the index: alone, or with the help of workers."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Sequence

from ingest.crew.coordinator import Crew, Helpers
from ingest.crew.wire import Outcome
from ingest.errors import PageError
from ingest.guard import advice, source_loss
from ingest.listing import Work, ids_of
from ingest.pipeline import Origin, PagePipeline, PreparedPage, linked
from ingest.progress import Pace
from ingest.redirects import redirect_of
from ingest.sources.port import RawPage
from ingest.tally import Tally
from kb.forgotten import ForgottenPages
from kb.index.port import IndexedChunk, IndexWriter, VectorIndex
from kb.models import EVERYONE
from kb.tasks import cancelled, happened

logger = logging.getLogger(__name__)

GROUP = 128
"""Chunks embedded together: enough to sort by length, 0.2 MB of vectors, about two seconds on two cores."""
FIRST_GROUP = 16
"""The embedder has to wait for the first; each group is twice as large as the one before."""
IDLE_S = 0.5
"""Between two looks for workers that may have come."""

_STAYS = " (its earlier text stays in the index)"

Ready = tuple[Work, PreparedPage]
Embedded = tuple[Sequence[Ready], list[list[IndexedChunk]]]


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
        force: bool = False,
    ) -> None:
        self._force = force
        self._emptied: list[tuple[Work, PageError]] = []
        self._pipeline = pipeline
        self._live = live
        self._writer = writer
        self._forgotten = forgotten
        self._tally = tally
        self._pace = pace
        self._todo: deque[Work] = deque()
        self._unfinished = 0
        """Pages that are neither in the index nor reported: still to do, in hand or with a worker."""
        self._lent = asyncio.Event()
        self._returned = asyncio.Event()
        self._over = asyncio.Event()
        self._served = asyncio.Event()
        """Workers have as many pages as they get: only then does this process begin another of its own."""

    async def run(self, work: Sequence[Work], crew: Crew) -> None:
        """This process works group by group; meanwhile whoever else there is gets pages from the same list."""
        self._pace.starts([item.ref.size for item in work])
        if not work:
            return
        self._todo.extend(work)
        self._unfinished = len(work)
        async with crew.at_work(self._pipeline.manifest) as helpers:
            parts = [
                asyncio.create_task(part)
                for part in (self._lend(helpers), self._collect(helpers), self._do(helpers))
            ]
            try:
                ended, _ = await asyncio.wait(parts, return_when=asyncio.FIRST_EXCEPTION)
                for part in ended:
                    part.result()
            finally:
                for part in parts:
                    await cancelled(part)
        await self._settle_emptied()

    async def _lend(self, helpers: Helpers) -> None:
        """Keeps the lane filled, and leaves what is too little to share."""
        while self._unfinished and helpers.may_come:
            room = await helpers.room() if len(self._todo) > 1 else 0
            if room:
                self._served.clear()
                read = await self._read(room)
                self._served.set()  # while these are on their way, this process goes on
                await helpers.hand_out(read)
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
            raw = await self._fetched(item)
            if raw is not None:
                read.append((item, raw))
        return read

    async def _fetched(self, item: Work) -> RawPage | None:
        """None: it failed, is empty now or only leads to another page: no work to share."""
        source = item.listing.source
        try:
            raw = await source.fetch(item.ref)
        except PageError as error:
            await self._failed(item, error)
            return None
        target = await asyncio.to_thread(redirect_of, raw.content, path=raw.path, media_type=raw.media_type)
        if target is not None:
            await self._redirects(item, target)
            return None
        if raw.content.strip():
            return raw
        try:
            await self._pipeline.prepare(raw, Origin.of(source))
        except PageError as error:
            await self._found_empty(item, error)
            return None
        return raw

    async def _collect(self, helpers: Helpers) -> None:
        """What workers bring goes into the index before this process begins a page of its own: they wait for more."""
        while self._unfinished and (helpers.may_come or helpers.are_busy):
            if helpers.are_busy:
                if outcomes := await helpers.returned():
                    self._served.clear()
                    await self._arrived(outcomes)
                    self._returned.set()
                self._todo.extend(await helpers.taken_back())
            else:
                self._lent.clear()
                await happened(self._lent, within_s=IDLE_S)

    async def _arrived(self, outcomes: Sequence[tuple[Work, Outcome]]) -> None:
        pages: list[Ready] = []
        chunks: list[list[IndexedChunk]] = []
        for item, outcome in outcomes:
            if isinstance(outcome, PageError):
                await self._failed(item, outcome)
            else:
                page = await self._accepted(item, outcome.page)
                pages.append((item, page))
                chunks.append(outcome.linked_to(page))
        await self._index(pages, chunks)

    async def _do(self, helpers: Helpers) -> None:
        """This process's own part: a group is read while the one before is embedded and the one before that is indexed."""
        size = FIRST_GROUP
        following: asyncio.Task[Embedded] | None = None
        embedding: asyncio.Task[Embedded] | None = None
        indexing: asyncio.Task[None] | None = None
        try:
            while self._unfinished:
                group = await self._own_group(size)
                size = min(2 * size, GROUP)
                following = asyncio.create_task(self._embedded(group)) if group else None
                if embedding:
                    pages, chunks = await embedding
                    if indexing:
                        await indexing
                    indexing = asyncio.create_task(self._index(pages, chunks))
                embedding = following
                if embedding is None:
                    if indexing:
                        await indexing
                    self._todo.extend(await helpers.unstarted())
                    if not self._todo:
                        await happened(self._over, within_s=IDLE_S)
        finally:
            for task in (following, embedding, indexing):
                if task:
                    await cancelled(task)

    async def _own_group(self, size: int) -> list[Ready]:
        """Reads pages until there are so many chunks to embed together, or nothing is left."""
        group: list[Ready] = []
        chunks = 0
        while self._todo and chunks < size:
            if not self._served.is_set():
                await self._served.wait()
                continue  # the rest may be handed out by now
            item = self._todo.popleft()
            raw = await self._fetched(item)
            if raw is None:
                continue
            try:
                page = await self._pipeline.prepare(raw, Origin.of(item.listing.source))
            except PageError as error:
                await self._failed(item, error)
            else:
                group.append((item, await self._accepted(item, page)))
                chunks += len(page.chunks)
        return group

    async def _embedded(self, group: Sequence[Ready]) -> Embedded:
        return group, await self._pipeline.embed([page for _, page in group])

    async def _accepted(self, item: Work, prepared: PreparedPage) -> PreparedPage:
        """Counted, and with its links; one that its author limited is not public until the swap either."""
        page = linked(prepared, item.listing.source, item.listing.refs)
        before = item.listing.indexed.get(item.ref.path)
        self._tally.indexed(page, before=before)
        beside = self._writer is not self._live
        if beside and before != page.page.revision and EVERYONE not in page.page.audience:
            await self._live.delete_pages([page.page.id])
        return page

    async def _index(self, pages: Sequence[Ready], chunks: Sequence[Sequence[IndexedChunk]]) -> None:
        """Puts each page in the place of what the index held of it.

        What was forgotten since it was read goes again: forgetting does not wait for a sync.
        """
        if not pages:
            return
        ids = [page.page.id for _, page in pages]
        await self._writer.replace_pages(dict(zip(ids, chunks, strict=True)))
        forgotten = await self._forgotten.ids()
        await self._writer.delete_pages([page for page in ids if page in forgotten])
        self._finished([item for item, _ in pages])

    async def _redirects(self, item: Work, target: str) -> None:
        """It has no text: the page that it leads to is indexed for itself. A rebuild leaves it out until the swap."""
        path = item.ref.path
        if path in item.listing.indexed and self._writer is self._live:
            await self._live.delete_pages(ids_of(item.listing, [path]))
            self._tally.removed.append(path)
        self._tally.note(
            path, f"it only redirects, to {target}: nothing of it is indexed", title=item.ref.title
        )
        self._finished([item])

    async def _found_empty(self, item: Work, error: PageError) -> None:
        """One page is emptied by its author; many at a time may be a disk that lost them, which is known at the end."""
        path = item.ref.path
        if path in item.listing.indexed and path not in item.listing.exposed and error.withdraw:
            self._emptied.append((item, error))
            self._finished([item])
        else:
            await self._failed(item, error)

    async def _settle_emptied(self) -> None:
        for listing in {id(item.listing): item.listing for item, _ in self._emptied}.values():
            emptied = [(item.ref, error) for item, error in self._emptied if item.listing is listing]
            name, indexed = listing.source.name, len(listing.indexed)
            loss = source_loss(name, lost=len(emptied), indexed=indexed, listed=indexed)
            kept = loss is not None and not self._force
            if loss and kept:
                self._tally.fail(name, f"{loss}, since they are empty now: {advice(name)}")
            elif loss:
                self._tally.doubts.append(loss)
            if not kept:
                await self._live.delete_pages(ids_of(listing, [ref.path for ref, _ in emptied]))
            for ref, error in emptied:
                self._tally.fail(ref.path, f"{error.reason}{_STAYS if kept else ''}", title=ref.title)

    async def _failed(self, item: Work, error: PageError) -> None:
        """A page that has to go goes at once, from the live index too."""
        path = item.ref.path
        was_indexed = path in item.listing.indexed
        gone = error.withdraw or path in item.listing.exposed
        if was_indexed and gone:
            await self._live.delete_pages(ids_of(item.listing, [path]))
        if error.left_out:
            self._tally.note(path, error.reason, title=item.ref.title)
            self._finished([item])
            return
        kept = was_indexed and not gone and self._writer is self._live
        reason = f"{error.reason}{_STAYS}" if kept else error.reason
        self._tally.fail(path, reason, title=item.ref.title)
        logger.warning("page.failed", extra={"source": item.listing.source.name, "path": path, "kept": kept})
        self._finished([item])

    def _finished(self, items: Sequence[Work]) -> None:
        self._pace.finished([item.ref.size for item in items])
        self._unfinished -= len(items)
        if not self._unfinished:
            for event in (self._over, self._returned, self._lent):
                event.set()
