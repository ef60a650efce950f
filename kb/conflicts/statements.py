"""Where two pages disagree on a number or a date for the same thing. Pure but for the similarity that it is given.

A sentence that an answer rests on is held against the sentences of the other pages that were found. Most are out at
once: no figure of the same unit, or the same figure. What is left must speak of the same thing (shared words, and the
embedder's word for it), on the same terms (a maximum is no minimum, a day rate no month rate), and within the same
scope: other years, countries, plans, names, or a special case beside its rule are no conflict.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from kb.citations.fact_names import read_names
from kb.citations.fact_words import MONTHS, NUMBER_WORDS, UNITS, WEEKDAYS
from kb.conflicts.measures import BOUND_WORDS, Measure, Measured, read_measures, stating
from kb.conflicts.scopes import Scope, read_scope, scopes_differ
from kb.models import Chunk
from kb.pages.versions import version_in
from kb.text.language import detect
from kb.text.sentences import split_units
from kb.text.wording import STOP_WORDS, content_stems, plain, stem, tokens

Similarity = Callable[[list[tuple[str, str]]], Awaitable[list[float]]]

SAME_WORDS = 0.5
"""Share of the shorter sentence's meaning words that the other one or its headings must hold."""
SOME_WORDS = 0.3
"""Share of the longer sentence's meaning words that the other one must hold."""
ALIKE = 0.66
"""Cosine of two sentences, without their figures, from which they are about the same thing."""
ALIKE_OTHER_WORDS = 0.78
"""Cosine required where each side has words that the other lacks, which may tell two things apart."""

ALIKE_SUBJECT = 0.7
"""Cosine required where all that precedes the figures is equal: the rest is usually incidental."""

