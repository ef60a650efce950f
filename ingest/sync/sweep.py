"""What one run of a sync has for itself, shared by the parts that work on it."""

from __future__ import annotations

from dataclasses import dataclass

from ingest.pipeline import PagePipeline
from ingest.sync.live import LivePages
from ingest.sync.looking import FirstLook
from ingest.sync.progress import ProgressEstimator
from ingest.sync.sync_stats import SyncStats
from kb.store.forgotten import ForgottenPages


@dataclass(frozen=True, kw_only=True, slots=True)
class Sweep:
    """`live`: the index that answers questions. `look`: reads the pages that changed before anything is written.

    `force`: somebody insists on removing many pages, or on a rebuilt index that looks wrong.
    """

    pipeline: PagePipeline
    live: LivePages
    forgotten: ForgottenPages
    stats: SyncStats
    progress: ProgressEstimator
    look: FirstLook
    force: bool
