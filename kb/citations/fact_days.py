"""Calendar dates in a text: 31 March, 31. März 2026, July 1st, 2020, March 2026, 2026-03-31, 3/4/2026."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from kb.citations.fact_words import MONTHS
from kb.text.lexicon import any_of, union

_MONTH = rf"({any_of(MONTHS)})\b\.?"
_OF = rf"(?:(?:{any_of(union(lambda lexicon: lexicon.figures.day_of))})\s+)?"
_DAY = rf"\b(\d{{1,2}})(?:{any_of(union(lambda lexicon: lexicon.figures.ordinal_endings))}|\.)?"
_YEAR = rf"(?:,?\s+{_OF}(\d{{4}})\b)?"
_ISO_DAY = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b")
_DAY_MONTH = re.compile(rf"{_DAY}\s+{_OF}{_MONTH}{_YEAR}", re.IGNORECASE)
_DAY_LISTED = re.compile(
    rf"{_DAY}(\s*(?:[,–-]|{any_of(union(lambda lexicon: lexicon.figures.joins))})\s*)(?={_DAY}\s+{_OF}{_MONTH})",
    re.IGNORECASE,
)
"""The first day of "24 and 31 December": its month stands behind the last."""
_MONTH_DAY = re.compile(
    rf"\b{_MONTH}(?:,(?=\s*\d+\w*,?\s+\d{{4}}))?\s+{_DAY}(?!\w|\s*[.,:]\d){_YEAR}", re.IGNORECASE
)
_MONTH_YEAR = re.compile(rf"\b{_MONTH},?\s+{_OF}(\d{{4}})\b", re.IGNORECASE)
_NUMERIC_DAY = re.compile(r"\b(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})\b")
_MONTHS_ALONE = {word for word in MONTHS if len(word) > 3}.union(
    union(lambda lexicon: lexicon.sequence.months)
)
_MONTH_ALONE = re.compile(rf"\b({any_of(_MONTHS_ALONE)})\b", re.IGNORECASE)
_ALSO_WORDS = union(lambda lexicon: lexicon.figures.ambiguous_months)
"""Months that are words of their own in lower case."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Day:
    """A calendar date as far as it is said. None: not said."""

    year: int | None = None
    month: int | None = None
    day: int | None = None


def take_days(text: str, *, named_months: bool) -> tuple[list[tuple[Day, ...]], str]:
    """Returns the dates, and the text without them: their figures are no quantities."""
    days: list[tuple[Day, ...]] = []
    if named_months:
        text = _DAY_LISTED.sub(r"\1 \4 \2 ", text)
    for pattern, read in _READERS if named_months else _READERS[:2]:

        def keep(match: re.Match[str], read: _Reader = read) -> str:
            if readings := read(match):
                days.append(readings)
            return " | " if readings else match.group()

        text = pattern.sub(keep, text)
    return days, text


def _int(figures: str | None) -> int | None:
    return int(figures) if figures else None


def _month(word: str) -> int:
    return MONTHS[word.casefold()]


def _month_alone(match: re.Match[str]) -> tuple[Day, ...]:
    word = match.group()
    if word.casefold() in _ALSO_WORDS and (word.islower() or not match.string[: match.start()].strip()):
        return ()
    return (Day(month=_month(word)),)


def _numeric_day(match: re.Match[str]) -> tuple[Day, ...]:
    first, second = int(match[1]), int(match[3])
    year = int(match[4]) + (2000 if len(match[4]) == 2 else 0)
    readings = ((first, second), (second, first))
    return tuple(
        Day(year=year, month=month, day=day) for day, month in readings if 1 <= month <= 12 and 1 <= day <= 31
    )


_Reader = Callable[[re.Match[str]], tuple[Day, ...]]
_READERS: tuple[tuple[re.Pattern[str], _Reader], ...] = (
    (_ISO_DAY, lambda m: (Day(year=int(m[1]), month=int(m[2]), day=int(m[3])),)),
    (_NUMERIC_DAY, _numeric_day),
    (_DAY_MONTH, lambda m: (Day(year=_int(m[3]), month=_month(m[2]), day=int(m[1])),)),
    (_MONTH_DAY, lambda m: (Day(year=_int(m[3]), month=_month(m[1]), day=int(m[2])),)),
    (_MONTH_YEAR, lambda m: (Day(year=int(m[2]), month=_month(m[1])),)),
    (_MONTH_ALONE, _month_alone),
)


def same_day(stated: Day, other: Day, years: set[float]) -> bool:
    """Tells whether `other` says all that `stated` says; a year may stand elsewhere in the passage, among `years`."""
    if stated.month != other.month or (stated.day is not None and stated.day != other.day):
        return False
    if stated.year is None or stated.year == other.year:
        return True
    return other.year is None and float(stated.year) in years
