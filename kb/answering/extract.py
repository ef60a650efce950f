"""The answer without a language model: the pages' own sentences, quoted to the letter.

Every sentence, list item, table and fence of the best passages is scored against the question; the best ones are
kept, lists and tables whole, in the order of their page, from a few pages at most. It is what Footnote says when no
model is configured and when the model is down.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kb.answering.draft import Draft, DraftSentence
from kb.answering.quotables import Quotable, quotables_of
from kb.confidence import Evidence
from kb.models import Turn
from kb.text.lexicon import Lexicon, lexicon, words_of
from kb.text.sentences import TextUnit

PASSAGES = 4
"""Passages that are read sentence by sentence: each costs about as much embedding as the question's own search."""
PAGES = 2
TABLE_ROWS = 4
"""A table up to this long is quoted whole; of a longer one the head and the rows that answer."""
KEEP_RATIO = 0.93
"""Further sentences must score at least this share of the best one's score."""
COVERAGE_WEIGHT = 0.5
PASSAGE_WEIGHT = 0.9
"""Of the passage's own rank among the evidence: the search has read the whole passage, not one sentence."""
LEAD_BONUS = 0.04
"""The first sentence of a section usually states what the rest explains."""
OVERVIEW_BONUS = 0.15
"""For "what is", "tell me about": the first sentence of a section, most of all of the page."""
QUANTITY_BONUS = 0.10
"""For "how many", "how long", "when": a sentence with a number in it."""
NUMBER_WEIGHT = 0.2
"""For the share of the question's own numbers that a piece or its heading holds."""
OTHER_ITEM_PENALTY = 0.5
"""For a piece about another item of the same series: asked for band 4, a sentence about band 3 is wrong, however like."""
GENERAL_WEIGHT = 0.2
"""For the share of a piece's own words that the question holds: the rule before its special cases."""
DANGLING_PENALTY = 0.2
"""For a sentence whose subject is in the sentence before: "This covers both." says nothing when quoted alone."""
POINTER_PENALTY = 0.2
"""For a piece that is mostly links: further reading answers nothing by itself."""
REMEMBERED_VECTORS = 4096
"""Vectors of sentences kept in memory: 6 MB, the most asked-about hundred pages or so."""

_ASKS_FOR_QUANTITY = re.compile(
    r"\b(?:how (?:many|much|long|often|far|thick|big|old|soon)|when|price|costs?|deadline"
    r"|hoe ?veel|hoe (?:lang|dik|vaak|ver|groot|oud|snel)|wanneer|prijs|kosten?"
    r"|wie ?viele?|wie (?:lange|oft|weit|dick|gro(?:ß|ss)|alt)|wann|preis|kosten)\b",
    re.IGNORECASE,
)
_ASKS_FOR_OVERVIEW = re.compile(
    r"^\W*(?:(?:what|who) (?:is|are|was)|what's|tell me (?:more )?about|explain|describe"
    r"|wat (?:is|zijn)|wie is|vertel|leg uit|was (?:ist|sind)|wer ist|erkläre?)\b",
    re.IGNORECASE,
)
_LINKS = re.compile(r"!?\[[^\]]*\]\([^)]*\)|https?://\S+")
_DIGITS = re.compile(r"\d+")
_ITEM = re.compile(r"\b([^\W\d_]{3,}) (\d+|[A-Z])\b")
"""An item of a series: "Day 6", "Phase C", "band 3"."""
_NUMBER = re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve)\b", re.IGNORECASE)


class SentenceEmbedder(Protocol):
    async def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]: ...

    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


