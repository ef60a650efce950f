"""Figures with their units as a text states them: digits, words, clock times, rates, ordinals."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from kb.citations.fact_words import (
    NUMBER_WORDS,
    ORDINAL,
    ORDINALS,
    SCALES,
    SMALLER,
    TIME_UNITS,
    UNITS,
    WEEKDAYS,
    WRITTEN,
)
from kb.text.language import detect
from kb.text.lexicon import any_of, lexicon, union
from kb.text.wording import STOP_WORDS, stem

CLOCK = "clock"
LABEL = "#"
"""The unit of what numbers its items: it holds no figure that has a unit of its own."""
MOST_COUNTED = 12
"""Things that an answer may count by itself; more are a figure of the page."""
_REACH = 3
"""Words between a number and its unit: "5 full working days"."""
_RATE_REACH = 8
_ARTICLES = rf"(?:{any_of(union(lambda lexicon: lexicon.words.indefinite))})"
_ENDINGS = union(lambda lexicon: lexicon.figures.ordinal_endings)
_RATE = union(lambda lexicon: lexicon.figures.rate)
_WRITTEN = re.compile(rf"\b(?:{any_of(WRITTEN)})\b", re.IGNORECASE)
_ONE_UNIT = re.compile(
    rf"\b(?:{any_of(union(lambda lexicon: lexicon.figures.bounds))}) {_ARTICLES} ([^\W\d_]+)", re.IGNORECASE
)
_CLOCK = re.compile(
    r"\b(\d{1,2}):(\d{2})\s*([ap]\.?m\b\.?)?"
    rf"|\b(\d{{1,2}})\.(\d{{2}})\s*(?:{any_of(union(lambda lexicon: lexicon.figures.clock))})\b"
    r"|\b(\d{1,2})\s*([ap]\.?m\b\.?)",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?<![\w/])(?<!\d[.,])(?P<currency>(?:R\$|[€$£])\s*)?(?P<figure>\d{1,3}(?:[ "
    r"\u00a0\u202f]\d{3})+(?:[.,]\d+)?|\d+(?:[.,']\d+)*)"
    r"(?P<attached>%|°C|[^\W\d_]+)?(?=(?P<code>[-_]?[^\W\d_]|[.]\d)?)"
    rf"|(?<![\w-])(?P<word>{any_of({*NUMBER_WORDS, *ORDINALS})})(?!\w)",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(rf"(?:{any_of(WEEKDAYS)})(?!\w)", re.IGNORECASE)
"""Some are counted: "segunda-feira"."""
_NAMED = re.compile(r"(?<![^\W\d_])([^\W\d_]+)[ *_`]*$")
_PIECE = re.compile(r"°[CF]|[^\W\d_]+|[%€$£]|[|;:.!?(),]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Quantity:
    """`readings`: what the figure can mean; 1.500 is 1500 or 1.5. `unit` is canonical, None where none is known.

    `per` is the unit of a rate: the week of "350 euros a week".
    `things`: of a small count without a unit, stems of the words behind it; None of other figures.
    """

    readings: frozenset[float]
    unit: str | None
    per: str | None = None
    things: frozenset[str] | None = None

    def is_in(self, others: Iterable[Quantity]) -> bool:
        """Tells whether one of the others can mean the same, and has the same unit where both name one."""
        return any(
            _units_agree(self.per, other.per)
            and (
                (self.readings & other.readings and _units_agree(self.unit, other.unit))
                or (self.unit != other.unit and bool(self.measures & other.measures))
            )
            for other in others
        )

    def is_counted_otherwise(self, others: Iterable[Quantity]) -> bool:
        """Tells whether one of the others counts the same things differently: "two stacks" for "three stacks"."""
        own = self.things or frozenset()
        shared = (
            (own & other.things, min(len(own), len(other.things), 2)) for other in others if other.things
        )
        return bool(own) and any(len(both) >= enough for both, enough in shared)

    def rivals(self, other: Quantity) -> bool:
        """Tells whether the other answers the same question differently: 30 days for two weeks, 1938 for 1933."""
        kinds = {"time" if unit in TIME_UNITS else unit for unit in (self.unit, other.unit)}
        comparable = self.unit not in (None, LABEL) or (self._is_year and other._is_year)
        return comparable and len(kinds) == 1 and not self.is_in([other])

    @property
    def _is_year(self) -> bool:
        return self.unit is None and any(1800 <= reading <= 2100 for reading in self.readings)

    @property
    def measures(self) -> frozenset[tuple[str, float]]:
        """The quantity in its own and in smaller units of time: "two weeks" is 14 days too."""
        units = () if self.unit is None else ((self.unit, 1.0), *SMALLER.get(self.unit, ()))
        return frozenset((unit, reading * times) for unit, times in units for reading in self.readings)

    @classmethod
    def at(cls, text: str, start: int, end: int, readings: Iterable[float], unit: str | None) -> Self:
        """Reads the figure that stands there, with what the words behind it say of it."""
        behind = text[end:]
        words = _words_behind(behind)
        unit = unit or next((UNITS[word] for word in words[:_REACH] if word in UNITS), None)
        scale = SCALES.get(words[0], 1.0) if words else 1.0
        readings = frozenset(reading * scale for reading in readings)
        per = _rate_after(behind)
        small = unit is None and per is None and max(readings) <= MOST_COUNTED
        counts = small and _is_count(text[:start], text[start:end], behind, words)
        things = frozenset(stem(word) for word in words[:_REACH] if word not in STOP_WORDS)
        return cls(readings=readings, unit=unit, per=per, things=things if counts else None)


def _units_agree(first: str | None, second: str | None) -> bool:
    return first is None or second is None or first == second or {first, second} == {CLOCK, "hour"}


def read_quantities(text: str) -> Iterator[Quantity]:
    text = _WRITTEN.sub(lambda match: WRITTEN[match.group().casefold()], text)
    text, clocks = _take_clocks(text)
    yield from clocks
    for match in _ONE_UNIT.finditer(text):  # "within a day" is one day
        if unit := UNITS.get(match[1].casefold()):
            yield Quantity(readings=frozenset({1.0}), unit=unit)
    others = lexicon(detect(text)).figures.not_numbers
    for match in _NUMBER.finditer(text):
        word, attached = (match["word"] or "").casefold(), (match["attached"] or "").casefold()
        if word in ORDINALS and _WEEKDAY.match(text, match.start()) is None:
            yield Quantity(readings=frozenset({float(ORDINALS[word])}), unit=ORDINAL)
        readings = [NUMBER_WORDS[word]] if word in NUMBER_WORDS else _readings(match["figure"] or "")
        if not readings or word in others or (attached and match["code"]):
            continue  # part of a longer code such as 3f-a1
        scale = SCALES.get(attached, 1.0)
        unit = ORDINAL if attached in _ENDINGS else UNITS.get(attached)
        if match["currency"]:
            unit = UNITS[match["currency"].strip().casefold()]
        yield Quantity.at(text, match.start(), match.end(), [reading * scale for reading in readings], unit)


def _take_clocks(text: str) -> tuple[str, list[Quantity]]:
    found: list[Quantity] = []

    def keep(match: re.Match[str]) -> str:
        hour, minute = int(match[1] or match[4] or match[6]), int(match[2] or match[5] or 0)
        half = (match[3] or match[7] or "").casefold()[:1]
        hour = hour % 12 + (12 if half == "p" else 0) if half else hour
        found.append(Quantity(readings=frozenset({hour + minute / 60}), unit=CLOCK))
        return " | "

    return _CLOCK.sub(keep, text), found


def _readings(figure: str) -> list[float]:
    """Reads a figure: 1.500 as 1500 or 1.5; 1.234,56 as 1234.56; 1.2.3 as none, since it is a version."""
    bare = re.sub(r"[ \u00a0\u202f']", "", figure)
    marks = re.findall(r"[.,]", bare)
    readings = []
    if bare and len(set(marks)) < 2 and re.fullmatch(r"\d+|\d{1,3}(?:[.,]\d{3})+", bare):
        readings.append(float(re.sub(r"[.,]", "", bare)))
    if marks and marks.count(marks[-1]) == 1 and len(set(marks)) == len(marks[:2]):
        whole, _, fraction = bare.rpartition(marks[-1])
        readings.append(float(f"{re.sub(r'[.,]', '', whole)}.{fraction}"))
    return readings


def _is_count(before: str, figure: str, behind: str, words: list[str]) -> bool:
    """Tells whether it counts things: a word with something behind it, or digits that do not name ("exit code 2")."""
    if not figure[0].isdigit():
        return bool(words) or behind[:1] == ":"
    named = _NAMED.search(before[-40:])
    return named is None or named[1].casefold() in STOP_WORDS


def _words_behind(text: str) -> list[str]:
    """Returns the words up to the next stop."""
    pieces = (piece.casefold() for piece in _PIECE.findall(text[:120]))
    return list(itertools.takewhile(lambda piece: piece not in "|;:.!?(),", pieces))


def _rate_after(text: str) -> str | None:
    """Returns the unit behind "a", "per", "each": an article makes a rate only where a unit of time follows at once."""
    clause = re.split(r"[|;:.!?(),]", text, maxsplit=1)[0]
    words = [word.casefold() for word in re.findall(r"[^\W_]+|/", clause)[:_RATE_REACH]]
    units = (UNITS.get(after) for word, after in itertools.pairwise(words) if word in _RATE)
    return next((unit for unit in units if unit in TIME_UNITS), None)
