"""Figures as people say them: "half past seven", "5 in the afternoon", "two thirds", "three out of five", "half a year".

Each becomes the same value that its written form has: 7.5 or 19.5 on the clock, 66.7%, six months.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from kb.citations.fact_words import NUMBER_WORDS

Spoken = tuple[frozenset[float], Literal["clock", "%", "month", "minute", "day"]]
"""What it can mean, and its unit."""

_HOURS = {
    word: int(value) for word, value in NUMBER_WORDS.items() if 1 <= value <= 12 and value == int(value)
} | {
    "noon": 12,
    "midnight": 12,
    "una": 1,
    "une": 1,
    "één": 1,
    "eins": 1,
}
_HOUR = "(?P<hour>" + "|".join(sorted(_HOURS, key=len, reverse=True)) + r"|\d{1,2})"
_MORNING = (
    r"in the morning|['’]s (?:morgens|ochtends)|in de ochtend|morgens|vormittags|am (?:morgen|vormittag)"
    r"|de la mañana|du matin"
)
_EVENING = (
    r"in the (?:afternoon|evening)|['’]s (?:middags|avonds)|in de (?:middag|avond)|nachmittags|abends"
    r"|am (?:nachmittag|abend)|de la (?:tarde|noche)|de l['’]après-midi|du soir"
)
_PART = rf"(?:[ ,]*(?:(?P<morning>{_MORNING})|(?P<evening>{_EVENING})))"
_OCLOCK = r"(?: ?(?:o['’]clock|uur|uhr|heures?|h))?"
_PAST = re.compile(
    rf"\b(?:(?P<half>half past)|(?P<quarter>quarter past|kwart over|viertel nach)"
    rf"|(?P<to>quarter to|kwart voor|viertel vor)|(?P<half_to>half|halb)) {_HOUR}\b{_OCLOCK}{_PART}?",
    re.IGNORECASE,
)
_AND_HALF = re.compile(
    rf"\b{_HOUR}(?: heures?)? (?:(?P<half>y media|et demie)|(?P<quarter>y cuarto|et quart)"
    rf"|(?P<to>menos cuarto|moins le quart))\b{_PART}?",
    re.IGNORECASE,
)
_IN_PART = re.compile(rf"\b{_HOUR}(?:[:.](?P<minute>\d{{2}}))?\b{_OCLOCK}{_PART}", re.IGNORECASE)
_WHOLE = re.compile(rf"\b{_HOUR} o['’]clock\b", re.IGNORECASE)
_NAMED = re.compile(
    r"\b(?:(?P<noon>noon|midday|mediodía)|(?P<midnight>midnight|middernacht|mitternacht|medianoche|minuit))\b",
    re.IGNORECASE,
)
_PARTS = {"half": 0.5, "quarter": 0.25, "to": -0.25, "half_to": -0.5}

_COUNT = r"(?P<count>\d+|[^\W\d_]+)"
_WHOLE_OF = r"(?P<whole>\d+|[^\W\d_]+)"
_RATIO = re.compile(rf"\b{_COUNT} (?:out of(?: every)?|van de|von|de cada|sur) {_WHOLE_OF}\b", re.IGNORECASE)
_DENOMINATORS = {
    2: "half halves",
    3: "third thirds derde drittel tercio tercios tiers",
    4: "quarter quarters kwart vierde viertel cuarto cuartos quart quarts",
    5: "fifth fifths vijfde fünftel quinto quintos cinquième cinquièmes",
    10: "tenth tenths tiende zehntel décimo décimos dixième dixièmes",
}
_DENOMINATOR = {word: value for value, words in _DENOMINATORS.items() for word in words.split()}
_ONE = frozenset({"a", "an", "een", "ein", "eine", "einem", "un", "one", "één"})
_FRACTION = re.compile(
    r"\b(?P<count>[^\W\d_]+)[ -](?P<part>"
    + "|".join(sorted(_DENOMINATOR, key=len, reverse=True))
    + r")\b(?P<of> (?:of|van|der|des|von|de|del|des|du)\b)?",
    re.IGNORECASE,
)
_HALF = re.compile(
    r"\bhalf (?=(?:of|the|its|their|his|her|your|our|all|my|these|those)\b)"
    r"|\b(?:the half|one half|de helft|(?:die|der) hälfte|(?:la|una) mitad|la moitié)\b",
    re.IGNORECASE,
)
_HALF_YEAR = re.compile(
    r"\b(?:half a year|half-year|half (?:een )?jaar|halfjaar|halbe[sn]? jahr|medio año)\b",
    re.IGNORECASE,
)
_HALF_HOUR = re.compile(
    r"\b(?:half (?:an )?hour|half uur(?:tje)?|halbe[n]? stunde|media hora|demi-heure)\b", re.IGNORECASE
)
_QUARTER_HOUR = re.compile(
    r"\b(?:quarter of an hour|kwartier|viertelstunde|cuarto de hora|quart d['’]heure)\b", re.IGNORECASE
)
_FORTNIGHT = re.compile(r"\b(?:a |one )?fortnight\b", re.IGNORECASE)


def take_spoken(text: str) -> tuple[str, list[Spoken]]:
    """The figures said in words, and the text without them."""
    found: list[Spoken] = []
    for pattern, read in _READERS:

        def keep(match: re.Match[str], read: Callable[[re.Match[str]], Spoken | None] = read) -> str:
            spoken = read(match)
            if spoken is None:
                return match.group()
            found.append(spoken)
            return " | "

        text = pattern.sub(keep, text)
    return text, found


def _clock(match: re.Match[str]) -> Spoken | None:
    """On both halves of the day, unless it says which."""
    groups = match.groupdict()
    said = groups["hour"].casefold()
    hour = int(said) if said.isdigit() else _HOURS[said]
    if hour > 12:
        return None
    time = hour + next((part for name, part in _PARTS.items() if groups.get(name)), 0.0)
    time += int(groups.get("minute") or 0) / 60
    halves = {False: time % 12, True: time % 12 + 12}
    if groups.get("morning"):
        return frozenset({halves[False]}), "clock"
    if groups.get("evening"):
        return frozenset({halves[True]}), "clock"
    return frozenset(halves.values()), "clock"


def _named(match: re.Match[str]) -> Spoken:
    return frozenset({12.0} if match["noon"] else {0.0, 24.0}), "clock"


def _ratio(match: re.Match[str]) -> Spoken | None:
    count, whole = _value(match["count"]), _value(match["whole"])
    return _share(count / whole) if count and whole and count <= whole else None


def _fraction(match: re.Match[str]) -> Spoken | None:
    """ "A third of", "two thirds"; not "a third party"."""
    said, part = match["count"].casefold(), match["part"].casefold()
    count = 1.0 if said in _ONE else _value(said)
    if not count or (count == 1 and not match["of"]) or count >= _DENOMINATOR[part]:
        return None
    return _share(count / _DENOMINATOR[part])


def _share(share: float) -> Spoken:
    """As a percentage with and without its decimal: a third is 33.3% and 33%."""
    return frozenset({float(round(share * 100)), round(share * 100, 1)}), "%"


def _value(word: str) -> float | None:
    return float(word) if word.isdigit() else NUMBER_WORDS.get(word.casefold())


def _always(value: float, unit: Literal["%", "month", "minute", "day"]) -> Callable[[re.Match[str]], Spoken]:
    return lambda _: (frozenset({value}), unit)


_READERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Spoken | None]], ...] = (
    (_HALF_YEAR, _always(6.0, "month")),
    (_HALF_HOUR, _always(30.0, "minute")),
    (_QUARTER_HOUR, _always(15.0, "minute")),
    (_FORTNIGHT, _always(14.0, "day")),
    (_PAST, _clock),
    (_AND_HALF, _clock),
    (_IN_PART, _clock),
    (_WHOLE, _clock),
    (_NAMED, _named),
    (_RATIO, _ratio),
    (_FRACTION, _fraction),
    (_HALF, _always(50.0, "%")),
)
