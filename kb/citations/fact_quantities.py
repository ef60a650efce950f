"""Figures with their units as a text states them: digits, words, clock times, rates, ordinals.

English, Dutch, German, Spanish and French.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kb.citations.fact_spoken import take_spoken
from kb.citations.fact_words import (
    LISTED_THINGS,
    NUMBER_WORDS,
    ORDINAL,
    ORDINALS,
    RATE_WORDS,
    SCALES,
    SMALLER,
    TIME_UNITS,
    UNITS,
)
from kb.citations.tongue import tongue

CLOCK = "clock"
LABEL = "#"
"""The unit of what numbers or counts its items: it holds no figure that has a unit of its own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Quantity:
    """`readings`: what the figure can mean; 1.500 is 1500 or 1.5. `unit` is canonical, None where none is known.

    `per` is the unit of a rate: the week of "350 euros a week".
    """

    readings: frozenset[float]
    unit: str | None
    per: str | None = None
    counts: bool = False
    """It says how many things are about to be told, as in "there are two options: ..."; no page has to say that."""

    def is_in(self, others: Iterable[Quantity]) -> bool:
        """Whether one of the others can mean the same and speaks of the same unit, as far as both name one."""
        return any(
            _units_agree(self.per, other.per)
            and (
                (self.readings & other.readings and _units_agree(self.unit, other.unit))
                or (self.unit != other.unit and bool(self.measures & other.measures))
            )
            for other in others
        )

    def rivals(self, other: Quantity) -> bool:
        """Whether the other answers the same question otherwise: 30 days for two weeks, 1938 for 1933."""
        kinds = {"time" if unit in TIME_UNITS else unit for unit in (self.unit, other.unit)}
        comparable = self.unit not in (None, LABEL) or (self._is_year and other._is_year)
        return comparable and len(kinds) == 1 and not self.is_in([other])

    @property
    def _is_year(self) -> bool:
        return self.unit is None and any(1800 <= reading <= 2100 for reading in self.readings)

    @property
    def measures(self) -> frozenset[tuple[str, float]]:
        """The same in smaller units of time: "two weeks" is 14 days too."""
        if self.unit is None:
            return frozenset()
        found = {(self.unit, reading) for reading in self.readings}
        if self.unit in SMALLER:
            found |= {
                (unit, reading * times) for unit, times in SMALLER[self.unit] for reading in self.readings
            }
        return frozenset(found)


def _units_agree(one: str | None, other: str | None) -> bool:
    return one is None or other is None or one == other or {one, other} == {CLOCK, "hour"}


