"""Whether what a sync would leave may be believed: what looks wrong with it, in words for an admin.

A disk that is not mounted, a token that sees less than before, a site under maintenance: what they do not
list any more is not deleted. So much of a source at a time goes only when somebody insists (`--force`),
whoever asked for the sync. What the source itself withdraws (its readers were limited, it is excluded) is not
counted: it goes at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from ingest.errors import SyncRefusedError
from ingest.origin import source_and_path
from kb.index.port import Searchable
from kb.jobs import FailedPage

MASS_LOSS = 0.2
"""Share of the indexed pages, of a source or of all, that may be gone at a time."""
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
    """What this needs of `kb.retrieval.golden.GoldenQuestions`."""

    async def lost(self, new: Searchable, *, live: Searchable | None) -> Sequence[Asked]: ...


class HasConcerns(Protocol):
    """`ingest.sync.sync_stats.SyncStats`, as this uses it."""

    concerns: list[str]


def enforce(concerns: Sequence[str], stats: HasConcerns, *, force: bool) -> None:
    """
    Raises:
        SyncRefusedError: there are concerns and nobody insists.
    """
    stats.concerns += concerns
    if concerns and not force:
        raise SyncRefusedError("; ".join(concerns))


def failed_sources(failed: Sequence[FailedPage]) -> list[str]:
    """`failed`: what could not be listed."""
    return [f"source {failure.path} failed ({failure.reason})" for failure in failed]


def missing(before: Iterable[str], after: Collection[str], forgotten: Collection[str]) -> list[str]:
    """Ids of pages that the new index lacks, without those that were taken out by hand."""
    return [page for page in before if page not in after and page not in forgotten]


def source_loss(name: str, *, lost: int, indexed: int, listed: int, new: int = 0) -> str | None:
    """Why a source's pages that it does not list any more are not to be removed; None: they may be.

    `lost`: how many these are; `indexed`: its pages in the index; `listed`: the pages that it lists, `new` of them not
    indexed. A source that lists a new page for each that is gone was put in order: what is away or closed brings none.
    """
    if lost and not listed:
        return f"source {name!r} lists no page, but {indexed} of its pages are indexed"
    if new < lost and _is_much(lost, indexed):
        return f"{lost} of the {indexed} indexed pages of source {name!r} would be gone"
    return None


def advice(name: str) -> str:
    """What to do about a `source_loss`."""
    return (
        "nothing of it is removed. Look whether it can be read whole (its disk, its token, the site); "
        f"where these pages are meant to go, reindex {name} with --force"
    )


def mass_loss(
    gone: Sequence[str], before: Collection[str], *, new: Iterable[str], failed: Sequence[FailedPage]
) -> list[str]:
    """`gone`: ids of pages that the new index lacks; `new`: of those that
    it alone has; `before`: of those in the live one.
    """
    came, had, lost = (Counter(source_and_path(page)[0] for page in pages) for pages in (new, before, gone))
    lost = Counter({name: number for name, number in lost.items() if came[name] < number})
    first = f"; first that could not be read: {failed[0].path}: {failed[0].reason}" if failed else ""
    if _is_much(lost.total(), len(before)):
        by_source = ", ".join(f"{number} of {name}" for name, number in lost.most_common())
        return [f"{lost.total()} of {len(before)} indexed pages would be gone ({by_source}){first}"]
    return [
        f"{number} of the {had[name]} indexed pages of source {name!r} would be gone{first}"
        for name, number in lost.most_common()
        if _is_much(number, had[name])
    ]


def lost_questions(lost: Sequence[Asked]) -> list[str]:
    if not lost:
        return []
    named = "; ".join(f"{question.question!r} no longer finds {question.page}" for question in lost[:NAMED])
    more = f"; and {len(lost) - NAMED} more" if len(lost) > NAMED else ""
    return [f"golden questions: {named}{more}"]


def _is_much(gone: int, before: int) -> bool:
    return gone > max(FEW_PAGES, MASS_LOSS * before)
