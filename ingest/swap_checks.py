"""Decides whether the result of a sync is credible, and words its concerns for an admin.

A disk that is not mounted, a token that sees less than before or a site under maintenance makes pages disappear from
a listing without deleting them. So a large part of a source is removed only when somebody insists (`--force`), whoever
asked for the sync. Pages that the source itself withdraws (restricted or excluded) are not counted: they go at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from ingest.errors import SyncRefusedError
from ingest.origin import source_and_path
from kb.jobs import FailedPage

if TYPE_CHECKING:
    from kb.retrieval.golden import GoldenQuestion

MASS_LOSS = 0.2
"""Share of the indexed pages, of a source or of all, that may disappear in one sync."""
FEW_PAGES = 3
"""Number of pages that may always disappear: in a small index one page is a large share."""
NAMED = 3
"""Golden questions that are named; the rest is counted."""


def enforce(concerns: Sequence[str], *, force: bool) -> None:
    """Stops a sync that raises concerns.

    Raises:
        SyncRefusedError: there are concerns and nobody insists.
    """
    if concerns and not force:
        raise SyncRefusedError("; ".join(concerns))


def failed_sources(failed: Sequence[FailedPage]) -> list[str]:
    """Words the sources that could not be listed."""
    return [f"source {failure.path} failed ({failure.reason})" for failure in failed]


def missing(before: Iterable[str], after: Collection[str], forgotten: Collection[str]) -> list[str]:
    """Returns the ids of pages that the new index lacks, without those that were forgotten by hand."""
    return [page for page in before if page not in after and page not in forgotten]


def source_loss(name: str, *, lost: int, indexed: int, listed: int, new: int = 0) -> str | None:
    """Tells why pages that a source no longer lists must stay indexed; None where they may be removed.

    Args:
        lost: pages that are no longer listed.
        indexed: pages of the source in the index.
        listed: pages that the source lists now, of which `new` are not indexed. A source that lists a new page for each
            lost one was reorganized; one that is away or closed lists no new pages.
    """
    if lost and not listed:
        return f"source {name!r} lists no page, but {indexed} of its pages are indexed"
    if new < lost and _is_much(lost, indexed):
        return f"{lost} of the {indexed} indexed pages of source {name!r} would be gone"
    return None


def advice(name: str) -> str:
    """Tells an admin what to do about a `source_loss`."""
    return (
        "nothing of it is removed. Look whether it can be read whole (its disk, its token, the site); "
        f"where these pages are meant to go, reindex {name} with --force"
    )


def mass_loss(
    gone: Sequence[str], before: Collection[str], *, new: Iterable[str], failed: Sequence[FailedPage]
) -> list[str]:
    """Words the losses that are too large to be credible, of all sources together or of single ones.

    Args:
        gone: ids of pages that the new index lacks.
        before: ids of pages in the live index.
        new: ids of pages that only the new index has.
    """
    added, had, lost = (Counter(source_and_path(page)[0] for page in pages) for pages in (new, before, gone))
    lost = Counter({name: number for name, number in lost.items() if added[name] < number})
    first = f"; first that could not be read: {failed[0].path}: {failed[0].reason}" if failed else ""
    if _is_much(lost.total(), len(before)):
        by_source = ", ".join(f"{number} of {name}" for name, number in lost.most_common())
        return [f"{lost.total()} of {len(before)} indexed pages would be gone ({by_source}){first}"]
    return [
        f"{number} of the {had[name]} indexed pages of source {name!r} would be gone{first}"
        for name, number in lost.most_common()
        if _is_much(number, had[name])
    ]


def lost_questions(lost: Sequence[GoldenQuestion]) -> list[str]:
    """Words the golden questions that no longer find their page."""
    if not lost:
        return []
    named = "; ".join(f"{question.question!r} no longer finds {question.page}" for question in lost[:NAMED])
    more = f"; and {len(lost) - NAMED} more" if len(lost) > NAMED else ""
    return [f"golden questions: {named}{more}"]


def _is_much(gone: int, before: int) -> bool:
    return gone > max(FEW_PAGES, MASS_LOSS * before)
