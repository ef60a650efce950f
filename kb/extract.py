"""The answer without a language model: the pages' own sentences, quoted to the letter.

Every sentence, list item, table and fence of the best passages is scored against the question; the best ones are
kept, lists and tables whole, in the order of their page, from a few pages at most. It is what Footnote says when no
model is configured and when the model is down.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kb.answer import Draft, DraftSentence
from kb.confidence import Evidence
from kb.models import Turn
from kb.sentences import TextUnit, split_units

PASSAGES = 4
"""Passages that are read sentence by sentence: each costs about as much embedding as the question's own search."""
PAGES = 2
LIST_ITEMS = 14
"""A list up to this long is quoted whole: half of a procedure is worse than none."""
TABLE_ROWS = 12
KEEP_RATIO = 0.86
"""Further sentences must score at least this share of the best one's score."""
COVERAGE_WEIGHT = 0.35
PASSAGE_WEIGHT = 0.25
LEAD_BONUS = 0.04
"""The first sentence of a section usually states what the rest explains."""
QUANTITY_BONUS = 0.10
"""For "how many", "how long", "when": a sentence with a number in it."""

_ASKS_FOR_QUANTITY = re.compile(
    r"\b(?:how (?:many|much|long|often|far|thick|big|old|soon)|when|price|costs?|deadline"
    r"|hoe ?veel|hoe (?:lang|dik|vaak|ver|groot|oud|snel)|wanneer|prijs|kosten?"
    r"|wie ?viele?|wie (?:lange|oft|weit|dick|gro(?:ß|ss)|alt)|wann|preis|kosten)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Quotable:
    """A piece of a passage that can be quoted on its own: one sentence, or a whole list, table or fence.

    `parts` are the units it is made of; a list's introducing sentence is one of them. `passage` and `order` say where
    it stands: the index of the passage among the evidence and the position within it.
    """

    passage: int
    order: int
    parts: tuple[TextUnit, ...]
    score: float = 0.0

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.parts)

    @property
    def is_list(self) -> bool:
        return any(part.kind == "item" for part in self.parts)


class ExtractiveDrafter:
    """Needs the embedder (`embed`: texts -> unit vectors, shape (n, d)) and the share of the question's words in a text."""

    def __init__(
        self,
        *,
        embed: Callable[[Sequence[str]], Awaitable[np.ndarray]],
        coverage: Callable[[str, str, str], float],
        max_sentences: int,
    ) -> None:
        self._embed = embed
        self._coverage = coverage
        self._max_sentences = max_sentences

    async def draft(
        self,
        question: str,  # noqa: ARG002 - the query is the question, with what the thread adds
        query: str,
        evidence: Evidence,
        turns: Sequence[Turn],  # noqa: ARG002 - see `question`
        *,
        language: str,
    ) -> Draft:
        """Quotes what answers best."""
        quotables = [
            quotable
            for passage, hit in enumerate(evidence.hits[:PASSAGES])
            for quotable in quotables_of(passage, hit.chunk.text)
        ]
        if not quotables:
            return Draft(sentences=(), declined=True)
        scored = await self._score(quotables, query, evidence, language)
        chosen = choose(scored, evidence, max_sentences=self._max_sentences)
        return Draft(sentences=tuple(sentence for one in chosen for sentence in _sentences(one)))

    async def _score(
        self, quotables: Sequence[Quotable], query: str, evidence: Evidence, language: str
    ) -> list[Quotable]:
        texts = [self._in_context(quotable, evidence) for quotable in quotables]
        vectors = await self._embed([query, *texts])
        cosines = vectors[1:] @ vectors[0]
        wants_number = _ASKS_FOR_QUANTITY.search(query) is not None
        return [
            replace(
                quotable,
                score=float(cosine)
                + COVERAGE_WEIGHT * self._coverage(query, text, language)
                + PASSAGE_WEIGHT * evidence.relevance[quotable.passage]
                + (LEAD_BONUS if quotable.order == 0 else 0.0)
                + (QUANTITY_BONUS if wants_number and _NUMBER.search(quotable.text) else 0.0),
            )
            for quotable, text, cosine in zip(quotables, texts, np.asarray(cosines), strict=True)
        ]

    @staticmethod
    def _in_context(quotable: Quotable, evidence: Evidence) -> str:
        """The piece behind the heading it stands under: "Carry-over: On 31 March of the following year."."""
        chunk = evidence.hits[quotable.passage].chunk
        heading = chunk.section[-1] if chunk.section else chunk.page.title
        return f"{heading}: {quotable.text}"


def quotables_of(passage: int, text: str) -> list[Quotable]:
    """What of a passage can be quoted: sentences one by one; lists, tables and fences whole while they are short."""
    units = [unit for unit in split_units(text) if unit.kind != "heading"]
    pieces: list[list[TextUnit]] = []
    for unit in units:
        if pieces and _continues(pieces[-1], unit):
            pieces[-1].append(unit)
        else:
            pieces.append([unit])
    return [
        Quotable(passage=passage, order=order, parts=part)
        for order, part in enumerate(short for piece in pieces for short in _shortened(piece))
    ]


def choose(scored: Sequence[Quotable], evidence: Evidence, *, max_sentences: int) -> list[Quotable]:
    """The best pieces, best first until the budget is spent, then in the order of their pages."""
    ranked = sorted(scored, key=lambda one: -one.score)
    best = ranked[0]
    kept: list[Quotable] = []
    pages: list[str] = []
    budget = max_sentences
    for one in ranked:
        page = evidence.hits[one.passage].chunk.page.id
        if one.score < KEEP_RATIO * best.score or budget <= 0:
            break
        if (page not in pages and len(pages) == PAGES) or _repeats(one, kept):
            continue
        if one is not best and len(one.parts) > budget:
            continue
        kept.append(one)
        pages.append(page)
        budget -= len(one.parts)
    page_order = {page: at for at, page in reversed(list(enumerate(pages)))}
    return sorted(
        kept,
        key=lambda one: (page_order[evidence.hits[one.passage].chunk.page.id], one.passage, one.order),
    )


def _continues(piece: Sequence[TextUnit], unit: TextUnit) -> bool:
    last = piece[-1]
    if unit.kind == "item":
        return last.kind == "item" or last.text.rstrip().endswith(":")
    if unit.kind == "row":
        return last.kind == "row"
    return unit.kind == "fence" and last.text.rstrip().endswith(":")


def _shortened(piece: Sequence[TextUnit]) -> list[tuple[TextUnit, ...]]:
    """The piece whole, or, where a list or table is too long to quote whole, its items (with the head of the table)."""
    items = [unit for unit in piece if unit.kind == "item"]
    rows = [unit for unit in piece if unit.kind == "row"]
    if len(items) > LIST_ITEMS:
        intro = [unit for unit in piece if unit.kind != "item"]
        return [tuple(intro), *[(item,) for item in items]] if intro else [(item,) for item in items]
    if len(rows) > TABLE_ROWS:
        return [(rows[0], row) for row in rows[1:]]
    return [tuple(piece)]


def _repeats(one: Quotable, kept: Sequence[Quotable]) -> bool:
    said = _words(one.text)
    return any(said <= _words(other.text) or _words(other.text) <= said for other in kept)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _sentences(one: Quotable) -> list[DraftSentence]:
    """One sentence a unit, a table as one: its rows mean nothing alone."""
    if any(part.kind == "row" for part in one.parts):
        return [DraftSentence(text=one.text, hits=(one.passage,), quotes=(one.text,))]
    return [DraftSentence(text=part.text, hits=(one.passage,), quotes=(part.text,)) for part in one.parts]