class ExtractiveDrafter:
    """`coverage`: question, text, language -> share of the question's content words in the text, 0..1."""

    def __init__(
        self,
        *,
        embedder: SentenceEmbedder,
        coverage: Callable[[str, str, str], float],
        max_sentences: int,
    ) -> None:
        self._embedder = embedder
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._coverage = coverage
        self._max_sentences = max_sentences

    async def draft(
        self,
        question: str,
        query: str,
        evidence: Evidence,
        turns: Sequence[Turn],  # noqa: ARG002 - the query already carries what the thread adds
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
        scored = await self._score(quotables, question, query, evidence, language)
        chosen = choose(scored, evidence, max_sentences=self._max_sentences)
        return Draft(sentences=tuple(sentence for one in chosen for sentence in _sentences(one)))

    async def _score(
        self, quotables: Sequence[Quotable], question: str, query: str, evidence: Evidence, language: str
    ) -> list[Quotable]:
        """A list or table is as good as its best item: the items are read one by one.

        The words of a follow-up ("what about exchanges?") count as much as the topic that the query adds to them.
        """
        texts = [self._in_context(one, part, evidence) for one in quotables for part in one.parts]
        wanted = (await self._embedder.embed_queries([query]))[0]
        cosines = iter(await self._vectors_of(texts) @ wanted)
        read = iter(texts)
        asks = _Asks(query)
        wordings = dict.fromkeys((query, question))

        def words_in(text: str) -> float:
            shares = [self._coverage(wording, text, language) for wording in wordings]
            named = NUMBER_WEIGHT * asks.numbers_in(text) - OTHER_ITEM_PENALTY * asks.names_another_item(text)
            general = GENERAL_WEIGHT * self._coverage(text, query, language)
            return COVERAGE_WEIGHT * sum(shares) / len(shares) + general + named

        scored = []
        for one in quotables:
            parts = tuple(float(next(cosines)) + words_in(next(read)) for _ in one.parts)
            score = max(parts) + asks.bonus(one, evidence) + PASSAGE_WEIGHT * _standing(one, evidence)
            scored.append(replace(one, score=score, part_scores=parts))
        return scored

    async def _vectors_of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The texts' vectors, the ones of pages that were asked about lately from memory."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if missing:
            self._vectors.update(zip(missing, await self._embedder.embed_documents(missing), strict=True))
        found = np.stack([self._vectors[text] for text in texts])
        for text in texts:
            self._vectors.move_to_end(text)
        while len(self._vectors) > REMEMBERED_VECTORS:
            self._vectors.popitem(last=False)
        return found

    @staticmethod
    def _in_context(one: Quotable, part: TextUnit, evidence: Evidence) -> str:
        """The piece behind the heading it stands under: "Carry-over: On 31 March of the following year."."""
        chunk = evidence.hits[one.passage].chunk
        heading = chunk.section[-1] if chunk.section else chunk.page.title
        if part.kind == "row" and part is not one.parts[0]:
            heading = f"{heading}: {one.parts[0].text}"
        return f"{heading}: {part.text}"


class _Asks:
    """What kind of answer a question looks for."""

    def __init__(self, query: str) -> None:
        self._quantity = _ASKS_FOR_QUANTITY.search(query) is not None
        self._overview = _ASKS_FOR_OVERVIEW.search(query) is not None
        self._numbers = set(_DIGITS.findall(query))
        self._items = [(word.casefold(), number) for word, number in _ITEM.findall(query)]

    def numbers_in(self, text: str) -> float:
        """The share of the question's numbers that the text holds; 0 for a question without any."""
        return len(self._numbers & set(_DIGITS.findall(text))) / len(self._numbers) if self._numbers else 0.0

    def bonus(self, one: Quotable, evidence: Evidence) -> float:
        bonus = 0.0
        if one.order == 0:
            whole_page = not evidence.hits[one.passage].chunk.section
            bonus += LEAD_BONUS + OVERVIEW_BONUS * self._overview * (1.0 if whole_page else 0.6)
        if self._quantity and _NUMBER.search(one.text):
            bonus += QUANTITY_BONUS
        if _dangles(one.text, lexicon(evidence.hits[one.passage].chunk.page.language)):
            bonus -= DANGLING_PENALTY
        if sum(map(len, _LINKS.findall(one.text))) > len(one.text) / 2:
            bonus -= POINTER_PENALTY
        return bonus

    def names_another_item(self, text: str) -> bool:
        found = [(word.casefold(), number) for word, number in _ITEM.findall(text)]
        return any(item not in found and any(word == item[0] for word, _ in found) for item in self._items)


def _dangles(text: str, known: Lexicon) -> bool:
    """Whether it begins with a word that points back ("They ...", "This covers ..."), not with "This policy ..."."""
    first, *following = words_of(text)[:2] or [""]
    reference = known.reference
    if first not in reference.things | reference.people:
        return False
    has_noun = bool(following) and known.is_content(following[0])
    return not (has_noun and first in reference.ambiguous | reference.determiners)


def _standing(one: Quotable, evidence: Evidence) -> float:
    """The passage's final score as a share of the best one's."""
    best = evidence.hits[0].scores.final
    return evidence.hits[one.passage].scores.final / best if best > 0 else 0.0


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


def _repeats(one: Quotable, kept: Sequence[Quotable]) -> bool:
    said = _words(one.text)
    return any(said <= _words(other.text) or _words(other.text) <= said for other in kept)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _sentences(one: Quotable) -> list[DraftSentence]:
    """One sentence a unit, a table as one: its rows mean nothing alone."""
    if any(part.kind == "row" for part in one.parts):
        text = "\n".join(part.text for part in _telling_rows(one))
        return [DraftSentence(text=text, hits=(one.passage,), quotes=(text,))]
    return [
        DraftSentence(text=_flowing(part), hits=(one.passage,), quotes=(part.text,)) for part in one.parts
    ]


def _flowing(part: TextUnit) -> str:
    """A sentence without the line breaks and the mark of a block quote that its page happens to have."""
    if part.kind not in ("sentence", "quote"):
        return part.text
    return " ".join(line.strip().removeprefix("> ") for line in part.text.splitlines())


def _telling_rows(one: Quotable) -> list[TextUnit]:
    """The whole of a short table; of a longer one its head and the rows that come near the best, in their order."""
    if len(one.parts) <= TABLE_ROWS + 1:
        return list(one.parts)
    best = max(one.part_scores[1:])
    rows = zip(one.parts[1:], one.part_scores[1:], strict=True)
    return [one.parts[0], *(row for row, score in rows if score >= KEEP_RATIO * best)]
