"""Chooses what is quoted: whole blocks of the passages nearest to the question (`kb.answering.excerpts` cuts them).

Used where no language model writes. It claims nothing: nothing that a search leaves behind tells an answer from a page
that treats the subject and does not say the thing asked for (docs/confidence.md), so the reader judges.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from kb.answering.blocks import PassageBlock, blocks_of
from kb.answering.excerpts import Excerpt, RatedPassage, block_excerpt
from kb.models import ACCEPTED_ANSWER, Chunk, Hit, Scores
from kb.retrieval.search import Search
from kb.spelled_out import spelled_out
from kb.text.sentences import TextUnit

QUOTE_CHARACTERS = 1000
"""Longest quote, unless its one block is longer; the average quote has some 650."""
SHORT_CHARACTERS = 400
"""Most characters of the one quote that is shown as the closest."""
PASSAGES = 10
"""Passages among which quotes are chosen."""
READ_CLOSELY = 4
"""Passages whose sentences are embedded: each costs as much as the question's own search, and more do not help."""
COVERAGE_WEIGHT, SENTENCE_WEIGHT, FOUND_WEIGHT, MEANING_WEIGHT = 0.5, 0.12, 0.6, 0.1
"""Weights of the share of the question's words in the best sentence, of that sentence's standard score, of the
passage's final score beside the best one's, and of its own standard score. See docs/measurements/evaluation.md."""
LEAD_WEIGHT = 0.5
"""Bonus of a page's lead where the question names nothing but the page: "What is mulch?". It decides which quote comes
first, not whether another follows.
"""
NEXT_SHARE = 0.9
"""Share of the best quote's score that a further one must have. Of 39 second quotes with 0.8 of it, seven told a fact
that the first did not; of the 20 that this keeps, six did."""
SAME_WORDS = 0.9
"""Share of the words of a quote that another holds: it says nothing new."""

Coverage = Callable[[str, str, str], float]
"""Question, text, language -> the share (0..1) of the question's content words that the text holds."""

_WORDS = re.compile(r"\w+")


