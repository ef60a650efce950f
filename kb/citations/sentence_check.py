"""What one sentence of a draft states, held by the letter against the passages that it cites."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache

from kb.citations.citation_markers import ELLIPSIS, DraftSentence, Reason
from kb.citations.facts import Facts, join_facts, read_facts
from kb.citations.passage import Passage
from kb.citations.sanitize import has_foreign_link, sanitize_links
from kb.text.language import detect
from kb.text.lexicon import any_of, union
from kb.text.sentences import split_units
from kb.text.wording import content_stems, plain

WORDS_OF_A_SAYING = 3
"""Words in quotation marks from which they count as somebody's own."""
ENOUGH_WORDS = 0.75
"""Share of a sentence's content words that a passage must have for the sentence to be attached to it."""
NEAR_UNITS = 4
"""Sentences of a passage among which they must stand: those with the most words in common."""

_ORDINAL = re.compile(r"\W*\d{1,2}[.)]\W*")
"""The number of a list item that stands by itself."""
_QUOTED = re.compile(r"[“„«\"]([^”“„»«\"\n]*)[”“»\"]")
_ADDRESS = re.compile(r"(?<!['<(])['<(]*https?://")
"""Addresses are compared separately."""
_DENIED = re.compile(
    rf"\b(?:{any_of(union(lambda lexicon: lexicon.figures.denials))})\s(?:[^\W\d]+\s)?(\W?\d[\d.,]*[^.,;!?]{{0,20}})",
    re.IGNORECASE,
)
"""A figure that is said to be wrong: "25 days, not 30"."""
_ASSENT = frozenset(content_stems(" ".join(union(lambda lexicon: lexicon.figures.assent))))


