"""What a sweep did so far; in the end, its report."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from ingest.pipeline import PreparedPage
from kb.jobs import FailedPage, SyncReport


class Tally:
    def __init__(self, *, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._started_at = clock()
        self._added: list[str] = []
        self._changed: list[str] = []
        self._warned: list[FailedPage] = []
        self._chunks = 0
        self.removed: list[str] = []
        self.failed: list[FailedPage] = []
        self.unchanged = 0
        self.lost = 0
        """Pages of the live index that a rebuild could not read: its swap would take their text away."""

    def indexed(self, page: PreparedPage, *, before: str | None) -> None:
        """Counts a page whose indexed revision was `before`; None: it was not indexed."""
        path = page.page.path
        if before is None:
            self._added.append(path)
        elif before != page.page.revision:
            self._changed.append(path)
        else:
            self.unchanged += 1
        self._chunks += len(page.chunks)
        self._warned += [FailedPage(path=path, reason=note) for note in page.notes]

    def fail(self, path: str, reason: str) -> None:
        self.failed.append(FailedPage(path=path, reason=reason))

    def report(self) -> SyncReport:
        return SyncReport(
            added=sorted(self._added),
            changed=sorted(self._changed),
            removed=sorted(self.removed),
            unchanged=self.unchanged,
            failed=self.failed,
            warned=self._warned,
            chunks=self._chunks,
            seconds=round((self._clock() - self._started_at).total_seconds(), 3),
        )
