"""The case for one sentence of a draft: what it claims, and what the passages it cites have to say about that."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from kb.answer import DraftSentence
from kb.citations.facts import Facts, join_facts, missing_facts, read_facts
from kb.citations.marks import ELLIPSIS
from kb.citations.polarity import Polarity, contradicted, read_polarity
from kb.citations.substitution import Replaced, find_replaced
from kb.citations.untrusted import harmless, has_foreign_link
from kb.models import Chunk
from kb.text.language import detect
from kb.text.sentences import TextUnit, split_units
from kb.text.wording import content_stems, language_of, plain

Reason = Literal[
    "number",
    "date",
    "weekday",
    "name",
    "negation",
    "quote",
    "link",
    "replaced",
    "meaning",
    "uncited",
    "lead-in",
]

ENOUGH_WORDS = 0.75
"""Share of the sentence's meaning words, in a few sentences of the passage, that needs no second opinion."""
FEW_WORDS = 0.4
ENOUGH_WORDS_ALONE = 0.5
"""The share asked for where nobody can be asked about the meaning."""
SAME_MEANING = 0.58
"""Similarity that makes up for other words: the sentence is a paraphrase."""
NEAR_MEANING = 0.32
"""Similarity asked for with at least FEW_WORDS."""
SAME_WORD = 0.81
"""Similarity with the page's own word put back from which a word that the page has not is a synonym of it."""
COMPARED_UNITS = 4
"""Sentences of a passage that are compared with one sentence of the answer: those with the most words in common."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Removed:
    text: str
    reason: Reason


class Passage:
    """A passage, read once and only as far as it is needed: quotes to the letter need none of it."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.context = "\n\n".join([chunk.page.title, *chunk.section, chunk.text])

    @cached_property
    def literal(self) -> str:
        return _literal(self.chunk.text)

    @cached_property
    def units(self) -> list[TextUnit]:
        return [unit for unit in split_units(self.chunk.text) if unit.kind != "heading"]

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(content_stems(plain(self.context)))

    @cached_property
    def facts(self) -> Facts:
        return read_facts(self.context)

    @cached_property
    def unit_stems(self) -> list[frozenset[str]]:
        return [frozenset(content_stems(plain(unit.text))) for unit in self.units]

    @cached_property
    def heading_stems(self) -> frozenset[str]:
        return frozenset(content_stems(plain("\n\n".join([self.chunk.page.title, *self.chunk.section]))))

    @cached_property
    def unit_facts(self) -> list[Facts]:
        return [read_facts(unit.text) for unit in self.units]

    def stems_of(self, unit: TextUnit) -> frozenset[str]:
        return self.unit_stems[self.units.index(unit)]

    @cached_property
    def polarities(self) -> list[Polarity]:
        return [read_polarity(unit.text) for unit in self.units]

    @cached_property
    def language(self) -> str | None:
        return language_of(plain(self.chunk.text)) or self.chunk.page.language

    @cached_property
    def unit_literals(self) -> frozenset[str]:
        return frozenset(_literal(unit.text) for unit in self.units)

    def holds(self, text: str) -> bool:
        """Whether these words are on the page to the letter, as whole words."""
        return re.search(rf"(?<!\w){re.escape(_literal(text))}(?!\w)", self.literal) is not None