_CLOCK = re.compile(
    r"\b(\d{1,2}):(\d{2})\s*([ap]\.?m\b\.?)?|\b(\d{1,2})\.(\d{2})\s*(?:uur|uhr)\b|\b(\d{1,2})\s*([ap]\.?m\b\.?)",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?<![\w/])(?<!\d[.,])(?P<currency>[€$£]\s*)?(?P<figure>\d{1,3}(?:[   ]\d{3})+(?:[.,]\d+)?|\d+(?:[.,']\d+)*)(?P<attached>%|°C|[^\W\d_]+)?"
)
_CURRENCY = {"€": "eur", "$": "usd", "£": "gbp"}
_ORDINAL = frozenset({"st", "nd", "rd", "th", "e", "de", "ste"})
_ONE_UNIT = re.compile(
    r"\b(?:than|within|after|least|most|dan|binnen|na|als|innerhalb|nach|dentro de|en|dans)"
    r" (?:a|an|een|ein|eine|einen|einem|einer|eines|un|una|une) ([^\W\d_]+)",
    re.IGNORECASE,
)
_UNIT_REACH = 3
"""Words between a number and its unit: "5 full working days"."""


_RATE_REACH = 8
MOST_COUNTED = 12
"""Things that an answer counts before it lists them; more are a figure of the page."""


def read_quantities(text: str) -> Iterator[Quantity]:
    text, spoken = take_spoken(text)
    yield from (Quantity(readings=readings, unit=unit) for readings, unit in spoken)
    text, clocks = _take_clocks(text)
    yield from clocks
    yield from _units_alone(text)
    dutch = tongue(text) == "nl"
    for match in _NUMBER.finditer(text):
        figure, attached = match["figure"], (match["attached"] or "").casefold()
        if re.match(r"[-_]?[^\W\d_]|[.]\d", text[match.end() :]) and attached:
            continue  # part of a longer code such as 3f-a1
        readings = _readings(figure)
        if not readings:
            continue
        following = text[match.end() :]
        scale = SCALES.get(attached) or SCALES.get(_first_word(following), 1.0)
        unit = ORDINAL if attached in _ORDINAL else UNITS.get(attached)
        if match["currency"]:
            unit = _CURRENCY[match["currency"].strip()]
        yield Quantity(
            readings=frozenset(reading * scale for reading in readings),
            unit=unit or _unit_after(following),
            per=_rate_after(following),
            counts=max(readings) <= MOST_COUNTED and _counts_what_follows(following),
        )
    for match in re.finditer(r"[^\W\d_]+(?:-[^\W\d_]+)?", text):
        word, end = match.group().casefold(), match.end()
        if word not in NUMBER_WORDS and (first := word.partition("-")[0]) in NUMBER_WORDS:
            word, end = first, match.start() + len(first)  # "eight-year"
        if word in ORDINALS:
            yield Quantity(readings=frozenset({float(ORDINALS[word])}), unit=ORDINAL)
        value = None if dutch and word == "ten" else NUMBER_WORDS.get(word)
        if value is not None:
            following = text[end:]
            scale = SCALES.get(_first_word(following), 1.0)
            yield Quantity(
                readings=frozenset({value * scale}),
                unit=_unit_after(following),
                per=_rate_after(following),
                counts=value <= MOST_COUNTED and _counts_what_follows(following),
            )


def _units_alone(text: str) -> Iterator[Quantity]:
    """ "Within a day" is one day."""
    for match in _ONE_UNIT.finditer(text):
        if (word := match[1].casefold()) in UNITS:
            yield Quantity(readings=frozenset({1.0}), unit=UNITS[word])


def _take_clocks(text: str) -> tuple[str, list[Quantity]]:
    found: list[Quantity] = []

    def keep(match: re.Match[str]) -> str:
        hour, minute = int(match[1] or match[4] or match[6]), int(match[2] or match[5] or 0)
        half = (match[3] or match[7] or "").casefold()[:1]
        hour = hour % 12 + (12 if half == "p" else 0) if half else hour
        found.append(Quantity(readings=frozenset({hour + minute / 60}), unit=CLOCK))
        return " | "

    return _CLOCK.sub(keep, text), found


def _readings(figure: str) -> frozenset[float]:
    """1.500 -> {1500, 1.5}; 1.234,56 -> {1234.56}; 1.2.3 -> {}: a version, not a number."""
    bare = re.sub(r"[  ' ]", "", figure)
    if bare.isdigit():
        return frozenset({float(bare)})
    marks = re.findall(r"[.,]", bare)
    readings = set()
    if len(set(marks)) == 1 and re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", bare):
        readings.add(float(re.sub(r"[.,]", "", bare)))
    if len(marks) == 1:
        readings.add(float(bare.replace(",", ".")))
    elif len(set(marks)) == 2 and marks.count(marks[-1]) == 1:
        whole, _, fraction = bare.rpartition(marks[-1])
        readings.add(float(re.sub(r"[.,]", "", whole) + "." + fraction))
    return frozenset(readings)


def _counts_what_follows(text: str) -> bool:
    """ "... two billing plans available: A and B", "three steps"."""
    clause = re.match(r"[^.;!?()|\d:]*", text)
    words = clause.group() if clause else ""
    nouns = [word.casefold() for word in re.findall(r"[^\W\d_]+", words)]
    return text[len(words) :][:1] == ":" or not LISTED_THINGS.isdisjoint(nouns[:_UNIT_REACH])


def _first_word(text: str) -> str:
    match = re.match(r"\s*([^\W\d_]+)", text)
    return match.group(1).casefold() if match else ""


def _unit_after(text: str) -> str | None:
    for piece in re.findall(r"°[CF]|[^\W\d_]+|[%€$£]|[|;:.!?()]|,", text)[:_UNIT_REACH]:
        if piece in "|;:.!?(),":
            return None
        if unit := UNITS.get(piece.casefold()):
            return unit
    return None


def _rate_after(text: str) -> str | None:
    """The unit behind "a", "per", "each": an article makes a rate only where a unit of time follows at once."""
    clause = re.split(r"[|;:.!?(),]", text, maxsplit=1)[0]
    words = [word.casefold() for word in re.findall(r"[^\W_]+|/", clause)[:_RATE_REACH]]
    for word, following in itertools.pairwise(words):
        if word in RATE_WORDS and UNITS.get(following) in TIME_UNITS:
            return UNITS[following]
    return None
