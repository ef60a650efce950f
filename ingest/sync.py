"""One sweep over the sources: discover, compare, process, delete.

The index itself is the only record of what has been done: it holds every page's revision. So a sweep that was killed
at any moment needs no repair; the next one finds what is missing. Three rules keep text from being lost:

- A page that cannot be read keeps its earlier text, unless its author limited its readers or emptied it.
- Only what a source was seen not to list is deleted. A source that fails, or lists much less than before, deletes
  nothing unless somebody insists (see `ingest.guard`).
- An index of another make (embedder, dimension, chunker) is rebuilt beside the live one and swapped in when whole.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence

from ingest.calibrating import Calibrator, measure, measure_if_due
from ingest.crew.coordinator import Crew
from ingest.errors import SourceUnavailableError, SyncRefusedError
from ingest.forgetting import forget_page, remember_page
from ingest.guard import Golden, advice, failed_sources, heed, lost_questions, mass_loss, missing
from ingest.listing import Listing, Work, ids_of, listing_of
from ingest.parsers.reader import Reader
from ingest.pipeline import DetectLanguage, Embedder, Lexical, PagePipeline, source_and_path
from ingest.plan import plan
from ingest.processing import Processing
from ingest.progress import OnProgress, Pace
from ingest.rollback import roll_back
from ingest.sources.port import Source
from ingest.tally import Tally
from kb.forgotten import ForgottenPages, InMemoryForgotten
from kb.freshness import Clock
from kb.index.port import IndexWriter, PageAddress, Rebuild, VectorIndex
from kb.jobs import SyncReport

logger = logging.getLogger(__name__)


class Sync:
    """Keeps an index equal to its sources. Its runs must not overlap: `ingest.jobs.ReindexJobs` sees to that."""

    def __init__(
        self,
        *,
        index: VectorIndex,
        embedder: Embedder,
        lexical: Lexical,
        detect_language: DetectLanguage,
        sources: Callable[[], Sequence[Source]],
        clock: Clock,
        reader: Reader | None = None,
        forgotten: ForgottenPages | None = None,
        golden: Golden | None = None,
        crew: Crew | None = None,
        calibrator: Calibrator | None = None,
    ) -> None:
        self._index = index
        self._forgotten = forgotten or InMemoryForgotten()
        self._golden = golden
        self._crew = crew or Crew()
        self._calibrator = calibrator
        self._pipeline = PagePipeline(
            embedder=embedder, lexical=lexical, detect_language=detect_language, reader=reader
        )
        self._list_sources = sources
        self._clock = clock
        self._listed: list[Source] = []

    @property
    def _sources(self) -> Mapping[str, Source]:
        """By name. Asked for at every run: a folder may be added while the bot runs."""
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
        replaces that source's pages in place. An index of another make is rebuilt from all sources, asked or not.
        `force` overrules what speaks against removing many pages, or against a rebuilt index; `dry_run` only tells what
        would be done.

        Raises:
            SyncRefusedError: the result would damage the index, or no source could be listed. The live index stays.
            UnavailableError: the index or the embedder does not answer. The next run makes the index whole.
        """
        tally = Tally(clock=self._clock)
        pace = Pace(clock=self._clock, listen=on_progress)
        pace.says("reading")
        try:
            if dry_run:
                await self._plan(self._chosen(source), tally, full=full and source is None)
            else:
                await self._sweep(tally, pace, full=full, source=source, force=force)
            await self._name(tally)
        finally:
            while self._listed:
                await self._listed.pop().close()
        return tally.report()

    async def roll_back(self, *, on_progress: OnProgress | None = None) -> SyncReport:
        """Goes back to the generation before the live one; see `ingest.rollback`."""
        tally = Tally(clock=self._clock)
        Pace(clock=self._clock, listen=on_progress).says("swapping")
        await self._pipeline.ready()
        await roll_back(self._index, manifest=self._pipeline.manifest, forgotten=self._forgotten, tally=tally)
        await self._name(tally)
        return tally.report()

    async def forget(self, address: str) -> list[PageAddress]:
        """Takes a page out at once, also while a run is under way; see `ingest.forgetting.forget_page`."""
        return await forget_page(address, index=self._index, forgotten=self._forgotten)

    async def remember(self, address: str) -> list[str]:
        """Lets the next run index a forgotten page again; the ids."""
        return await remember_page(address, forgotten=self._forgotten)

    async def _plan(self, sources: Iterable[Source], tally: Tally, *, full: bool) -> None:
        live, forgotten = await self._index.revisions(), await self._forgotten.ids()
        plan(await self._listings(sources, tally), tally, full=full, live=live, forgotten=forgotten)

    async def _sweep(self, tally: Tally, pace: Pace, *, full: bool, source: str | None, force: bool) -> None:
        await self._pipeline.ready()
        made_with = await self._index.manifest()
        if made_with is None:
            await self._start_empty()
        elif made_with != self._pipeline.manifest:
            logger.info(
                "sync.rebuild_needed", extra={"was": str(made_with), "now": str(self._pipeline.manifest)}
            )
            await self._rebuild(tally, pace, force=force, like_live=False)
            return
        if full and source is None and made_with is not None:
            await self._rebuild(tally, pace, force=force, like_live=True)
        else:
            await self._update(self._chosen(source), tally, pace, anew=full, force=force)

    async def _name(self, tally: Tally) -> None:
        if tally.unnamed:
            tally.name(await self._index.addresses())

    async def _start_empty(self) -> None:
        """An index that holds nothing is filled page by page, so that a killed first run is not lost."""
        rebuild = await self._index.begin_rebuild(self._pipeline.manifest)
        await rebuild.swap()

    async def _update(
        self, sources: Iterable[Source], tally: Tally, pace: Pace, *, anew: bool, force: bool
    ) -> None:
        listings = await self._listings(sources, tally, force=force)
        gone = [(listing, _removable(listing, tally, force=force)) for listing in listings]
        if any(paths for _, paths in gone):
            tally.removed += [path for _, paths in gone for path in paths]
            await self._name(tally)  # while the index still knows their titles
        for listing, paths in gone:
            await self._index.delete_pages(ids_of(listing, paths))
            await self._index.delete_pages(ids_of(listing, listing.exposed))
        work = [
            Work(listing=listing, ref=ref)
            for listing in listings
            for ref in listing.refs.values()
            if anew or not listing.is_unchanged(ref)
        ]
        tally.unchanged += sum(len(listing.refs) for listing in listings) - len(work)
        await self._process(work, self._index, tally, pace, force=force)
        await measure_if_due(self._index, self._calibrator)

    async def _rebuild(self, tally: Tally, pace: Pace, *, force: bool, like_live: bool) -> None:
        """Builds a new generation from every source; anything that looks wrong leaves the live one in place.

        `like_live`: both are made with the same embedder, so that the same question can be put to both.
        """
        before = await self._index.revisions()
        listings = await self._listings(self._sources.values(), tally, force=force)
        heed(failed_sources(tally.failed), tally, force=force)
        work = [Work(listing=listing, ref=ref) for listing in listings for ref in listing.refs.values()]
        for listing in listings:
            await self._index.delete_pages(ids_of(listing, listing.exposed))
        rebuild = await self._index.begin_rebuild(self._pipeline.manifest)
        try:
            await self._process(work, rebuild, tally, pace, force=force)
            pace.says("swapping")
            await self._drop_forgotten(rebuild)
            doubts = await self._doubts(rebuild, before, listings, tally, like_live=like_live)
            heed(doubts, tally, force=force)
            await self._name(tally)  # while the live index still knows the titles of what goes
            await measure(rebuild, self._calibrator, instead=self._index if like_live else None)
            await rebuild.swap()
        except BaseException:  # a cancelled rebuild must not stay behind either
            await rebuild.discard()
            raise
        await self._drop_forgotten(self._index)

    async def _doubts(
        self,
        rebuild: Rebuild,
        before: Mapping[str, str],
        listings: Sequence[Listing],
        tally: Tally,
        *,
        like_live: bool,
    ) -> list[str]:
        """What looks wrong with the new generation; tallies what it lacks as removed."""
        on_purpose = {page for listing in listings for page in ids_of(listing, listing.withdrawn)}
        after = await rebuild.revisions()
        gone = missing(before, after, await self._forgotten.ids())
        unread = {failure.path for failure in tally.failed}
        paths = [source_and_path(page)[1] for page in gone]
        tally.removed += [path for path in paths if path not in unread]
        lost = [page for page in gone if page not in on_purpose]
        doubts = mass_loss(lost, before, new=missing(after, before, ()), failed=tally.failed)
        if self._golden is None:
            return doubts
        unfound = await self._golden.lost(rebuild, live=self._index if like_live else None)
        return doubts + lost_questions(unfound)

    def _chosen(self, source: str | None) -> list[Source]:
        if source is None:
            return list(self._sources.values())
        if source not in self._sources:
            raise SyncRefusedError(
                f"there is no source {source!r}; known: {', '.join(self._sources) or 'none'}"
            )
        return [self._sources[source]]

    async def _listings(
        self, sources: Iterable[Source], tally: Tally, *, force: bool = False
    ) -> list[Listing]:
        """What each source lists. One that cannot be listed, or lists nothing, is tallied as failed; when none is left,
        the sync ends.
        """
        revisions, forgotten = await self._index.revisions(), await self._forgotten.ids()
        listings = []
        for source in sources:
            self._listed.append(source)
            try:
                listings.append(await listing_of(source, revisions, forgotten, force=force))
            except SourceUnavailableError as error:
                logger.warning("source.unavailable", extra={"source": source.name, "error": str(error)})
                tally.fail(source.name, str(error))
        if tally.failed and not listings:
            raise SyncRefusedError("; ".join(failure.reason for failure in tally.failed))
        return listings

    async def _process(
        self, work: Sequence[Work], writer: IndexWriter, tally: Tally, pace: Pace, *, force: bool
    ) -> None:
        processing = Processing(
            pipeline=self._pipeline,
            live=self._index,
            writer=writer,
            forgotten=self._forgotten,
            tally=tally,
            pace=pace,
            force=force,
        )
        await processing.run(work, self._crew)

    async def _drop_forgotten(self, writer: IndexWriter) -> None:
        await writer.delete_pages(sorted(await self._forgotten.ids()))


def _removable(listing: Listing, tally: Tally, *, force: bool) -> list[str]:
    """Which of a source's vanished pages go. Where that many do not go by themselves, that is a failure of the source."""
    if listing.loss is None:
        return listing.vanished
    if force:
        tally.doubts.append(listing.loss)
        return listing.vanished
    reason = f"{listing.loss}: {advice(listing.source.name)}"
    logger.warning("source.removals_held", extra={"source": listing.source.name, "reason": reason})
    tally.fail(listing.source.name, reason)
    return listing.withdrawn
