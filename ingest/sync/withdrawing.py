"""Lists the sources, and takes out of the live index what has to go: at once, before anything that may fail."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable

from ingest.errors import SourceUnavailableError, SyncRefusedError
from ingest.faults import as_source_failure
from ingest.listing import Listing, ids_of, indexed_of, listing_of
from ingest.sources.port import Source
from ingest.swap_checks import advice
from ingest.sync.sweep import Sweep
from kb.runtime.tracing import span

logger = logging.getLogger(__name__)


class Withdrawing:
    """Lists the sources of one sweep, and takes out what must not wait."""

    def __init__(self, sweep: Sweep) -> None:
        self._sweep = sweep
        self._live, self._stats = sweep.live, sweep.stats
        self._asked: list[Source] = []

    async def listings(self, sources: Iterable[Source], *, limit: bool = False) -> AsyncIterator[Listing]:
        """Yields what each source lists. One that cannot be listed, or lists nothing, is counted as failed.

        `limit`: first of all, what sources of fewer readers than before have in the live index leaves it.
        That needs no listing.

        Raises:
            SyncRefusedError: no source is left.
        """
        revisions, forgotten = await self._live.revisions(), await self._sweep.forgotten.ids()
        sources, listed = list(sources), 0
        if limit:
            for source in sources:
                had = Listing(source=source, refs={}, indexed=indexed_of(source, revisions))
                await self._live.delete_pages(ids_of(had, had.acl_changed))
        for source in sources:
            self._asked.append(source)
            try:
                with span("list", source=source.name):
                    listing = await listing_of(source, revisions, forgotten, force=self._sweep.force)
            except SourceUnavailableError as error:
                logger.warning("source.unavailable", extra={"source": source.name, "error": str(error)})
                self._stats.fail(source.name, str(error))
            else:
                listed += 1
                yield listing
        if self._stats.failed and not listed:
            raise SyncRefusedError("; ".join(failure.reason for failure in self._stats.failed))

    async def update(self, sources: Iterable[Source], *, rebuilding: bool = False) -> list[Listing]:
        """Returns the listings, once what is gone, limited or emptied has left the live index, source by source.

        `rebuilding`: a new generation is built. What is merely gone goes with the swap then, or by `without_swap`.
        """
        listings = []
        async for listing in self.listings(sources, limit=True):
            if not rebuilding:
                await self._remove(listing)
            await self._sweep.look.withdraw(listing)
            listings.append(listing)
        return listings

    async def without_swap(self, listings: Iterable[Listing]) -> None:
        """Removes what is gone from the live index, where the new generation comes to nothing.

        It must not stay there until another one is whole.
        """
        for listing in listings:
            gone = listing.withdrawn if listing.loss else listing.deleted
            await self._live.delete_pages(ids_of(listing, gone))

    async def close(self) -> None:
        """Closes the sources. A connection that breaks while it is closed changes nothing of what was done."""
        while self._asked:
            source = self._asked.pop()
            try:
                with as_source_failure(source.name):
                    await source.close()
            except SourceUnavailableError as error:
                logger.warning("source.not_closed", extra={"source": source.name, "error": str(error)})

    async def _remove(self, listing: Listing) -> None:
        gone = self._removable(listing)
        if gone:
            self._stats.removed += gone
            self._stats.name(await self._live.addresses())  # while the index still has their titles
        await self._live.delete_pages(ids_of(listing, gone))

    def _removable(self, listing: Listing) -> list[str]:
        """Returns the deleted pages of a source that go. Where they are too many to go, the source has failed."""
        if listing.loss is None:
            return listing.deleted
        if self._sweep.force:
            self._stats.concerns.append(listing.loss)
            return listing.deleted
        reason = f"{listing.loss}: {advice(listing.source.name)}"
        logger.warning("source.removals_held", extra={"source": listing.source.name, "reason": reason})
        self._stats.fail(listing.source.name, reason)
        return listing.withdrawn
