"""What a sentence measures: each figure with its unit, what it is of, how it is bounded, and per what. And its dates.

Built on `kb.citations.facts`, which knows the forms of numbers, units and dates; this adds
what is needed to tell whether two sentences measure the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from kb.citations.fact_days import Day, take_days
from kb.citations.fact_words import EVERY, NUMBER_WORDS, SCALES, UNITS, WEEKDAYS
from kb.citations.facts import read_facts
from kb.text.lexicon import any_of, by_name, union
from kb.text.wording import STOP_WORDS, plain, stem, tokens

Bound = Literal["", "most", "least"]
Relation = Literal["", "every", "after", "before"]

_MOST = union(lambda lexicon: lexicon.measures.most)
_LEAST = union(lambda lexicon: lexicon.measures.least)
_MORE = union(lambda lexicon: lexicon.measures.more)
_RIGHT_BEFORE: dict[str, Bound] = {
    **dict.fromkeys(union(lambda lexicon: lexicon.measures.most_before), "most"),
    **dict.fromkeys(union(lambda lexicon: lexicon.measures.least_before), "least"),
}
_CARRIED = union(lambda lexicon: lexicon.measures.carried)
_WITHIN = union(lambda lexicon: lexicon.measures.within)
_EXTREMES = union(lambda lexicon: lexicon.measures.extremes)
_MAY = union(lambda lexicon: lexicon.measures.may)
_RELATIONS: dict[str, Relation] = {
    **dict.fromkeys(union(lambda lexicon: lexicon.measures.every), "every"),
    **dict.fromkeys(union(lambda lexicon: lexicon.measures.after), "after"),
    **dict.fromkeys(union(lambda lexicon: lexicon.measures.before), "before"),
}
BOUND_WORDS = _MOST.union(_LEAST, _MORE, _RIGHT_BEFORE, _RELATIONS, _MAY)
_SIZES: dict[str, tuple[str, float]] = {
    "ms": ("time", 1e-3), "second": ("time", 1), "minute": ("time", 60), "hour": ("time", 3600),
    "day": ("time", 86_400), "week": ("time", 604_800), "month": ("months", 1), "year": ("months", 12),
    "mb": ("data", 1e-3), "gb": ("data", 1), "tb": ("data", 1e3),
    "mm": ("length", 1e-3), "cm": ("length", 1e-2), "meter": ("length", 1), "km": ("length", 1e3),
    "gram": ("mass", 1), "kg": ("mass", 1e3),
}  # fmt: skip
"""Unit -> what it measures, and its size: two weeks are 14 days. Months are of no fixed number of days."""
_BETWEEN = union(lambda lexicon: lexicon.measures.between)
_PIECE = re.compile(
    r"(?<![\w.])(?:[€$£]\s?)?\d+(?:[.,:'’]\d+)*(?:\s?(?:%|°C))?(?:st|nd|rd|th)?(?![\w])"
    r"|[^\W\d_]+(?:['’-][^\W\d_]+)*|[.,;:!?()|\[\]]"
)
_FIGURE = re.compile(r"[€$£]?\s?\d")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)$")
_PERIODS = by_name(lambda lexicon: lexicon.measures.rates)
_PERIOD_OF = {word.removesuffix("*"): name for word, name in {**_PERIODS, **EVERY}.items()}
_ANY_PERIOD = any_of(_PERIODS).replace(re.escape("*"), r"\w*")
_PER = re.compile(
    rf"\b(?:{any_of(union(lambda lexicon: lexicon.measures.per))})\s+(?:full\s+|calendar\s+|working\s+)?"
    rf"(?P<of>{_ANY_PERIOD})\b|\b(?P<ly>{any_of(EVERY)})",
    re.IGNORECASE,
)
_SINCE = re.compile(rf"\b(?:{any_of(union(lambda lexicon: lexicon.measures.since))})\s*$", re.IGNORECASE)
_DENIALS = union(lambda lexicon: lexicon.measures.denials)
_SERIES = frozenset(map(stem, union(lambda lexicon: lexicon.measures.series)))
_CLAUSE = re.compile(
    rf"[,;](?=\s)|\s(?=(?:{any_of(union(lambda lexicon: lexicon.measures.joins))}) (?:\w+ ){{0,3}}?(?!\d)[a-zà-ÿ]+ "
    rf"(?:{any_of(union(lambda lexicon: lexicon.measures.clause_objects))})\b)"
)
"""Between clauses: a comma, or an "and" that begins something else."""
_CONDITION = re.compile(
    rf"\s*(?:{any_of(union(lambda lexicon: lexicon.measures.conditions))}"
    rf"|(?:{any_of(union(lambda lexicon: lexicon.figures.joins))}) \d)\b",
    re.IGNORECASE,
)
_TELLING = {word for word, number in NUMBER_WORDS.items() if number != 1}.union(WEEKDAYS)
_LETTERED = re.compile(r"\b([^\W\d_]{3,}) ([A-HJ-Z])\b(?!['’.])")
"""An item of a series by its letter: "table A". An I is mostly a pronoun."""
_NOUNS = 3
_WINDOW = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """One figure in the base of its unit. `nouns`: stems of the words right behind it, which say what it is of."""

    readings: frozenset[float]
    unit: str | None
    bound: Bound
    relation: Relation
    nouns: tuple[str, ...]

    @property
    def value(self) -> float:
        return max(self.readings)

    @property
    def key(self) -> str:
        """What can be compared: the unit, or the things counted where there is none."""
        return self.unit or (self.nouns[0] if self.nouns else "")


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """All that a sentence measures. `labels`: figures that name something, as in "band 3" or "2026". `per`: rates."""

    measures: tuple[Measure, ...]
    days: tuple[Day, ...]
    weekdays: frozenset[int]
    labels: frozenset[str]
    per: frozenset[str]

    @property
    def nothing(self) -> bool:
        return not (self.measures or self.days or self.weekdays)


@lru_cache(maxsize=20_000)
def read_measures(text: str) -> Measured:
    """Returns what a sentence measures, without what its trailing clauses add ("..., and log it twice a day")."""
    words = stating(plain(text))
    days, rest = _taken(words)
    labels = {f"{stem(word)} {letter}" for word, letter in _LETTERED.findall(words)}
    measures = tuple(_measures(rest, labels))
    return Measured(
        measures=measures,
        days=tuple(days),
        weekdays=frozenset(
            WEEKDAYS[word] for token in tokens(words) if (word := token.casefold()) in WEEKDAYS
        ),
        labels=frozenset(labels),
        per=frozenset(_rates(words)),
    )


def stating(words: str) -> str:
    """Returns a sentence up to the first clause with a figure, and of the further clauses those that are conditions."""
    clauses = _CLAUSE.split(words)
    first = next((index for index, clause in enumerate(clauses) if _may_measure(clause)), None)
    if first is None:
        return words
    kept = [
        clauses[index] for index in range(len(clauses)) if index <= first or _CONDITION.match(clauses[index])
    ]
    return ", ".join(clause.strip() for clause in kept)


def _may_measure(clause: str) -> bool:
    return _FIGURE.search(clause) is not None or any(word.casefold() in _TELLING for word in tokens(clause))


def _taken(words: str) -> tuple[list[Day], str]:
    """Returns the dates that the sentence states, and the text without them.

    "From 1 January 2026" says since when, not what.
    """
    readings, rest = take_days(words, named_months=True)
    parts = rest.split(" | ")
    stated = [
        options[0]
        for options, before in zip(readings, parts, strict=False)
        if options and len(readings) == len(parts) - 1 and not _SINCE.search(before)
    ]
    return ([day for day in stated if day.month is not None], rest)


def _measures(text: str, labels: set[str]) -> Iterator[Measure]:
    pieces = list(_PIECE.finditer(text))
    for index, piece in enumerate(pieces):
        word = piece.group()
        is_figure = _FIGURE.match(word) is not None
        if not is_figure and word.casefold() not in NUMBER_WORDS:
            continue
        following = _until_stop([near.group() for near in pieces[index + 1 : index + 1 + _WINDOW]])
        before = [near.group() for near in pieces[max(0, index - 10) : index]]
        measure = _measure(word, following, [word.casefold() for word in before])
        if measure is None:
            continue
        if is_figure and _is_label(word, measure, before, first=index <= 1):
            labels.add(word if _is_year(word) else f"{stem(before[-1]) if before else ''} {word}".strip())
        elif is_figure or measure.unit is not None or measure.value >= 2:
            yield measure


def _until_stop(words: list[str]) -> list[str]:
    stop = next((index for index, word in enumerate(words) if word in ".,;:!?()|[]"), len(words))
    return words[:stop]


def _measure(word: str, following: list[str], before: list[str]) -> Measure | None:
    unit_at = next(
        (index for index, near_word in enumerate(following) if near_word.casefold() not in _BETWEEN), 0
    )
    scale = following[:1] if following and following[0].casefold() in SCALES else []
    near = following[unit_at : unit_at + 1] if following else []
    quantities = read_facts(
        " ".join([word, *scale, *(unit for unit in near if unit.casefold() in UNITS)])
    ).quantities
    if not quantities:
        return None
    first = quantities[0]
    kind, size = _SIZES.get(first.unit or "", (first.unit, 1.0))
    bound, word_of_bound = _bound(before)
    behind = [] if word_of_bound in _WITHIN else following
    after = [word_behind.casefold() for word_behind in following[unit_at + 1 : unit_at + 2]]
    relation: Relation = next(
        (_RELATIONS[word_behind] for word_behind in (*before[-1:], *after) if word_behind in _RELATIONS), ""
    )
    return Measure(
        readings=frozenset(round(reading * size, 9) for reading in first.readings),
        unit=kind,
        bound=bound,
        relation=relation,
        nouns=tuple(_nouns(behind)),
    )


def _nouns(following: list[str]) -> list[str]:
    """Returns the words right behind a figure and its unit, up to the first that begins something else."""
    found: list[str] = []
    for word in following:
        folded = word.casefold()
        if folded in _BETWEEN or folded in UNITS:
            continue
        if folded in STOP_WORDS or folded in BOUND_WORDS or not word[:1].isalpha() or folded in NUMBER_WORDS:
            break
        found.append(stem(word))
    return found[:_NOUNS]


def _bound(before: list[str]) -> tuple[Bound, str]:
    """Returns how the words before a figure bound it, and the word that does."""
    if before and (found := _RIGHT_BEFORE.get(before[-1])) and _CARRIED.isdisjoint(before[-2:-1]):
        return found, before[-1]
    for index in range(len(before) - 1, -1, -1):
        word = before[index]
        if word in _EXTREMES or index >= len(before) - 2:
            if word in _MORE:
                return ("least" if _DENIALS.isdisjoint(before[:index]) else "most"), word
            if word in _MOST:
                return "most", word
            if word in _LEAST:
                return "least", word
    return ("", "") if _MAY.isdisjoint(before) else ("most", "may")


def _is_label(word: str, measure: Measure, before: list[str], *, first: bool) -> bool:
    """Tells whether the figure names something: a year, "band 3", "ISO 27001", "1st"."""
    if measure.unit is not None:
        return False
    if _ORDINAL.search(word) or _is_year(word):
        return True
    if not before or not before[-1].isalpha():
        return False
    named = before[-1]
    return stem(named) in _SERIES or (named[0].isupper() and (not first or named.isupper()))


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdigit() and 1900 <= int(word) <= 2100


def _rates(words: str) -> Iterator[str]:
    for match in _PER.finditer(words):
        word = (match["of"] or match["ly"]).casefold()
        yield _PERIOD_OF.get(word, stem(word))