class Support:
    """What some passages together have to say about a claim."""

    def __init__(self, claim: Claim, hits: tuple[int, ...], passages: Sequence[Passage]) -> None:
        self.hits = hits
        self.similar: dict[TextUnit, float] = {}
        self.put_back: list[float] = []
        """How alike the sentence is to itself with the page's own words put back, for each replaced place."""
        self._claim = claim
        self.passages = [passages[at] for at in hits]

    @cached_property
    def same_language(self) -> bool:
        languages = [passage.language for passage in self.passages]
        spoken = self._claim.language or detect(self._claim.words, hint=languages[0])
        return spoken in languages

    @cached_property
    def coverage(self) -> float:
        """Share of the claim's meaning words in the few sentences that have most of them, and in the headings."""
        wanted = self._claim.stems
        near = [passage.stems_of(unit) for passage, unit in self.near_units()]
        known = frozenset().union(*near, *(passage.heading_stems for passage in self.passages))
        return len(wanted & known) / len(wanted) if wanted else 1.0

    def objection(self) -> Reason | None:
        """A hard fact that the passages do not hold."""
        known = join_facts([passage.facts for passage in self.passages])
        for kind in missing_facts(self._claim.facts, known, same_language=self.same_language):
            return kind  # type: ignore[return-value]
        if self._has_number_from_elsewhere():
            return "number"
        units = [polarity for passage in self.passages for polarity in passage.polarities]
        if self.same_language and contradicted(self._claim.polarity, units):
            return "negation"
        return None

    def _has_number_from_elsewhere(self) -> bool:
        """Whether a number is on the page, but only where it speaks of something else."""
        if not self._claim.facts.quantities:
            return False
        common = [
            (bool(self._claim.stems & stems), facts.quantities)
            for passage in self.passages
            for facts, stems in zip(passage.unit_facts, passage.unit_stems, strict=True)
        ]
        beside = [
            [near for near, found in common if quantity.is_in(found)]
            for quantity in self._claim.facts.quantities
        ]
        return any(near for near, _ in common) and any(found and not any(found) for found in beside)

    def near_units(self) -> list[tuple[Passage, TextUnit]]:
        ranked = [
            (len(self._claim.stems & stems), passage, unit)
            for passage in self.passages
            for unit, stems in zip(passage.units, passage.unit_stems, strict=True)
        ]
        ranked.sort(key=lambda entry: -entry[0])
        return [(passage, unit) for _, passage, unit in ranked[:COMPARED_UNITS]]

    @property
    def likeness(self) -> float | None:
        return max(self.similar.values(), default=None)

    @cached_property
    def replaced(self) -> list[Replaced]:
        known = frozenset().union(*(passage.stems for passage in self.passages))
        return find_replaced(self._claim.words, [unit.text for _, unit in self.near_units()], known)

    @property
    def says_other_words(self) -> bool:
        return any(likeness < SAME_WORD for likeness in self.put_back)

    def means_the_same(self) -> bool:
        if not self.same_language:
            return True  # neither words nor a monolingual embedder can tell; the hard facts were checked
        if self.likeness is None:
            return self.coverage >= ENOUGH_WORDS_ALONE
        if self.coverage >= ENOUGH_WORDS or self.likeness >= SAME_MEANING:
            return True
        return self.coverage >= FEW_WORDS and self.likeness >= NEAR_MEANING

    def carries_alone(self) -> bool:
        """Enough to attach a sentence that cites nothing."""
        return self.coverage >= ENOUGH_WORDS or (self.likeness or 0.0) >= SAME_MEANING

    def quotes(self, given: Sequence[str]) -> tuple[str, ...]:
        """The words that carry the claim, a quote for each passage: what was pointed at, else the nearest unit."""
        return tuple(
            quote or self._nearest(passage)
            for quote, passage in zip(given or ("",) * len(self.hits), self.passages, strict=True)
        )

    def _nearest(self, passage: Passage) -> str:
        if not passage.units:
            return passage.chunk.text
        scored = zip(passage.units, passage.unit_stems, strict=True)
        best, _ = max(
            scored, key=lambda one: self.similar.get(one[0], 0.0) + len(self._claim.stems & one[1]) / 10
        )
        return best.text


@dataclass(frozen=True, kw_only=True)
class Question:
    """How alike are these two texts? `unit`: the page's, where the second is one."""

    support: Support
    pair: tuple[str, str]
    unit: TextUnit | None = None

    def answered(self, likeness: float) -> None:
        if self.unit is None:
            self.support.put_back.append(likeness)
        else:
            self.support.similar[self.unit] = likeness


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
        said = _literal(self.sentence.text)
        pointed = zip(self.sentence.hits, self.sentence.quotes, strict=True)
        if any(_literal(quote) == said and self._passages[at].holds(quote) for at, quote in pointed if quote):
            return True
        parts = {_literal(unit.text) for unit in split_units(self.sentence.text)}  # rows of a table, say
        return any({said} <= held or (parts and parts <= held) for held in self._unit_literals())

    def _unit_literals(self) -> Iterable[frozenset[str]]:
        return (self._passages[at].unit_literals for at in self.sentence.hits)

    def _examine(self) -> None:
        groups = [self.sentence.hits] if self.sentence.hits else [(at,) for at in range(len(self._passages))]
        if self.leads_in and not self.sentence.hits:
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
        parts = [(self._passages[at], part) for at, quote in pointed for part in quote.split(ELLIPSIS)]
        if not all(passage.holds(part) for passage, part in parts):
            return "quote"
        sources = [self._passages[at] for at in self.sentence.hits] or self._passages
        quoted = _QUOTED.findall(self.sentence.text)
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

    @cached_property
    def leads_in(self) -> bool:
        """Whether it states nothing by itself: a heading, "Yes.", "Here is the plan:"."""
        if _ORDINAL.fullmatch(self.sentence.text.strip()):
            return True
        announces = not self.stems or self.sentence.text.rstrip("*_ ").endswith(":")
        return self.is_heading or (announces and self.facts.none)

    def questions(self) -> Iterable[Question]:
        """What only a model of meaning can say: the pairs worth asking about."""
        for support in self.supports:
            if not support.same_language:
                continue
            for replaced in support.replaced:
                yield Question(support=support, pair=(replaced.said, replaced.back))
            if support.coverage < ENOUGH_WORDS:
                for _, unit in support.near_units():
                    yield Question(support=support, pair=(self.words, plain(unit.text)), unit=unit)

    def verdict(self) -> DraftSentence | Removed:
        if self.literal:
            return self._kept(Support(self, self.sentence.hits, self._passages))
        if self.leads_in and not self.sentence.hits:
            return self.sentence
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
_QUOTED = re.compile(r"[“„«\"]([^”“„»«\"\n]*\w\W+\w[^”“„»«\"\n]*\s[^”“„»«\"\n]*)[”“»\"]")
"""Three words or more in quotation marks: said to be somebody's own."""


def _literal(text: str) -> str:
    """For comparing to the letter: white space, quotation marks and emphasis may differ."""
    words = plain(text).translate(str.maketrans("“”„«»‘", '"""""\''))
    return " ".join(words.split()).strip(" .").casefold()
