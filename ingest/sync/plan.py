"""What a sync would do, from the listings alone: no page is read and nothing is written."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ingest.listing import Listing, ids_of
from ingest.swap_checks import failed_sources, mass_loss, missing
from ingest.sync.sync_stats import SyncStats

UNREAD = "it cannot be listed; a sync says why"


def plan(
    listings: Sequence[Listing],
    stats: SyncStats,
    *,
    full: bool,
    live: Collection[str],
    forgotten: Collection[str] = (),
) -> None:
    """Tallies every page as it would be told after a sync, and what would refuse the removals or a rebuild.

    A full run reads all pages again; those whose revision is the same are told as unchanged, as after the run.
    `live`: ids of the pages in the live index.
    """
    failed_to_list = list(stats.failed)
    for listing in listings:
        for path, ref in listing.refs.items():
            if ref.revision is None:
                stats.fail(path, UNREAD, title=ref.title)
            else:
                stats.expects(path, before=listing.indexed.get(path), unchanged=listing.is_unchanged(ref))
        stats.removed += listing.deleted
        if listing.loss and not full:
            stats.concerns.append(f"{listing.loss}: they go only with --force")
    if full:
        after = {
            page for listing in listings for page in ids_of(listing, [*listing.refs, *listing.withdrawn])
        }
        gone = missing(live, after, forgotten)
        loss = mass_loss(gone, live, new=missing(after, live, ()), failed=stats.failed)
        stats.concerns += failed_sources(failed_to_list) + loss
    stats.dry_run = True
