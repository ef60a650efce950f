"""Resolves what the pages disagree on, after the answer is drafted and checked and before it is shown.

Where a current page says otherwise than the outdated one that the answer rests on, the current one is quoted instead.
Where two pages that nobody calls outdated disagree, both are quoted, the newer one first. The same for every answerer:
it is the pages' own sentences that are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from kb.answer import AnswerWarning, Citation, Sentence
from kb.citations import DraftSentence
from kb.conflicts.statements import Dispute, Similarity, Statement, find_disputes
from kb.models import Chunk, Page
from kb.pages.freshness import FreshnessPolicy
from kb.pages.labels import page_labels
from kb.text.sentences import TextUnit, split_units
from kb.text.wording import plain

CONFLICT_PASSAGES = 12
"""Passages that are read for what they say against the answer."""
MOST_STATEMENTS = 4
"""Statements of one dispute that are shown; beyond that the pages need an editor, not a reader."""

Disputed = tuple[Chunk, Chunk]
"""Two passages whose statements disagree, the newer page's first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolution:
    sentences: tuple[DraftSentence, ...]
    disputed: tuple[Disputed, ...] = ()


class Sides:
    """What is shown in place of a disputed statement. `disputed` collects the pairs that are shown."""

    def __init__(self, disputes: Sequence[Dispute], stale: Callable[[Page], bool]) -> None:
        self._stale = stale
        self._against: dict[tuple[str, str], list[Statement]] = {}
        for dispute in disputes:
            self._against.setdefault(_key(dispute.stated), []).append(dispute.other)
        self.disputed: list[Disputed] = []

    def of(self, stated: Statement) -> list[Statement]:
        """Returns the statements that go in its place, newest first; empty where it stands undisputed."""
        others = self._against.get(_key(stated), [])
        current = [other for other in others if not self._stale(other.chunk.page)]
        if self._stale(stated.chunk.page):
            return sorted(current, key=_newest)[:MOST_STATEMENTS] or self._both(stated, others)
        return self._both(stated, current)

    def _both(self, stated: Statement, others: Sequence[Statement]) -> list[Statement]:
        if not others:
            return []
        sides = sorted([stated, *others], key=_newest)[:MOST_STATEMENTS]
        self.disputed.extend((sides[0].chunk, older.chunk) for older in sides[1:])
        return sides


async def resolve_conflicts(
    sentences: Sequence[DraftSentence],
    passages: Sequence[Chunk],
    *,
    freshness: FreshnessPolicy,
    similarity: Similarity | None,
) -> Resolution:
    """Replaces what is disputed. `passages` holds what `sentences` cite, and further ones."""
    chunks = {chunk.id: chunk for chunk in passages}
    stated = [statement for sentence in sentences for statement in _stated(sentence, chunks)]
    disputes = await find_disputes(stated, passages, similarity=similarity)
    if not disputes:
        return Resolution(sentences=tuple(sentences))
    return _Replacing(chunks, freshness, disputes).replaced(sentences)


def _stated(sentence: DraftSentence, passages: Mapping[str, Chunk]) -> list[Statement]:
    """Returns the page's sentences behind one of the answer's."""
    return [
        Statement(chunk=passages[chunk_id], text=unit.text)
        for chunk_id, quote in zip(sentence.cites, sentence.quotes, strict=True)
        for unit in _units(quote)
    ]


def _units(quote: str) -> list[TextUnit]:
    return [unit for unit in split_units(quote) if unit.kind in ("sentence", "item", "row", "quote")]


