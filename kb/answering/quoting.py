"""What the pages say, as a librarian would show it: whole blocks of the passages that come nearest, to the letter.

Used where no language model writes. It claims nothing: nothing that a search leaves behind tells an answer from a page
that treats the subject and does not say the thing asked for (docs/confidence.md), so the reader judges.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from kb.answering.blocks import Block, blocks_of
from kb.models import ACCEPTED_ANSWER, Chunk, Hit, Scores
from kb.text.sentences import TextUnit

QUOTE_CHARACTERS = 1000
"""Of a quote at most, unless its one block is longer; on average they have some 650."""
SHORT_CHARACTERS = 400
"""Of the one quote that is shown as the closest."""
WHOLE_BLOCKS = 2.2
"""Of a quote's size: up to this a block alone is shown whole, a longer
one loses rows, items or sentences down to that size.
"""
PASSAGES = 10
"""Passages among which quotes are chosen."""
READ_CLOSELY = 4
"""Passages whose sentences are embedded: each costs as much as the
question's own search, and more find nothing more.
"""
COVERAGE_WEIGHT, SENTENCE_WEIGHT, FOUND_WEIGHT, MEANING_WEIGHT = 0.5, 0.12, 0.6, 0.1
"""Of the share of the question's words in the best sentence, of that sentence's standard score, of the
passage's final score beside the best one's, and of its own standard score. See docs/evaluation.md."""
LEAD_WEIGHT = 0.5
"""For what stands at the head of a page, where the question names nothing but the page: "What is mulch?"."""
NEXT_SHARE = 0.8
"""Of the best quote's score that a further one must have. On the questions that this was
tried on it kept every fact and left out every sixth quote, one about something else."""
SAME_WORDS = 0.9
"""Of the words of a quote that another holds: it says nothing new."""

Coverage = Callable[[str, str, str], float]
"""Question, text, language -> the share (0..1) of the question's content words that the text holds."""

_WORDS = re.compile(r"\w+")
_SET_APART = frozenset({"sentence", "item", "quote"})
"""Kinds of units that can be set in bold."""


