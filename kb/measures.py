"""What a sentence measures: each figure with its unit, what it is of, how it is bounded, and per what. And its dates.

Built on `kb.citations.facts`, which knows the forms of numbers, units and dates in English, Dutch and German; this adds
what is needed to tell whether two sentences measure the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from kb.citations.fact_days import Day, take_days
from kb.citations.fact_words import NUMBER_WORDS, UNITS, WEEKDAYS
from kb.citations.facts import read_facts
from kb.text.wording import STOP_WORDS, plain, stem, tokens, word_set

Bound = Literal["", "most", "least", "every", "after", "before"]

_BOUNDS: dict[Bound, frozenset[str]] = {
    "most": word_set(
        "maximum max most maximal maximaal höchstens hoogstens within binnen innerhalb limited up under below "
        "exceed less fewer capped cap upto tot bis"
    ),
    "least": word_set(
        "minimum min least minimal minimaal mindestens minstens ten above over more longer exceeds ab vanaf from"
    ),
    "every": word_set("every each elke iedere alle jede jeden"),
    "after": word_set("after na nach later following"),
    "before": word_set("before prior advance vooraf voor vor ahead"),
}
_BOUND_OF = {word: bound for bound, words in _BOUNDS.items() for word in words}
BOUND_WORDS = frozenset(_BOUND_OF)
_PIECE = re.compile(
    r"(?<![\w.])(?:[€$£]\s?)?\d+(?:[.,:'’]\d+)*(?:\s?(?:%|°C))?(?:st|nd|rd|th)?(?![\w])"
    r"|[^\W\d_]+(?:['’-][^\W\d_]+)*|[.,;:!?()|\[\]]"
)
_FIGURE = re.compile(r"[€$£]?\s?\d")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)$")
_PER = re.compile(
    r"\b(?:per|an?|each|every|pro|je|elke|iedere|in de|im|am|the)\s+(?:full\s+|calendar\s+|working\s+)?"
    r"(?P<of>hour|day|week|month|quarter|year|night|kilomet\w+|km|mile|person|user|seat|employee|guest|item|order"
    r"|page|request|second|minute|uur|dag|week|maand|kwartaal|jaar|nacht|persoon|gebruiker|medewerker|stunde|tag|woche"
    r"|monat|quartal|jahr|übernachtung|person|mitarbeiter\w*|nutzer)\b"
    r"|(?P<ly>hourly|daily|weekly|monthly|quarterly|yearly|annual(?:ly)?|dagelijks|wekelijks|maandelijks|jaarlijks"
    r"|täglich|wöchentlich|monatlich|jährlich)",
    re.IGNORECASE,
)
_PERIODS = {
    canonical: word_set(words)
    for canonical, words in {
        "hour": "hour hourly uur stunde",
        "day": "day daily dag dagelijks tag täglich",
        "week": "week weekly wekelijks woche wöchentlich",
        "month": "month monthly maand maandelijks monat monatlich",
        "quarter": "quarter quarterly kwartaal quartal",
        "year": "year yearly annual annually jaar jaarlijks jahr jährlich",
        "night": "night nacht übernachtung",
        "person": "person persoon user gebruiker nutzer seat guest employee medewerker mitarbeiter",
    }.items()
}
_PERIOD_OF = {word: canonical for canonical, words in _PERIODS.items() for word in words}
_SINCE = re.compile(
    r"\b(?:from|since|as of|as from|starting|effective|per|vanaf|sinds|met ingang van|ab|seit|zum)\s*$",
    re.IGNORECASE,
)
_BOUNDS_BEHIND = word_set("after before advance ahead later na nach vooraf prior maximum minimum")
_NOT = word_set("no not never nicht nie niet nooit geen kein keine")
_SERIES = frozenset(
    stem(word)
    for word in word_set(
        "band level tier grade class type option version release group zone floor room chapter section article line "
        "terminal gate part schedule appendix annex step phase stage day week category plan priority severity building "
        "niveau schaal schijf fase stap versie groep etage kamer hoofdstuk artikel bijlage categorie "
        "stufe klasse gruppe zone etage raum kapitel abschnitt anhang schritt kategorie priorität tarif"
    )
)
_NOUNS = 3
_WINDOW = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """One figure. `nouns`: stems of the words right behind it, which say what it is of, the nearest first."""

    readings: frozenset[float]
    unit: str | None
    bound: Bound
    nouns: tuple[str, ...]

    @property
    def value(self) -> float:
        return max(self.readings)

    @property
    def key(self) -> str:
        """What can be compared: the unit, or for a bare count what is counted."""
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
    words = plain(text)
    days, rest = _taken(words)
    labels: set[str] = set()
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


def _taken(words: str) -> tuple[list[Day], str]:
    """The dates that the sentence states, and the text without them. "From 1 January 2026" says since when, not what."""
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
    for at, piece in enumerate(pieces):
        word = piece.group()
        is_figure = _FIGURE.match(word) is not None
        if not is_figure and word.casefold() not in NUMBER_WORDS:
            continue
        following = _until_stop([one.group() for one in pieces[at + 1 : at + 1 + _WINDOW]])
        before = [one.group() for one in pieces[max(0, at - 4) : at]]
        measure = _measure(word, following, [one.casefold() for one in before])
        if measure is None:
            continue
        if is_figure and _is_label(word, measure, before, first=at <= 1):
            labels.add(word if _is_year(word) else f"{stem(before[-1]) if before else ''} {word}".strip())
        elif is_figure or measure.unit is not None or measure.value >= 2:
            yield measure


def _until_stop(words: list[str]) -> list[str]:
    stop = next((at for at, word in enumerate(words) if word in ".,;:!?()|[]"), len(words))
    return words[:stop]


def _measure(word: str, following: list[str], before: list[str]) -> Measure | None:
    quantities = read_facts(" ".join([word, *following])).quantities
    if not quantities:
        return None
    first = quantities[0]
    nouns = [
        stem(one)
        for one in following
        if one.casefold() not in STOP_WORDS and one.casefold() not in UNITS and one[:1].isalpha()
        and one.casefold() not in NUMBER_WORDS and one.casefold() not in BOUND_WORDS
    ]  # fmt: skip
    return Measure(
        readings=first.readings,
        unit=first.unit,
        bound=_bound(before, following),
        nouns=tuple(nouns[:_NOUNS]),
    )


def _bound(before: list[str], following: list[str]) -> Bound:
    near = range(len(before) - 1, -1, -1)
    at = next(
        (at for at in near if (bound := _BOUND_OF.get(before[at])) and (bound != "every" or at == near[0])),
        None,
    )
    if at is None:
        behind = [word.casefold() for word in following[1:3]]
        return next((_BOUND_OF[word] for word in behind if word in _BOUNDS_BEHIND), "")
    bound = _BOUND_OF[before[at]]
    if bound == "least" and not _NOT.isdisjoint(before[:at]):
        return "most"
    return bound


def _is_label(word: str, measure: Measure, before: list[str], *, first: bool) -> bool:
    """Whether the figure names something: a year, "band 3", "ISO 27001", "1st"."""
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