_FIGURES = re.compile(r"[€$£]?\s?\d+(?:[.,:'’]\d+)*\s?(?:%|°C)?")
_MEASURING = frozenset().union(NUMBER_WORDS, WEEKDAYS, MONTHS)
_NOT_TELLING = STOP_WORDS.union(MONTHS, NUMBER_WORDS, UNITS, WEEKDAYS, BOUND_WORDS)
_EMPTY_WORDS = frozenset(stem(word) for word in _NOT_TELLING if word.isalpha())


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A sentence, list item or table row of a passage."""

    chunk: Chunk
    text: str

    @cached_property
    def words(self) -> str:
        text = self.text.strip()
        if text.startswith("|"):
            cells = [cell.strip() for cell in text.strip("|").split("|") if cell.strip()]
            text = (": " if len(cells) == 2 else "; ").join(cells)
        return " ".join(plain(text).split())

    @cached_property
    def context(self) -> str:
        return " ".join((self.chunk.page.title, *self.chunk.section))

    @cached_property
    def measured(self) -> Measured:
        return read_measures(self.words)

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(content_stems(stating(self.words))) - _EMPTY_WORDS

    @cached_property
    def before_figure(self) -> frozenset[str]:
        """What the sentence says before its figure: its subject, more often than not."""
        figure = _FIGURES.search(self.words)
        return frozenset(content_stems(self.words[: figure.start()] if figure else "")) - _EMPTY_WORDS

    @cached_property
    def around(self) -> frozenset[str]:
        return frozenset(content_stems(self.context)) - _EMPTY_WORDS

    @cached_property
    def scope(self) -> Scope:
        return read_scope(stating(self.words), self.context)

    @cached_property
    def labels(self) -> frozenset[str]:
        """Figures that name something in the sentence or its headings: years, "band 3"."""
        return self.measured.labels | read_measures(self.context.replace("›", ".")).labels

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(stem(name) for name in read_names(self.words).words if not name[0].isdigit())

    @cached_property
    def passage_stems(self) -> frozenset[str]:
        return frozenset(content_stems(plain(self.chunk.embedded_text)))

    @cached_property
    def without_figures(self) -> str:
        heading = (*self.chunk.section, self.chunk.page.title)[-1 if self.chunk.section else 0]
        return f"{heading}: {_FIGURES.sub('…', stating(self.words))}"


@dataclass(frozen=True, kw_only=True)
class Dispute:
    """Two statements of different pages that cannot both hold."""

    stated: Statement
    other: Statement


async def find_disputes(
    stated: Sequence[Statement], passages: Sequence[Chunk], *, similarity: Similarity | None
) -> list[Dispute]:
    """Finds what other pages among `passages` say against `stated`; for each statement and page the likest sentence.

    `similarity`: pairs of texts -> cosines; None where nobody can be asked, and shared words alone must do.
    """
    if all(statement.measured.nothing for statement in stated):
        return []
    others = [other for other in _statements(passages) if _may_measure(other.text)]
    pairs = [
        Dispute(stated=statement, other=other)
        for statement in stated
        for other in others
        if may_disagree(statement, other)
    ]
    if not pairs:
        return []
    asked = [(pair.stated.without_figures, pair.other.without_figures) for pair in pairs]
    scores = await similarity(asked) if similarity is not None else [_shared(pair) for pair in pairs]
    best: dict[tuple[str, str, str], tuple[float, Dispute]] = {}
    for pair, score in zip(pairs, scores, strict=True):
        key = (pair.stated.chunk.id, pair.stated.text, pair.other.chunk.page.id)
        if score >= _wanted(pair) and (key not in best or score > best[key][0]):
            best[key] = (score, pair)
    return [pair for _, pair in best.values()]


def _may_measure(text: str) -> bool:
    return any(letter.isdigit() for letter in text) or not _MEASURING.isdisjoint(
        word.casefold() for word in tokens(text)
    )


def _statements(passages: Sequence[Chunk]) -> Iterator[Statement]:
    for chunk in passages:
        for unit in split_units(chunk.text):
            if unit.kind in ("sentence", "item", "row", "quote"):
                yield Statement(chunk=chunk, text=unit.text)


def may_disagree(first: Statement, second: Statement) -> bool:
    """Checks all but the similarity: other pages, same language, other figures for what may be the same thing."""
    if first.chunk.page.id == second.chunk.page.id or first.measured.nothing or second.measured.nothing:
        return False
    if first.chunk.page.language != second.chunk.page.language or not _figures_differ(first, second):
        return False
    if _shares(first, second)[0] < SAME_WORDS or _shares(first, second)[1] < SOME_WORDS:
        return False
    return not (
        first.labels != second.labels
        or scopes_differ(first.scope, second.scope)
        or _names_differ(first, second)
        or contrasted(stating(first.words), stating(second.words))
        or contrasted(first.chunk.page.title, second.chunk.page.title)
        or None is not version_in(first.chunk.page.place) != version_in(second.chunk.page.place) is not None
        or _language(first) != _language(second)
    )


def _language(statement: Statement) -> str:
    return detect(statement.words, hint=statement.chunk.page.language)


def _figures_differ(first: Statement, second: Statement) -> bool:
    """Tells whether exactly one kind of figure differs, and nothing says that the two are not to be compared."""
    mine, theirs = first.measured, second.measured
    if mine.per and theirs.per and mine.per != theirs.per:
        return False
    differing = 0
    for key in {measure.key for measure in mine.measures} | {measure.key for measure in theirs.measures}:
        left = [measure for measure in mine.measures if measure.key == key]
        right = [measure for measure in theirs.measures if measure.key == key]
        if not left or not right:
            return False  # a condition that only one of them has
        verdict = _compare(left, right, first, second)
        if verdict is None:
            return False
        differing += verdict
    days = _days_differ(first, second)
    if days is None:
        return False
    weekdays = bool(mine.weekdays and theirs.weekdays and mine.weekdays != theirs.weekdays)
    if weekdays and len(mine.weekdays) != len(theirs.weekdays):
        return False
    return differing + days + weekdays == 1


def _compare(
    left: Sequence[Measure], right: Sequence[Measure], first: Statement, second: Statement
) -> bool | None:
    """Tells whether measures of one kind differ; None where they cannot be compared."""
    if len(left) != len(right):
        return None
    left = sorted(left, key=lambda measure: measure.value)
    right = sorted(right, key=lambda measure: measure.value)
    pairs = [(a, b) for a, b in zip(left, right, strict=True) if not a.readings & b.readings]
    if not pairs:
        return False
    if any(_of_other_things(a, b, first, second) for a, b in pairs):
        return None
    return all(_exclude(a, b) for a, b in pairs) or None


def _exclude(first: Measure, second: Measure) -> bool:
    """Tells whether two measures exclude each other by their bounds: 25 is within "at most 30", not "at most 20"."""
    if first.relation and second.relation and first.relation != second.relation:
        return False
    if first.bound == second.bound:
        return True
    if first.bound and second.bound:
        return False
    exact, bound = (second, first) if first.bound else (first, second)
    return exact.value > bound.value if bound.bound == "most" else exact.value < bound.value


def _of_other_things(first: Measure, second: Measure, of_first: Statement, of_second: Statement) -> bool:
    """Tells whether the words behind the figures tell two things apart: "5 days of leave", "5 days of training"."""
    if not first.nouns or not second.nouns:
        return False
    known = of_second.stems | of_second.around
    known_here = of_first.stems | of_first.around
    return known.isdisjoint(first.nouns) or known_here.isdisjoint(second.nouns)


def _days_differ(first: Statement, second: Statement) -> bool | None:
    mine, theirs = first.measured.days, second.measured.days
    if not mine and not theirs:
        return False
    if len(mine) != len(theirs):
        return None
    if all((a.month, a.day) == (b.month, b.day) for a, b in zip(mine, theirs, strict=True)):
        return False
    for a, b in zip(mine, theirs, strict=True):
        if (a.day is None) != (b.day is None) or (a.year and b.year and a.year != b.year):
            return None  # another precision, or another year's occasion
    return True


def _shares(first: Statement, second: Statement) -> tuple[float, float]:
    """Returns the share of each sentence's meaning words that the other side holds, the larger first."""
    if not first.stems or not second.stems:
        return 0.0, 0.0
    if not first.stems & second.stems:
        return 0.0, 0.0
    mine = len(first.stems & (second.stems | second.around)) / len(first.stems)
    theirs = len(second.stems & (first.stems | first.around)) / len(second.stems)
    return max(mine, theirs), min(mine, theirs)


