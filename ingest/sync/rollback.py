"""Goes back to the generation that was live before: nothing is read, and nothing returns that must not be seen."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from ingest.errors import SyncRefusedError
from ingest.sync.sync_stats import SyncStats
from kb.index.port import IndexManifest, VectorIndex
from kb.models import Audience
from kb.store.forgotten import ForgottenPages

logger = logging.getLogger(__name__)

_OUTSIDER = Audience()
"""Readers of what everyone may read, and no more."""


async def roll_back(
    index: VectorIndex, *, manifest: IndexManifest, forgotten: ForgottenPages, stats: SyncStats
) -> None:
    """Swaps the earlier generation in and tallies the difference.

    A page that was forgotten, or limited since, is taken out of it first; a limited one returns with the next sync.

    Raises:
        SyncRefusedError: there is no earlier generation, or it was made with another embedder or chunker.
    """
    earlier = await index.open_previous()
    if earlier is None:
        raise SyncRefusedError("there is no earlier generation to go back to")
    try:
        _check_manifest(await earlier.manifest(), manifest)
        live, kept_out = await index.revisions(), await forgotten.ids()
        limited = await _limited_since(index, live, await earlier.revisions())
        await earlier.delete_pages([*limited, *kept_out])
        old = await earlier.revisions()
        await earlier.swap()
    except BaseException:  # a cancelled one must not keep the folder open either
        await earlier.discard()
        raise
    await index.delete_pages(sorted(await forgotten.ids()))
    logger.info("index.rolled_back", extra={"pages": len(old), "withheld": len(limited)})
    stats.compare(live, old)


async def _limited_since(
    index: VectorIndex, live: Mapping[str, str], earlier: Mapping[str, str]
) -> list[str]:
    """Returns the pages that not everyone may read now and that the earlier generation holds in another form."""
    public = await index.readable(live, audience=_OUTSIDER)
    return [page for page in earlier if page in live and page not in public and live[page] != earlier[page]]


def _check_manifest(made_with: IndexManifest, manifest: IndexManifest) -> None:
    if made_with != manifest:
        raise SyncRefusedError(
            f"the earlier generation was made with {made_with.embedder} ({made_with.chunker}): "
            f"set these again first, or its vectors mean nothing"
        )
