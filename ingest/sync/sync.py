"""One sweep over the sources: discover, compare, process, delete.

The index itself is the only record of what has been done: it holds every page's
revision. So a sweep that was killed at any moment needs no repair; the next one
finds what is missing. Four rules keep text from being lost, or from staying:

- A page that cannot be read keeps its earlier text, unless its author limited its readers or emptied it.
- What is limited or gone leaves the live index as soon as its source is listed, before anything else can fail.
- Only what a source was seen not to list is deleted. A source that fails, or lists much less than before, deletes
  nothing unless somebody insists (see `ingest.swap_checks`).
- An index built with another embedder, dimension or chunker, or with damaged files, is rebuilt beside the live
  one and swapped in when whole.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ingest.distributed.page_queue import PageJobQueue
from ingest.errors import SyncRefusedError
from ingest.listing import Listing, Work, ids_of
from ingest.origin import source_and_path
from ingest.parsers.reader import Reader
from ingest.pipeline import Embedder, PagePipeline
from ingest.sources.port import Source
from ingest.swap_checks import enforce, failed_sources, lost_questions, mass_loss, missing
from ingest.sync.calibrating import measure, measure_if_due
from ingest.sync.forgetting import forget_page, remember_page
from ingest.sync.live import LivePages, NoPages
from ingest.sync.looking import FirstLook
from ingest.sync.plan import plan
from ingest.sync.processing import Processing
from ingest.sync.progress import OnProgress, ProgressEstimator
from ingest.sync.rollback import roll_back
from ingest.sync.sweep import Sweep
from ingest.sync.sync_stats import SyncStats
from ingest.sync.withdrawing import Withdrawing
from kb.errors import IndexDamagedError, SettingsError
from kb.index.port import IndexWriter, PageAddress, Rebuild, VectorIndex
from kb.jobs import SyncReport
from kb.pages.freshness import Clock
from kb.retrieval.lexical import LexicalEncoder
from kb.store.forgotten import ForgottenPages, InMemoryForgotten

if TYPE_CHECKING:
    from kb.retrieval.golden import GoldenQuestions
    from kb.retrieval.measuring import Calibrator

logger = logging.getLogger(__name__)


class Sync:
    """Keeps an index equal to its sources. Its runs must not overlap: `ingest.sync.jobs.ReindexJobs` sees to that."""

    def __init__(
        self,
        *,
        index: VectorIndex,
        embedder: Embedder,
        lexical: LexicalEncoder,
        sources: Callable[[], Sequence[Source]],
        clock: Clock,
        reader: Reader | None = None,
        forgotten: ForgottenPages | None = None,
        golden: GoldenQuestions | None = None,
        page_jobs: PageJobQueue | None = None,
        calibrator: Calibrator | None = None,
    ) -> None:
        self._index = index
        self._forgotten = forgotten or InMemoryForgotten()
        self._golden = golden
        self._page_jobs = page_jobs
        self._calibrator = calibrator
        self._pipeline = PagePipeline(embedder=embedder, lexical=lexical, reader=reader)
        self._list_sources = sources
        self._clock = clock

    @property
    def _sources(self) -> Mapping[str, Source]:
        """Returns the sources by name. Asked for at every run: a folder may be added while the bot runs."""
        return {source.name: source for source in self._list_sources()}

    @property
    def source_names(self) -> list[str]:
        return list(self._sources)

    async def run(
        self,
        *,
        full: bool = False,
        source: str | None = None,
        force: bool = False,
        dry_run: bool = False,
        on_progress: OnProgress | None = None,
    ) -> SyncReport:
        """Sweeps once over all sources, or over one, and returns the diff that it made.

        `full` reads every page anew: over all sources it builds a new index beside the live one; over one source it
        replaces that source's pages in place. An index with another manifest is rebuilt from all sources, asked or not.
        `force` overrules what speaks against removing many pages, or against a rebuilt index; `dry_run` only tells what
        would be done.

        Raises:
            SettingsError: there is no such source.
            SyncRefusedError: the result would damage the index, or no source could be listed. The live index stays.
            UnavailableError: the index or the embedder does not answer. The next run makes the index whole.
        """
        stats = SyncStats(clock=self._clock)
        progress = ProgressEstimator(clock=self._clock, listen=on_progress)
        progress.says("reading")
        live = await self._live_pages()
        sweep = Sweep(
            pipeline=self._pipeline,
            live=live,
            forgotten=self._forgotten,
            stats=stats,
            progress=progress,
            look=FirstLook(pipeline=self._pipeline, live=live),
            force=force and not dry_run,
        )
        withdrawing = Withdrawing(sweep)
        try:
            if dry_run:
                await self._plan(self._chosen(source), withdrawing, stats, full=full and source is None)
            else:
                await self._run(sweep, withdrawing, full=full, source=source)
                await self._index.settle()
            await self._name(stats, self._index)
        finally:
            await withdrawing.close()
        return stats.report()

    async def roll_back(self, *, on_progress: OnProgress | None = None) -> SyncReport:
        """Goes back to the generation before the live one; see `ingest.sync.rollback`."""
        stats = SyncStats(clock=self._clock)
        ProgressEstimator(clock=self._clock, listen=on_progress).says("swapping")
        await self._pipeline.ready()
        await roll_back(self._index, manifest=self._pipeline.manifest, forgotten=self._forgotten, stats=stats)
        await self._name(stats, self._index)
        return stats.report()

    async def forget(self, address: str) -> list[PageAddress]:
        """Takes a page out at once, also while a run is under way; see `ingest.sync.forgetting.forget_page`."""
        return await forget_page(address, index=self._index, forgotten=self._forgotten)

    async def remember(self, address: str) -> list[str]:
        """Lets the next run index a forgotten page again; returns the ids."""
        return await remember_page(address, forgotten=self._forgotten)

    async def _plan(
        self, sources: Iterable[Source], withdrawing: Withdrawing, stats: SyncStats, *, full: bool
    ) -> None:
        live, forgotten = await self._index.revisions(), await self._forgotten.ids()
        listings = [listing async for listing in withdrawing.listings(sources)]
        plan(listings, stats, full=full, live=live, forgotten=forgotten)

    async def _run(self, sweep: Sweep, withdrawing: Withdrawing, *, full: bool, source: str | None) -> None:
        chosen = self._chosen(source)
        try:
            await self._pipeline.ready()
        except Exception:  # it is raised again: what is limited or gone does not wait for an embedder
            await withdrawing.update(chosen)
            raise
        if isinstance(sweep.live, NoPages) and source is None:
            logger.error("sync.index_damaged")
            await self._rebuild(sweep, withdrawing, like_live=False)
            return
        made_with = await self._index.manifest()
        if made_with is None:
            async with self._pipeline.warming():
                await self._start_empty()
                await self._update(chosen, sweep, withdrawing, anew=full)
            return
        if made_with != self._pipeline.manifest:
            logger.info(
                "sync.rebuild_needed", extra={"was": str(made_with), "now": str(self._pipeline.manifest)}
            )
            await self._rebuild(sweep, withdrawing, like_live=False)
            return
        if full and source is None:
            await self._rebuild(sweep, withdrawing, like_live=True)
        else:
            await self._update(chosen, sweep, withdrawing, anew=full)

    async def _live_pages(self) -> LivePages:
        """Returns the live index. A damaged one is rebuilt by the next run over all sources, asked or not."""
        try:
            await self._index.manifest()
        except IndexDamagedError:
            return NoPages()
        return self._index

    async def _name(self, stats: SyncStats, pages: LivePages) -> None:
        if stats.unnamed:
            stats.name(await pages.addresses())

    async def _start_empty(self) -> None:
        """Makes an empty index live, to be filled page by page, so that a killed first run is not lost."""
        rebuild = await self._index.begin_rebuild(self._pipeline.manifest)
        await rebuild.swap()

    async def _update(
        self, sources: Iterable[Source], sweep: Sweep, withdrawing: Withdrawing, *, anew: bool
    ) -> None:
        listings = await withdrawing.update(sources)
        work = [
            Work(listing=listing, ref=ref)
            for listing in listings
            for ref in listing.refs.values()
            if anew or not listing.is_unchanged(ref)
        ]
        sweep.stats.unchanged += sum(len(listing.refs) for listing in listings) - len(work)
        await Processing(sweep, self._index).run(work, self._page_jobs)
        await measure_if_due(self._index, self._calibrator)

    async def _rebuild(self, sweep: Sweep, withdrawing: Withdrawing, *, like_live: bool) -> None:
        """Builds a new generation from every source; anything that looks wrong leaves the live one in place.

        `like_live`: both are made with the same embedder, so that the same question can be put to both.
        """
        before = await sweep.live.revisions()
        listings = await withdrawing.update(self._sources.values(), rebuilding=True)
        try:
            concerns = failed_sources(sweep.stats.failed)
            sweep.stats.concerns += concerns
            enforce(concerns, force=sweep.force)
            await self._build(sweep, before, listings, like_live=like_live)
        except SyncRefusedError:  # the new generation is not believed, so neither is what it lacks
            raise
        except BaseException:
            await withdrawing.without_swap(listings)
            raise
        await self._drop_forgotten(self._index)

    async def _build(
        self, sweep: Sweep, before: Mapping[str, str], listings: Sequence[Listing], *, like_live: bool
    ) -> None:
        work = [Work(listing=listing, ref=ref) for listing in listings for ref in listing.refs.values()]
        rebuild = await self._index.begin_rebuild(self._pipeline.manifest)
        try:
            await Processing(sweep, rebuild).run(work, self._page_jobs)
            sweep.progress.says("swapping")
            await self._drop_forgotten(rebuild)
            concerns = await self._concerns(rebuild, before, listings, sweep.stats, like_live=like_live)
            sweep.stats.concerns += concerns
            enforce(concerns, force=sweep.force)
            await self._name(sweep.stats, sweep.live)  # while that has the titles of deleted pages
            await measure(rebuild, self._calibrator, instead=self._index if like_live else None)
            await rebuild.swap()
        except BaseException:  # a cancelled rebuild must not stay behind either
            await rebuild.discard()
            raise

    async def _concerns(
        self,
        rebuild: Rebuild,
        before: Mapping[str, str],
        listings: Sequence[Listing],
        stats: SyncStats,
        *,
        like_live: bool,
    ) -> list[str]:
        """Returns what looks wrong with the new generation; counts what it lacks as removed."""
        on_purpose = {page for listing in listings for page in ids_of(listing, listing.withdrawn)}
        after = await rebuild.revisions()
        gone = missing(before, after, await self._forgotten.ids())
        unread = {failure.path for failure in stats.failed}
        paths = [source_and_path(page)[1] for page in gone]
        stats.removed += [path for path in paths if path not in unread]
        lost = [page for page in gone if page not in on_purpose]
        concerns = mass_loss(lost, before, new=missing(after, before, ()), failed=stats.failed)
        if self._golden is None:
            return concerns
        unfound = await self._golden.lost(rebuild, live=self._index if like_live else None)
        return concerns + lost_questions(unfound)

    def _chosen(self, source: str | None) -> list[Source]:
        if source is None:
            return list(self._sources.values())
        if source not in self._sources:
            raise SettingsError(f"there is no source {source!r}; known: {', '.join(self._sources) or 'none'}")
        return [self._sources[source]]

    async def _drop_forgotten(self, writer: IndexWriter) -> None:
        await writer.delete_pages(sorted(await self._forgotten.ids()))
