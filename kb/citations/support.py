"""What passages have to say about a sentence that cites them: hard facts first, then how alike they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

from kb.citations.denials import Polarity
from kb.citations.facts import Facts, join_facts, missing_facts
from kb.citations.passage import Passage
from kb.citations.polarity import contradicted
from kb.citations.strangers import content_words
from kb.citations.substitution import NearestCopy, Replaced
from kb.citations.synonyms import same_word
from kb.citations.tongue import tongue
from kb.text.language import detect
from kb.text.sentences import TextUnit

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
NEAR_MEANING = 0.28
"""Similarity asked for with at least FEW_WORDS."""
SAME_WORD = 0.81
"""Similarity with the page's own word put back from which a word that the page has not is a synonym of it."""
SAME_NOUN = 0.93
"""The same for a noun, which is hardly ever put in for the sake of style."""
SAME_NOUN_ABROAD = 0.95
"""The same in other languages than English: the embedder that these limits were fitted with takes their nouns for alike."""
OWN_NOUN_MEANING = 0.55
"""Similarity asked for where a looser paraphrase has a noun that the page has no word for."""
OWN_NOUNS_MEANING = 0.65
"""Where it has several."""
COMPARED_UNITS = 4
"""Sentences of a passage that are compared with one sentence of the answer: those with the most words in common."""


class Claimed(Protocol):
    """A sentence of the draft, as far as its support has to know it."""

    @property
    def words(self) -> str: ...

    @property
    def facts(self) -> Facts: ...

    @property
    def polarity(self) -> Polarity: ...

    @property
    def stems(self) -> frozenset[str]: ...

    @property
    def language(self) -> str | None: ...


class Support:
    """What some passages together have to say about a claim."""

    def __init__(self, claim: Claimed, hits: tuple[int, ...], passages: Sequence[Passage]) -> None:
        self.hits = hits
        self.similar: dict[TextUnit, float] = {}
        self.put_back: list[tuple[Replaced, float]] = []
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
        met = sum(word in known or any(same_word(word, other) for other in known) for word in wanted)
        return met / len(wanted) if wanted else 1.0

    def objection(self) -> Reason | None:
        """A hard fact that the passages do not hold."""
        known = join_facts([passage.facts for passage in self.passages])
        for kind in missing_facts(self._claim.facts, known, same_language=self.same_language):
            return kind  # type: ignore[return-value]
        if self.same_language and self._says_another_number():
            return "number"
        units = [polarity for passage in self.passages for polarity in passage.polarities]
        return "negation" if self.same_language and contradicted(self._claim.polarity, units) else None

    def _says_another_number(self) -> bool:
        """Whether a sentence of the page says nearly all this of another number, and none so of this one."""
        said = self._claim.stems
        beside = [
            (len(said & stems), facts.quantities)
            for passage in self.passages
            for facts, stems in zip(passage.unit_facts, passage.unit_stems, strict=True)
        ]
        own = self._claim.facts.quantities
        for quantity in own:
            held = max((near for near, found in beside if quantity.is_in(found)), default=0)
            rivalled = max(
                (
                    near
                    for near, found in beside
                    if any(quantity.rivals(other) and not other.is_in(own) for other in found)
                ),
                default=0,
            )
            comparable = quantity.unit is not None or quantity.is_year
            if comparable and held < ENOUGH_WORDS * len(said) <= rivalled:
                return True
        return False

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
    def copy(self) -> NearestCopy:
        headings = [part for passage in self.passages for part in passage.headings]
        return NearestCopy(
            self._claim.words,
            [unit.text for _, unit in self.near_units()],
            page=[word for passage in self.passages for word in passage.words],
            headings=content_words("\n\n".join(headings)),
            language=self._claim.language or self.passages[0].language,
        )

    @cached_property
    def replaced(self) -> list[Replaced]:
        return list(self.copy.replaced())

    @property
    def _is_english(self) -> bool:
        return tongue(self._claim.words) == "en"

    @property
    def says_other_words(self) -> bool:
        """Whether a word of its own changes the meaning; where nobody can be asked, whether a noun does that."""
        if not self.same_language:
            return False
        if not self.put_back:
            return any(one.noun for one in self.replaced)
        same_noun = SAME_NOUN if self._is_english else SAME_NOUN_ABROAD
        return any(likeness < (same_noun if one.noun else SAME_WORD) for one, likeness in self.put_back)

    def means_the_same(self) -> bool:
        if not self.same_language:
            return True  # neither words nor a monolingual embedder can tell; the hard facts were checked
        if self.likeness is None:
            return self.coverage >= ENOUGH_WORDS_ALONE
        if self.copy.new_nouns and self._is_english:
            several = len(self.copy.new_nouns) > 1
            return self.likeness >= (OWN_NOUNS_MEANING if several else OWN_NOUN_MEANING)
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
    """How alike are these two texts? `about`: the page's sentence, or the place where the page's words are put back."""

    support: Support
    pair: tuple[str, str]
    about: TextUnit | Replaced

    def answered(self, likeness: float) -> None:
        if isinstance(self.about, Replaced):
            self.support.put_back.append((self.about, likeness))
        else:
            self.support.similar[self.about] = likeness
