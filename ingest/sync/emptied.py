"""Pages that are empty now. One was emptied by its author; many at a
time may be a disk that lost them, known at the end alone.
"""

from __future__ import annotations

from ingest.errors import PageError
from ingest.listing import Work, ids_of
from ingest.swap_checks import advice, source_loss
from ingest.sync.live import LivePages
from ingest.sync.sync_stats import SyncStats

STAYS = " (its earlier text stays in the index)"


class Emptied:
    """One sweep's. `force`: somebody insists that they go."""

    def __init__(self, *, live: LivePages, stats: SyncStats, force: bool) -> None:
        self._live = live
        self._stats = stats
        self._force = force
        self._pages: list[tuple[Work, PageError]] = []

    def holds_back(self, item: Work, error: PageError) -> bool:
        """Whether a page is judged at the end, with the others; else it is a failure as any other."""
        path = item.ref.path
        held = path in item.listing.indexed and path not in item.listing.acl_changed and error.withdraw
        if held:
            self._pages.append((item, error))
        return held

    async def settle(self) -> None:
        for listing in {id(item.listing): item.listing for item, _ in self._pages}.values():
            emptied = [(item.ref, error) for item, error in self._pages if item.listing is listing]
            name, indexed = listing.source.name, len(listing.indexed)
            loss = source_loss(name, lost=len(emptied), indexed=indexed, listed=indexed)
            kept = loss is not None and not self._force
            if loss and kept:
                self._stats.fail(name, f"{loss}, since they are empty now: {advice(name)}")
            elif loss:
                self._stats.concerns.append(loss)
            if not kept:
                await self._live.delete_pages(ids_of(listing, [ref.path for ref, _ in emptied]))
            for ref, error in emptied:
                self._stats.fail(ref.path, f"{error.reason}{STAYS if kept else ''}", title=ref.title)