class Librarian:
    """Chooses quotes. `coverage` as `kb.retrieval.lexical.LexicalEncoder.coverage` with the index's rarity."""

    def __init__(self, *, nearness: Search, coverage: Coverage) -> None:
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
        already_quoted: Collection[str] = (),
    ) -> list[Excerpt]:
        """Returns at most `most` excerpts of different passages; none that `already_quoted` holds.

        The nearest are chosen, and stand in the order of the search: of 11 pairs on dev of which one tells more of what
        was asked, that one comes first in 8, by nearness in 6.

        Raises:
            EmbedderUnavailableError: the embedder does not answer.
        """
        shown = [_words(text) for text in already_quoted]
        chosen: list[tuple[RatedPassage, Excerpt]] = []
        highest = 0.0
        for candidate in await self._nearest(query, passages, language, everything=bool(already_quoted)):
            if chosen and candidate.score < NEXT_SHARE * highest:
                break
            highest = max(highest, candidate.score - candidate.lead)
            excerpt = candidate.excerpt(characters)
            words = _words(excerpt.text)
            if any(len(words & other) >= SAME_WORDS * len(words) for other in shown):
                continue
            shown.append(words)
            chosen.append((candidate, excerpt))
            if len(chosen) == most:
                break
        chosen.sort(key=lambda pair: -(pair[0].found + pair[0].lead))
        return [excerpt for _, excerpt in chosen]

    def excerpt_of(self, chunk: Chunk, statement: str, *, characters: int = QUOTE_CHARACTERS) -> Excerpt:
        """Cuts an excerpt of the block that holds `statement`."""
        return block_excerpt(chunk, statement, characters)

    async def _nearest(
        self, query: str, passages: Sequence[Hit], language: str, *, everything: bool
    ) -> list[RatedPassage]:
        """Rates passages by their nearest block, best first. `everything`: reads all of them, not only the best few."""
        passages = _answers_of_threads(passages[:PASSAGES])
        highest = max((hit.scores.final for hit in passages), default=0.0)
        highest = highest if highest > 0 else 1.0
        candidates = []
        for hit in passages:
            blocks = [block for block in blocks_of(hit.chunk.text) if block.text.strip()]
            if all(block.says_nothing or _repeats_heading(hit.chunk, block) for block in blocks):
                continue
            found = FOUND_WEIGHT * hit.scores.final / highest + MEANING_WEIGHT * (hit.scores.dense or 0.0)
            is_lead = not hit.chunk.section and self._coverage(query, hit.chunk.page.title, language) == 1.0
            words = COVERAGE_WEIGHT if hit.chunk.page.language == language else 0.0
            read_as = {unit: _in_context(hit.chunk, block, unit) for block in blocks for unit in block.units}
            worth = {
                unit: words * self._coverage(query, text, language) if words else 0.0
                for unit, text in read_as.items()
            }
            candidates.append(
                RatedPassage(
                    chunk=hit.chunk,
                    blocks=blocks,
                    read_as=read_as,
                    found=found,
                    lead=LEAD_WEIGHT if is_lead else 0.0,
                    worth=worth,
                )
            )
        candidates.sort(key=lambda candidate: -candidate.score)
        read = candidates if everything else candidates[:READ_CLOSELY]
        texts = list(dict.fromkeys(text for candidate in read for text in candidate.read_as.values()))
        if not texts:
            return []
        scores = await self._nearness.nearness(query, texts, language=language)
        near = dict(zip(texts, scores, strict=True))
        for candidate in read:
            for unit, text in candidate.read_as.items():
                candidate.worth[unit] += SENTENCE_WEIGHT * near[text]
        return sorted(read, key=lambda candidate: -candidate.score)


def _answers_of_threads(passages: Sequence[Hit]) -> list[Hit]:
    """Keeps only the accepted answer of a thread that has one, with the best scores of that thread's passages."""
    nearest: dict[str, Scores] = {}
    for hit in passages:
        best = nearest.setdefault(hit.chunk.page.id, hit.scores)
        if hit.scores.final > best.final:
            nearest[hit.chunk.page.id] = hit.scores
    accepted = {hit.chunk.page.id for hit in passages if ACCEPTED_ANSWER in hit.chunk.section}
    return [
        replace(hit, scores=nearest[hit.chunk.page.id]) if hit.chunk.page.id in accepted else hit
        for hit in passages
        if hit.chunk.page.id not in accepted or ACCEPTED_ANSWER in hit.chunk.section
    ]


def _repeats_heading(chunk: Chunk, block: PassageBlock) -> bool:
    """Returns whether a block says no more, in words, than the headings above it: an empty section."""
    headings = _words(" ".join((chunk.page.title, *chunk.section)))
    return _words(block.text) <= headings and not any(map(str.isdigit, block.text))


def _in_context(chunk: Chunk, block: PassageBlock, unit: TextUnit) -> str:
    """Returns the unit with its heading, as the embedder reads it: "Carry-over: On 31 March.".

    An accepted answer has what was asked in the heading's place. A row, which says little alone, has the names of its
    columns and the page's title as well: "Teams › Directory: Name: Search; Lead: Ann".
    """
    section = [heading for heading in chunk.section if heading != ACCEPTED_ANSWER]
    heading = section[-1] if section else chunk.page.title
    if unit.kind != "row":
        return f"{heading}: {unit.text}"
    header = next(row for row in block.units if row.kind == "row")
    row = unit.text if unit is header else spelled_out(f"{header.text}\n{unit.text}")
    return f"{' › '.join(dict.fromkeys((chunk.page.title, heading)))}: {row}"


def _words(text: str) -> set[str]:
    return set(_WORDS.findall(text.casefold()))
