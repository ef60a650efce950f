"""The case for one sentence of a draft: what it claims, and what the passages it cites have to say about that."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from kb.answering.draft import DraftSentence
from kb.citations.denials import Polarity, read_polarity
from kb.citations.facts import Facts, read_facts
from kb.citations.marks import ELLIPSIS
from kb.citations.passage import Passage, literal_words
from kb.citations.support import ENOUGH_WORDS, Question, Reason, Support
from kb.citations.untrusted import harmless, has_foreign_link
from kb.text.sentences import split_units
from kb.text.wording import content_stems, language_of, plain

WORDS_OF_A_SAYING = 3
"""In quotation marks, from which they are said to be somebody's own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Removed:
    text: str
    reason: Reason


class Claim:
    """A sentence of the draft and the case for it."""

    def __init__(self, sentence: DraftSentence, passages: Sequence[Passage]) -> None:
        cited = [passages[at].chunk for at in sentence.hits] or [passage.chunk for passage in passages]
        self.sentence = replace(sentence, text=harmless(sentence.text, cited))
        self._cited = cited
        self._passages = passages
        self.reason: Reason | None = None
        self.supports: list[Support] = []
        self.literal = self._is_literal()
        if not self.literal:
            self._examine()

    def _is_literal(self) -> bool:
        """Whether it is a quotation of whole sentences: a part of one may say the opposite of the whole."""
        said = literal_words(self.sentence.text)
        pointed = zip(self.sentence.hits, self.sentence.quotes, strict=True)
        if any(
            literal_words(quote) == said and self._passages[at].holds(quote) for at, quote in pointed if quote
        ):
            return True
        parts = {literal_words(unit.text) for unit in split_units(self.sentence.text)}  # rows of a table, say
        return any({said} <= held or (parts and parts <= held) for held in self._unit_literals())

    def _unit_literals(self) -> Iterable[frozenset[str]]:
        return (self._passages[at].unit_literals for at in self.sentence.hits)

    def _examine(self) -> None:
        groups = [self.sentence.hits] if self.sentence.hits else [(at,) for at in range(len(self._passages))]
        if self._states_nothing:
            return
        self.reason = self._objection()
        for group in groups if self.reason is None else ():
            support = Support(self, group, self._passages)
            objection = support.objection()
            if objection is None:
                self.supports.append(support)
            elif self.sentence.hits:
                self.reason = objection

    def _objection(self) -> Reason | None:
        if has_foreign_link(self.sentence.text, self._cited):
            return "link"
        pointed = zip(self.sentence.hits, self.sentence.quotes, strict=False)
        parts = [
            (self._passages[at], part) for at, quote in pointed if quote for part in quote.split(ELLIPSIS)
        ]
        if not all(passage.holds(part) for passage, part in parts):
            return "quote"
        sources = [self._passages[at] for at in self.sentence.hits] or self._passages
        quoted = [
            words for words in _QUOTED.findall(self.sentence.text) if len(words.split()) >= WORDS_OF_A_SAYING
        ]
        return None if all(any(one.holds(words) for one in sources) for words in quoted) else "quote"

    @cached_property
    def words(self) -> str:
        return plain(self.sentence.text)

    @cached_property
    def facts(self) -> Facts:
        return read_facts(self.sentence.text)

    @cached_property
    def polarity(self) -> Polarity:
        return read_polarity(self.sentence.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(content_stems(self.words))

    @cached_property
    def language(self) -> str | None:
        return language_of(self.words)

    @cached_property
    def is_heading(self) -> bool:
        return all(unit.kind == "heading" for unit in split_units(self.sentence.text))

    @property
    def _states_nothing(self) -> bool:
        return self._is_ordinal or (self.leads_in and not self.sentence.hits)

    @property
    def _is_ordinal(self) -> bool:
        return _ORDINAL.fullmatch(self.sentence.text.strip()) is not None

    @cached_property
    def leads_in(self) -> bool:
        """Whether it states nothing by itself: a heading, "Yes.", "Here is the plan:"."""
        announces = not self.stems or self.sentence.text.rstrip("*_ ").endswith(":")
        return self._is_ordinal or self.is_heading or (announces and self.facts.none)

    def questions(self) -> Iterable[Question]:
        """What only a model of meaning can say: the pairs worth asking about."""
        for support in self.supports:
            if not support.same_language:
                continue
            for replaced in support.replaced:
                yield Question(support=support, pair=(replaced.said, replaced.back), about=replaced)
            if support.coverage < ENOUGH_WORDS or support.copy.new_nouns:
                for _, unit in support.near_units():
                    yield Question(support=support, pair=(self.words, plain(unit.text)), about=unit)

    def verdict(self) -> DraftSentence | Removed:
        if self.literal:
            return self._kept(Support(self, self.sentence.hits, self._passages))
        if self._states_nothing:
            return replace(self.sentence, hits=(), quotes=())
        if self.reason is not None:
            return Removed(text=self.sentence.text, reason=self.reason)
        if self.sentence.hits:
            return self._judged(self.supports[0])
        able = [one for one in self.supports if one.carries_alone() and not one.says_other_words]
        if not able:
            return Removed(text=self.sentence.text, reason="uncited")
        return self._kept(max(able, key=lambda support: (support.coverage, support.likeness or 0.0)))

    def _judged(self, support: Support) -> DraftSentence | Removed:
        if support.says_other_words:
            return Removed(text=self.sentence.text, reason="replaced")
        if not support.means_the_same():
            return Removed(text=self.sentence.text, reason="meaning")
        return self._kept(support)

    def _kept(self, support: Support) -> DraftSentence:
        given = self.sentence.quotes if self.sentence.hits else ()
        return replace(self.sentence, hits=support.hits, quotes=support.quotes(given))


_ORDINAL = re.compile(r"\W*\d{1,2}[.)]\W*")
"""The number of a list item that stands by itself."""
_QUOTED = re.compile(r"[“„«\"]([^”“„»«\"\n]*)[”“»\"]")