class _Replacing:
    def __init__(
        self, passages: Mapping[str, Chunk], freshness: FreshnessPolicy, disputes: Sequence[Dispute]
    ) -> None:
        self._passages = passages
        self._freshness = freshness
        self._sides = Sides(disputes, freshness.is_stale)
        self._shown: set[tuple[str, str]] = set()

    def replaced(self, sentences: Sequence[DraftSentence]) -> Resolution:
        kept: list[DraftSentence] = []
        for sentence in sentences:
            sides_of_each = [self._sides.of(statement) for statement in _stated(sentence, self._passages)]
            sides = next(filter(None, sides_of_each), [])
            if not sides:
                if not self._repeats(sentence):
                    kept.append(sentence)
                continue
            kept.extend(self._quoted(sides, as_items=len(sides) > 1 or _is_item(sentence)))
            if len(sides_of_each) > 1 and not self._rests_on_stale_pages(sentence):
                kept.append(sentence)  # the other rows of a table, the rest of a paragraph
        return Resolution(sentences=tuple(kept), disputed=tuple(dict.fromkeys(self._sides.disputed)))

    def _quoted(self, sides: Sequence[Statement], *, as_items: bool) -> list[DraftSentence]:
        fresh = [side for side in sides if _key(side) not in self._shown]
        self._shown.update(map(_key, fresh))
        return [
            DraftSentence(
                text=f"- {side.words}" if as_items else side.words,
                cites=(side.chunk.id,),
                quotes=(side.text,),
            )
            for side in fresh
        ]

    def _repeats(self, sentence: DraftSentence) -> bool:
        stated = _stated(sentence, self._passages)
        return bool(stated) and all(_key(statement) in self._shown for statement in stated)

    def _rests_on_stale_pages(self, sentence: DraftSentence) -> bool:
        return all(self._freshness.is_stale(self._passages[chunk_id].page) for chunk_id in sentence.cites)


def warnings_of(
    sentences: Sequence[Sentence],
    citations: Sequence[Citation],
    disputed: Sequence[Disputed],
    freshness: FreshnessPolicy,
) -> tuple[AnswerWarning, ...]:
    """Returns the conflicts, then a warning for each cited page that deserves one, those of the answer's base first."""
    pages = {citation.chunk.page.id: citation.chunk.page for citation in citations}
    carrying = _carrying(sentences, citations)
    warnings = [
        replace(warning, carries=page.id in carrying)
        for page in pages.values()
        if (warning := freshness.warn(page))
    ]
    numbers = {citation.chunk.id: citation.n for citation in citations}
    conflicts = [
        _conflict(newer, older, numbers)
        for newer, older in disputed
        if {newer.id, older.id} <= numbers.keys()
    ]
    return (*conflicts, *sorted(warnings, key=lambda warning: not warning.carries))


def _carrying(sentences: Sequence[Sentence], citations: Sequence[Citation]) -> set[str]:
    """Returns the pages that at least half of the cited sentences rest on."""
    page_of = {citation.n: citation.chunk.page.id for citation in citations}
    cited = [{page_of[n] for n in sentence.citations} for sentence in sentences if sentence.citations]
    return {page for page in page_of.values() if 2 * sum(page in pages for pages in cited) >= len(cited)}


def _conflict(new: Chunk, old: Chunk, numbers: dict[str, int]) -> AnswerWarning:
    day = old.page.dates.reviewed or old.page.dates.edited
    called = page_labels([new.page, old.page])
    newer, older = (f"{called[page.id]} ({_last_change(page)})" for page in (new.page, old.page))
    return AnswerWarning(
        kind="conflict",
        reason="conflict",
        page=old.page,
        date=day,
        text=f"{newer} and {older} disagree.",
        carries=True,
        disputed=(numbers[new.id], numbers[old.id]),
    )


def _last_change(page: Page) -> str:
    if page.dates.reviewed:
        return f"reviewed {page.dates.reviewed:%-d %B %Y}"
    return f"edited {page.dates.edited:%-d %B %Y}" if page.dates.edited else "no date"


def _dated(page: Page) -> date:
    return page.dates.reviewed or page.dates.edited or date.min


def _newest(statement: Statement) -> tuple[int, str]:
    return -_dated(statement.chunk.page).toordinal(), statement.chunk.page.id


def _key(statement: Statement) -> tuple[str, str]:
    return statement.chunk.id, " ".join(plain(statement.text).split())


def _is_item(sentence: DraftSentence) -> bool:
    return any(unit.kind == "item" for unit in split_units(sentence.text))