class SentenceCheck:
    """A sentence of the draft and what it states. `passages` by chunk id; `question` is what the user asked."""

    def __init__(self, sentence: DraftSentence, passages: Mapping[str, Passage], *, question: str) -> None:
        self._passages = passages
        self._question = question
        self._cited = [passages[chunk_id] for chunk_id in sentence.cites]
        sources = [passage.chunk for passage in self._cited or passages.values()]
        self.sentence = replace(sentence, text=sanitize_links(sentence.text, sources))

    @cached_property
    def words(self) -> str:
        return plain(self.sentence.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(content_stems(self.words))

    @cached_property
    def facts(self) -> Facts:
        return read_facts(self.sentence.text)

    @property
    def states_nothing(self) -> bool:
        """Whether it leads in what follows and cites nothing for it."""
        text = self.sentence.text
        if self.sentence.cites or is_ordinal(text) or is_heading(text):
            return is_ordinal(text) or (is_heading(text) and not self.sentence.cites)
        if announces(text):
            everything = join_facts(
                [*(passage.facts for passage in self._passages.values()), read_question(self._question)]
            )
            return self.facts.beyond(everything).none
        return self.facts.none and self.stems <= _ASSENT

    def unsupported_reason(self, passages: Sequence[Passage]) -> Reason | None:
        """Returns the first thing in it that these passages do not hold to the letter."""
        if has_foreign_link(self.sentence.text, [passage.chunk for passage in passages]):
            return "link"
        if not self._quotes_are_held(passages):
            return "quote"
        if any(passage.holds(self.sentence.text) for passage in passages):
            return None
        return self._missing_fact(passages)

    def _quotes_are_held(self, passages: Sequence[Passage]) -> bool:
        pointed = zip(self._cited, self.sentence.quotes, strict=False)
        parts = [(passage, part) for passage, quote in pointed if quote for part in quote.split(ELLIPSIS)]
        quoted = (_ADDRESS.split(words)[0] for words in _QUOTED.findall(self.sentence.text))
        sayings = [words for words in quoted if len(words.split()) >= WORDS_OF_A_SAYING]
        asked = " ".join(self._question.split()).casefold()
        return all(passage.holds(part) for passage, part in parts) and all(
            any(passage.holds(words) for passage in passages) or words.casefold() in asked
            for words in sayings
        )

    def _missing_fact(self, passages: Sequence[Passage]) -> Reason | None:
        known = join_facts([passage.facts for passage in passages])
        same_language = self._speaks_as(passages)
        missing = self.facts.beyond(known, same_language=same_language)
        if missing.none or self._repeats_the_question(missing, passages, known):
            return "number" if same_language and self._takes_another_number(passages) else None
        return missing.kinds[0]

    def _repeats_the_question(self, missing: Facts, passages: Sequence[Passage], known: Facts) -> bool:
        """Tells whether all that is missing stands in the question, and the sentence tells something that does not.

        "After 3 years you get 27 days" and "25 days, not 30" may name the
        user's own figures; "yes, you get 30 days" may not.
        """
        asked = read_question(self._question)
        own = all(
            quantity.things is None or quantity.is_in(asked.quantities) for quantity in missing.quantities
        )
        if not own or missing.every - asked.units or not missing.beyond(asked).none:
            return False
        beyond_question = self.facts.beyond(asked)
        if beyond_question.figures:
            return bool(missing.figures) or beyond_question.beyond(known).none
        if missing.figures and (
            missing.days or missing.weekdays or missing.every or missing.is_rivalled_by(known)
        ):
            return self._denies(missing)
        held = frozenset().union(*(passage.stems for passage in passages))
        return bool((self.stems - frozenset(content_stems(plain(self._question)))) & held) or self._denies(
            missing
        )

    def _takes_another_number(self, passages: Sequence[Passage]) -> bool:
        """Tells whether a sentence of the page says nearly all this of another number, and none so of this one."""
        asked = read_question(self._question).quantities
        own = [
            quantity
            for quantity in self.facts.quantities
            if quantity.things is None and not quantity.is_in(asked)
        ]
        near = [
            facts.quantities
            for passage in passages
            for facts, stems in zip(passage.unit_facts if own else (), passage.unit_stems, strict=False)
            if self.stems and len(self.stems & stems) / len(self.stems) >= ENOUGH_WORDS
        ]
        return any(
            quantity.rivals(other) and not other.is_in(own)
            for quantity in own
            if not any(quantity.is_in(found) for found in near)
            for found in near
            for other in found
        )

    def _denies(self, missing: Facts) -> bool:
        """Tells whether every missing figure is said to be wrong."""
        denied = read_facts(" | ".join(match[1] for match in _DENIED.finditer(self.words)))
        return missing.figures and missing.beyond(denied).none

    def _speaks_as(self, passages: Sequence[Passage]) -> bool:
        languages = [passage.language for passage in passages]
        return detect(self.words, hint=languages[0]) in languages

    def coverage(self, passage: Passage) -> float:
        """Returns the share of its content words that the passage's headings and its few nearest sentences have."""
        near = sorted(passage.unit_stems, key=lambda stems: -len(stems & self.stems))[:NEAR_UNITS]
        known = frozenset(passage.heading_stems).union(*near)
        return len(self.stems & known) / len(self.stems) if self.stems else 1.0

    def attached(self) -> str | None:
        """Returns the chunk id of the passage that holds all its facts and most of its words; the first of equal ones.

        Asked where the sentence cites none or the wrong one.
        """
        holding = {
            chunk_id: coverage
            for chunk_id, passage in self._passages.items()
            if (coverage := self.coverage(passage)) >= ENOUGH_WORDS
            and self.unsupported_reason([passage]) is None
        }
        return max(holding, key=holding.__getitem__, default=None)

    def quote(self, passage: Passage) -> str:
        """Returns the unit of the passage with most of its words and figures."""
        if not passage.units:
            return passage.chunk.text
        shares = [len(self.stems & stems) for stems in passage.unit_stems]
        for index, facts in enumerate(passage.unit_facts if self.facts.figures else ()):
            beyond = self.facts.beyond(facts)
            shares[index] -= 2 * (len(beyond.quantities) + len(beyond.days))
        return passage.units[shares.index(max(shares))].text


@lru_cache(maxsize=256)
def read_question(question: str) -> Facts:
    return read_facts(question)


def is_ordinal(text: str) -> bool:
    return _ORDINAL.fullmatch(text.strip()) is not None


def is_heading(text: str) -> bool:
    return all(unit.kind == "heading" for unit in split_units(text))


def announces(text: str) -> bool:
    """Tells whether it ends in a colon: "Here is the plan:"."""
    return text.rstrip("*_ ").endswith(":")


def leads_in(sentence: DraftSentence) -> bool:
    """Tells whether a kept sentence is useless without what follows it."""
    return not sentence.cites or is_heading(sentence.text) or announces(sentence.text)