class Nearness(Protocol):
    """`kb.retrieval.search.Search`, as this uses it."""

    async def nearness(self, query: str, texts: Sequence[str], *, language: str) -> Sequence[float]:
        """The standard score of each text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Excerpt:
    """Blocks of a passage that are shown. `shown` and `total` as in `kb.answer.Quote`.

    `statement`: the unit that comes nearest; `best`: the same where it can be set apart, "" for a row or for code.
    """

    chunk: Chunk
    blocks: tuple[str, ...]
    statement: str = ""
    best: str = ""
    shown: int = 0
    total: int = 0

    @property
    def text(self) -> str:
        return "\n\n".join(self.blocks)


class Librarian:
    """Chooses and cuts quotes. `coverage` as `kb.retrieval.lexical.LexicalEncoder.coverage` with the index's rarity."""

    def __init__(self, *, nearness: Nearness, coverage: Coverage) -> None:
        self._nearness = nearness
        self._coverage = coverage

    async def quotes(
        self,
        query: str,
        passages: Sequence[Hit],
        *,
        language: str,
        most: int,
        characters: int = QUOTE_CHARACTERS,
        said: Collection[str] = (),
    ) -> list[Excerpt]:
        """At most `most` excerpts of different passages, the nearest first; none that `said` holds already.

        Raises:
            EmbedderUnavailableError: the embedder does not answer.
        """
        shown = [_words(text) for text in said]
        excerpts: list[Excerpt] = []
        highest = 0.0
        for candidate in await self._nearest(query, passages, language, everything=bool(said)):
            if excerpts and candidate.score < NEXT_SHARE * highest:
                break
            highest = max(highest, candidate.score)
            excerpt = candidate.excerpt(characters)
            words = _words(excerpt.text)
            if any(len(words & other) >= SAME_WORDS * len(words) for other in shown):
                continue
            shown.append(words)
            excerpts.append(excerpt)
            if len(excerpts) == most:
                break
        return excerpts

    def excerpt_of(self, chunk: Chunk, statement: str, *, characters: int = QUOTE_CHARACTERS) -> Excerpt:
        """The block that a statement of a passage stands in."""
        blocks = blocks_of(chunk.text)
        block = next((block for block in blocks if statement in block.text), blocks[0])
        apart = any(unit.text == statement and unit.kind in _SET_APART for unit in block.units)
        excerpt = _whole_or_cut(chunk, block, characters, lambda unit: unit.text == statement)
        return replace(excerpt, statement=statement, best=statement if apart else "")

    async def _nearest(
        self, query: str, passages: Sequence[Hit], language: str, *, everything: bool
    ) -> list[_Candidate]:
        """The passages by how near their nearest block comes. `everything`: all are read, not only the best few."""
        passages = _answers_of_threads(passages[:PASSAGES])
        highest = max((hit.scores.final for hit in passages), default=0.0)
        highest = highest if highest > 0 else 1.0
        candidates = []
        for hit in passages:
            blocks = [block for block in blocks_of(hit.chunk.text) if block.text.strip()]
            if all(block.says_nothing for block in blocks):
                continue
            found = FOUND_WEIGHT * hit.scores.final / highest + MEANING_WEIGHT * (hit.scores.dense or 0.0)
            if not hit.chunk.section and self._coverage(query, hit.chunk.page.title, language) == 1.0:
                found += LEAD_WEIGHT
            words = COVERAGE_WEIGHT if hit.chunk.page.language == language else 0.0
            worth = {
                unit: words * self._coverage(query, _in_context(hit.chunk, unit), language) if words else 0.0
                for block in blocks
                for unit in block.units
            }
            candidates.append(_Candidate(chunk=hit.chunk, blocks=blocks, found=found, worth=worth))
        candidates.sort(key=lambda candidate: -candidate.score)
        read = candidates if everything else candidates[:READ_CLOSELY]
        texts = list(
            dict.fromkeys(
                _in_context(candidate.chunk, unit) for candidate in read for unit in candidate.worth
            )
        )
        if not texts:
            return []
        scores = await self._nearness.nearness(query, texts, language=language)
        near = dict(zip(texts, scores, strict=True))
        for candidate in read:
            for unit in candidate.worth:
                candidate.worth[unit] += SENTENCE_WEIGHT * near[_in_context(candidate.chunk, unit)]
        return sorted(read, key=lambda candidate: -candidate.score)


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    """A passage that may be quoted: what the search says of it, and what
    each of its units is worth for the question.
    """

    chunk: Chunk
    blocks: Sequence[Block]
    found: float
    worth: dict[TextUnit, float]

    @property
    def score(self) -> float:
        return self.found + self._worth_of(self.blocks[self._best])

    @property
    def _best(self) -> int:
        telling = [index for index, block in enumerate(self.blocks) if not block.says_nothing]
        return max(telling, key=lambda index: (self._worth_of(self.blocks[index]), -index))

    def _worth_of(self, block: Block) -> float:
        return max(self.worth[unit] for unit in block.units)

    def excerpt(self, characters: int) -> Excerpt:
        """The nearest block and whole blocks around it while they fit, those behind it first."""
        best = self._best
        first = last = best
        room = characters - len(self.blocks[best].text)
        while True:
            beside = [
                index
                for index in (last + 1, first - 1)
                if 0 <= index < len(self.blocks) and len(self.blocks[index].text) <= room
            ]
            if not beside:
                break
            room -= len(self.blocks[beside[0]].text)
            first, last = min(first, beside[0]), max(last, beside[0])
        shown = self.blocks[first : last + 1]
        if len(shown) == 1:
            excerpt = _whole_or_cut(self.chunk, shown[0], characters, lambda unit: self.worth[unit])
        else:
            excerpt = Excerpt(chunk=self.chunk, blocks=tuple(block.text for block in shown))
        nearest = self._nearest_unit(self.blocks[best])
        alone = len(shown) == 1 and len(_units_to_set_apart(shown[0])) < 2
        apart = nearest is not None and nearest.kind in _SET_APART and not alone
        return replace(
            excerpt,
            statement=nearest.text if nearest else "",
            best=nearest.text if nearest and apart and nearest.text in excerpt.text else "",
        )

    def _nearest_unit(self, block: Block) -> TextUnit | None:
        units = _units_to_set_apart(block)
        return max(units, key=lambda unit: self.worth[unit], default=None)


