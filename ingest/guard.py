"""Whether a rebuilt index may go live: what looks wrong with it, in words for an admin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from ingest.errors import SyncRefusedError
from ingest.pipeline import source_and_path
from kb.index.port import Searchable
from kb.jobs import FailedPage

MASS_LOSS = 0.2
"""Share of the live index's pages that a rebuild may lack before it is refused."""
FEW_PAGES = 3
"""So many may always go: in a small index one page is a large share."""
NAMED = 3
"""Golden questions that are named; the rest is counted."""


class Asked(Protocol):
    @property
    def question(self) -> str: ...
    @property
    def page(self) -> str: ...


class Golden(Protocol):
    """What this needs of `kb.golden.GoldenQuestions`."""

    async def lost(self, new: Searchable, *, live: Searchable | None) -> Sequence[Asked]: ...


class Doubted(Protocol):
    """`ingest.tally.Tally`, as this uses it."""

    doubts: list[str]


def heed(doubts: Sequence[str], tally: Doubted, *, force: bool) -> None:
    """
    Raises:
        SyncRefusedError: there are doubts and nobody insists.
    """
    tally.doubts += doubts
    if doubts and not force:
        raise SyncRefusedError("; ".join(doubts))


def failed_sources(failed: Sequence[FailedPage]) -> list[str]:
    """`failed`: what could not be listed."""
    return [f"source {one.path} failed ({one.reason})" for one in failed]


def missing(before: Iterable[str], after: Collection[str], forgotten: Collection[str]) -> list[str]:
    """Ids of pages that the new index lacks, without those that were taken out by hand."""
    return [page for page in before if page not in after and page not in forgotten]


def mass_loss(gone: Sequence[str], before: int, *, failed: Sequence[FailedPage]) -> list[str]:
    """`gone`: ids of pages that the new index lacks; `before`: how many the live one has."""
    if len(gone) <= max(FEW_PAGES, MASS_LOSS * before):
        return []
    by_source = Counter(source_and_path(page)[0] for page in gone)
    told = ", ".join(f"{number} of {name}" for name, number in by_source.most_common())
    first = f"; first that could not be read: {failed[0].path}: {failed[0].reason}" if failed else ""
    return [f"{len(gone)} of {before} indexed pages would be gone ({told}){first}"]


def lost_questions(lost: Sequence[Asked]) -> list[str]:
    if not lost:
        return []
    named = "; ".join(f"{one.question!r} no longer finds {one.page}" for one in lost[:NAMED])
    more = f"; and {len(lost) - NAMED} more" if len(lost) > NAMED else ""
    return [f"golden questions: {named}{more}"]
