"""What the pages say, as a librarian would show it: whole blocks of the passages that come nearest, to the letter.

Used where no language model writes. It claims nothing: nothing that a search leaves behind tells an answer from a page
that treats the subject and does not say the thing asked for (docs/confidence.md), so the reader judges.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kb.answering.blocks import Block, blocks_of
from kb.models import Chunk, Hit
from kb.sentence_vectors import DocumentEmbedder, SentenceVectors
from kb.text.sentences import TextUnit

QUOTE_CHARACTERS = 700
"""Of a quote, about: blocks are whole, so one may be longer."""
SHORT_CHARACTERS = 400
"""Of the one quote that is shown as the closest."""
BLOCK_CHARACTERS = 1800
"""A longer block loses rows, items or sentences, and says how many."""
PASSAGES = 10
"""Passages among which quotes are chosen."""
COVERAGE_WEIGHT, FOUND_WEIGHT, MEANING_WEIGHT = 0.5, 0.9, 2.0
"""Of the share of the question's words in the best sentence, of the passage's final score beside the best one's, and of its
cosine. Embedding every sentence as well found no more (docs/evaluation.md)."""
SAME_WORDS = 0.9
"""Of the words of a quote that another holds: it says nothing new."""

Coverage = Callable[[str, str, str], float]
"""Question, text, language -> the share (0..1) of the question's content words that the text holds."""

_WORDS = re.compile(r"\w+")
_SET_APART = frozenset({"sentence", "item", "quote"})
"""Kinds of units that can be set in bold."""


class SentenceEmbedder(DocumentEmbedder, Protocol):
    async def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


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
    """Chooses and cuts quotes. `coverage` as `kb.lexical.LexicalEncoder.coverage` with the index's rarity."""

    def __init__(self, *, embedder: SentenceEmbedder, coverage: Coverage) -> None:
        self._embedder = embedder
        self._vectors = SentenceVectors(embedder)
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
        known = [_words(text) for text in said]
        excerpts: list[Excerpt] = []
        for passage, best in self._ranked(query, passages, language):
            excerpt = self._excerpt(passage, best, query, language, characters)
            words = _words(excerpt.text)
            if any(len(words & other) >= SAME_WORDS * len(words) for other in known):
                continue
            known.append(words)
            excerpts.append(excerpt)
            if len(excerpts) == most:
                break
        return await self._with_best(excerpts, query)

    def excerpt_of(self, chunk: Chunk, statement: str, *, characters: int = QUOTE_CHARACTERS) -> Excerpt:
        """The block that a statement of a passage stands in."""
        blocks = blocks_of(chunk.text)
        block = next((block for block in blocks if statement in block.text), blocks[0])
        apart = any(unit.text == statement and unit.kind in _SET_APART for unit in block.units)
        excerpt = _whole_or_cut(
            chunk, block, max(characters, BLOCK_CHARACTERS), lambda unit: unit.text == statement
        )
        return replace(excerpt, statement=statement, best=statement if apart else "")

    def _ranked(
        self, query: str, passages: Sequence[Hit], language: str
    ) -> list[tuple[Hit, tuple[list[Block], int]]]:
        """The passages by how near they come, each with its blocks and the place of the nearest."""
        passages = passages[:PASSAGES]
        highest = max((hit.scores.final for hit in passages), default=0.0) or 1.0
        ranked = []
        for hit in passages:
            blocks = blocks_of(hit.chunk.text)
            covered = [self._covered(query, hit.chunk, block, language) for block in blocks]
            telling = [at for at, block in enumerate(blocks) if not block.says_nothing]
            if not telling:
                continue
            at = max(telling, key=lambda one: (covered[one], -one))
            score = (
                COVERAGE_WEIGHT * covered[at]
                + FOUND_WEIGHT * hit.scores.final / highest
                + MEANING_WEIGHT * (hit.scores.dense or 0.0)
            )
            ranked.append((score, hit, (blocks, at)))
        ranked.sort(key=lambda one: -one[0])
        return [(hit, best) for _, hit, best in ranked]

    def _covered(self, query: str, chunk: Chunk, block: Block, language: str) -> float:
        heading = chunk.section[-1] if chunk.section else chunk.page.title
        return max(self._coverage(query, f"{heading}: {unit.text}", language) for unit in block.units)

    def _excerpt(
        self, hit: Hit, best: tuple[list[Block], int], query: str, language: str, characters: int
    ) -> Excerpt:
        """The nearest block and whole blocks around it while they fit, those first that say more of the question."""
        blocks, at = best
        first = last = at
        room = characters - len(blocks[at].text)
        while True:
            beside = [
                index
                for index in (first - 1, last + 1)
                if 0 <= index < len(blocks) and len(blocks[index].text) <= room
            ]
            if not beside:
                break
            taken = max(
                beside, key=lambda index: (self._coverage(query, blocks[index].text, language), index)
            )
            room -= len(blocks[taken].text)
            first, last = min(first, taken), max(last, taken)
        if first == last:
            return _whole_or_cut(
                hit.chunk,
                blocks[at],
                max(characters, BLOCK_CHARACTERS),
                lambda unit: self._coverage(query, unit.text, language),
            )
        return Excerpt(chunk=hit.chunk, blocks=tuple(block.text for block in blocks[first : last + 1]))

    async def _with_best(self, excerpts: Sequence[Excerpt], query: str) -> list[Excerpt]:
        """Each with the sentence that is nearest by meaning; of a table or of code nothing is set apart."""
        units = [_units_to_set_apart(excerpt) for excerpt in excerpts]
        vectors = await self._vectors.of([text for one in units for text in one])
        if not vectors:
            return list(excerpts)
        wanted = (await self._embedder.embed_queries([query]))[0]
        chosen = []
        for excerpt, of_excerpt in zip(excerpts, units, strict=True):
            if not of_excerpt:
                chosen.append(excerpt)
                continue
            nearest = of_excerpt[max(of_excerpt, key=lambda text: float(vectors[text] @ wanted))]
            apart = len(of_excerpt) > 1 and nearest.kind in _SET_APART
            chosen.append(replace(excerpt, statement=nearest.text, best=nearest.text if apart else ""))
        return chosen


def _units_to_set_apart(excerpt: Excerpt) -> dict[str, TextUnit]:
    """A unit behind its heading, as the embedder reads it ("Carry-over: On 31 March.") -> the unit."""
    heading = excerpt.chunk.section[-1] if excerpt.chunk.section else excerpt.chunk.page.title
    return {
        f"{heading}: {unit.text}": unit
        for text in excerpt.blocks
        for block in blocks_of(text)
        for unit in block.units
        if unit.kind != "heading" and not _leads(unit, block)
    }


def _leads(unit: TextUnit, block: Block) -> bool:
    """Whether it only leads in the rest of its block: a line that ends with a colon, a question, the head of a table."""
    if unit is block.units[-1]:
        return False
    if unit.kind == "row":
        return unit is next(one for one in block.units if one.kind == "row")
    return unit is block.units[0] and unit.text.rstrip("*_ ").endswith((":", "?"))


def _whole_or_cut(chunk: Chunk, block: Block, limit: int, worth: Callable[[TextUnit], float]) -> Excerpt:
    """The block whole, or what of it is worth most where it is far too long."""
    if len(block.text) <= limit:
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