def _names_differ(first: Statement, second: Statement) -> bool:
    """Tells whether one of them names something that the other's passage does not mention."""
    return not (set(first.names) <= second.passage_stems and set(second.names) <= first.passage_stems)


def contrasted(first: str, second: str) -> bool:
    """Tells whether only one word differs, and it tells two things apart: "Dogs pay ...", "Cats pay ..."."""
    left, right = _telling(first), _telling(second)
    swaps = 0
    equal = 0
    for kind, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if kind == "equal":
            equal += b - a
        elif kind == "replace" and b - a == d - c <= 2:
            swaps += 1
        else:
            return False
    return swaps == 1 and equal >= 1


def _telling(text: str) -> list[str]:
    """Returns the stems of the words that carry meaning, figures and their units left out, in order."""
    words = [token.casefold() for token in tokens(_FIGURES.sub(" ", text))]
    return [stem(word) for word in words if word not in _NOT_TELLING]


def _wanted(pair: Dispute) -> float:
    first, second = pair.stated, pair.other
    lacking = first.stems - second.stems - second.around, second.stems - first.stems - first.around
    if not all(lacking):
        return ALIKE
    same_subject = len(first.before_figure) >= 2 and first.before_figure == second.before_figure
    return ALIKE_SUBJECT if same_subject else ALIKE_OTHER_WORDS


def _shared(pair: Dispute) -> float:
    return sum(_shares(pair.stated, pair.other)) / 2
