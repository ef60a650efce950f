"""What a sweep did so far; in the end, its report."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from ingest.origin import source_and_path
from ingest.pipeline import PreparedPage
from kb.index.port import PageAddress
from kb.jobs import FailedPage, SyncReport

_TELLING = re.compile(r"[^\W\d_][^/]*\.\w{1,8}/?$")
_ID = re.compile(r"(?:^|/)(?=[^/.]*\d)[A-Za-z0-9_!-]{20,}\.\w{1,8}/?$")
"""A path that ends in a file's name tells a person which page it is; an id does not, with an ending or without."""


def _tells(path: str) -> bool:
    return bool(_TELLING.search(path)) and not _ID.search(path)


class SyncStats:
    def __init__(self, *, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._started_at = clock()
        self._added: list[str] = []
        self._changed: list[str] = []
        self._warned: list[FailedPage] = []
        self._titles: dict[str, str] = {}
        self._chunks = 0
        self.removed: list[str] = []
        self.failed: list[FailedPage] = []
        self.unchanged = 0
        self.concerns: list[str] = []
        """What looked wrong with a rebuilt index, for an admin."""
        self.dry_run = False

    def indexed(self, page: PreparedPage, *, before: str | None) -> None:
        """Counts a page whose indexed revision was `before`; None: it was not indexed."""
        path = page.page.path
        unchanged = before == page.page.revision
        self.expects(path, before=before, unchanged=unchanged)
        if not unchanged:
            self._name(path, page.page.title)
        self._chunks += len(page.chunks)
        self._warned += [FailedPage(path=path, reason=note) for note in page.notes]

    def expects(self, path: str, *, before: str | None, unchanged: bool) -> None:
        if before is None:
            self._added.append(path)
        elif unchanged:
            self.unchanged += 1
        else:
            self._changed.append(path)

    def compare(self, live: Mapping[str, str], after: Mapping[str, str]) -> None:
        """Counts what going from one state of the index to another changes; both are page id -> revision."""
        for page, revision in after.items():
            before = live.get(page)
            self.expects(source_and_path(page)[1], before=before, unchanged=before == revision)
        self.removed += [source_and_path(page)[1] for page in live if page not in after]

    def note(self, path: str, reason: str, *, title: str | None = None) -> None:
        """Records a note about a page that did not fail."""
        self._warned.append(FailedPage(path=path, reason=reason))
        if title:
            self._name(path, title)

    def fail(self, path: str, reason: str, *, title: str | None = None) -> None:
        self.failed.append(FailedPage(path=path, reason=reason))
        if title:
            self._name(path, title)

    @property
    def unnamed(self) -> set[str]:
        """Paths of the report that are mere ids and have no title yet. Added and changed pages bring their own."""
        paths = [*self.removed, *(failure.path for failure in self.failed), *self._added, *self._changed]
        return {path for path in paths if path not in self._titles and not _tells(path)}

    def name(self, pages: Iterable[PageAddress]) -> None:
        """Gives the unnamed paths the titles that they have in the index."""
        wanted = self.unnamed
        for page in pages:
            path = source_and_path(page.page_id)[1]
            if path in wanted:
                self._name(path, page.title)

    def _name(self, path: str, title: str) -> None:
        if not _tells(path):
            self._titles[path] = title

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
            titles=self._titles,
            dry_run=self.dry_run,
            doubts=self.concerns,
        )