def _answers_of_threads(passages: Sequence[Hit]) -> list[Hit]:
    """Where a thread's accepted answer was found, it stands for the thread, and what was asked there is no answer."""
    nearest: dict[str, Scores] = {}
    for hit in passages:
        best = nearest.setdefault(hit.chunk.page.id, hit.scores)
        if hit.scores.final > best.final:
            nearest[hit.chunk.page.id] = hit.scores
    settled = {hit.chunk.page.id for hit in passages if ACCEPTED_ANSWER in hit.chunk.section}
    return [
        replace(hit, scores=nearest[hit.chunk.page.id]) if hit.chunk.page.id in settled else hit
        for hit in passages
        if hit.chunk.page.id not in settled or ACCEPTED_ANSWER in hit.chunk.section
    ]


def _in_context(chunk: Chunk, unit: TextUnit) -> str:
    """The unit behind its heading, as the embedder reads it: "Carry-over:
    On 31 March.". An accepted answer's is what was asked.
    """
    section = [heading for heading in chunk.section if heading != ACCEPTED_ANSWER]
    return f"{section[-1] if section else chunk.page.title}: {unit.text}"


def _units_to_set_apart(block: Block) -> list[TextUnit]:
    return [unit for unit in block.units if unit.kind != "heading" and not _leads(unit, block)]


def _leads(unit: TextUnit, block: Block) -> bool:
    """Whether it only leads in the rest of its block: a line that ends
    with a colon, a question, the head of a table.
    """
    if unit is block.units[-1]:
        return False
    if unit.kind == "row":
        return unit is next(row for row in block.units if row.kind == "row")
    return unit is block.units[0] and unit.text.rstrip("*_ ").endswith((":", "?"))


def _whole_or_cut(chunk: Chunk, block: Block, limit: int, worth: Callable[[TextUnit], float]) -> Excerpt:
    """The block whole, or what of it is worth most where it is far too long."""
    if len(block.text) <= WHOLE_BLOCKS * limit:
        return Excerpt(chunk=chunk, blocks=(block.text,))
    body = {"table": "row", "list": "item"}.get(block.kind)
    parts = [unit for unit in block.units if unit.kind == body]
    if block.kind == "table":
        parts = parts[1:]  # the header row is no row of the table to a reader
    if len(parts) < 2:
        return Excerpt(chunk=chunk, blocks=(_first_lines(block.text, limit),))
    head = block.text[: parts[0].start - block.units[0].start].rstrip()
    kept = (_worthiest if block.kind == "table" else _window)(parts, limit - len(head), worth)
    text = "\n".join([*([head] if head else []), *(unit.text for unit in kept)])
    return Excerpt(chunk=chunk, blocks=(text,), shown=len(kept), total=len(parts))


def _worthiest(rows: Sequence[TextUnit], room: int, worth: Callable[[TextUnit], float]) -> list[TextUnit]:
    """The rows that are worth most, in their order."""
    kept: set[int] = set()
    for index in sorted(range(len(rows)), key=lambda index: (-worth(rows[index]), index)):
        room -= len(rows[index].text) + 1
        if room < 0 and kept:
            break
        kept.add(index)
    return [rows[index] for index in sorted(kept)]


def _window(items: Sequence[TextUnit], room: int, worth: Callable[[TextUnit], float]) -> list[TextUnit]:
    """The items around the one that is worth most: steps mean something only one after the other."""
    first = last = max(range(len(items)), key=lambda index: (worth(items[index]), -index))
    room -= len(items[first].text)
    while room > 0:
        if last + 1 < len(items) and len(items[last + 1].text) < room:
            last += 1
            room -= len(items[last].text) + 1
        elif first > 0 and len(items[first - 1].text) < room:
            first -= 1
            room -= len(items[first].text) + 1
        else:
            break
    return list(items[first : last + 1])


def _first_lines(text: str, limit: int) -> str:
    """What fits of code or of one long paragraph, with its fence closed and the cut shown."""
    cut = text[:limit]
    fenced = sum(line.lstrip().startswith("```") for line in cut.split("\n")) % 2 == 1
    if fenced:
        return "\n".join((*cut.split("\n")[:-1], "…", "```"))
    return f"{cut.rsplit(maxsplit=1)[0]} …"


def _words(text: str) -> set[str]:
    return set(_WORDS.findall(text.casefold()))
