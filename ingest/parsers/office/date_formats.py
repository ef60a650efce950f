"""Writes a spreadsheet's dates, times and durations, which are numbers of days, by the letters of a number format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from locale import windows_locale
from typing import Literal, TypeAlias

Parts: TypeAlias = Sequence[tuple[str, str]]
"""The pieces of a section of a format code: kind and text."""

_DAY_1904 = 1462
"""Days between the two epochs: 1 January 1904, and the day that Excel takes for 31 December 1899."""
_LEAP_FAULT = 60
"""29 February 1900, a day that Excel counts and the calendar does not have."""
_LAST_DAY = 2_958_465
"""31 December 9999."""
_SECONDS = 86_400
_DATE_KINDS = frozenset({"date", "minutes", "elapsed", "clock"})


def date_letters(pieces: Parts) -> Parts | None:
    """Tells minutes from months in the pieces, and joins decimals of seconds; None where the pieces show no date.

    Letters beside places for digits show no date: they are a unit that nobody quoted ("0 days").
    """
    letters = _letters(pieces)
    kinds = {kind for kind, text in letters if kind != "date" or text[0] in "ymdhs"}
    return letters if kinds & _DATE_KINDS and "digit" not in kinds else None


def shown_date(value: float, letters: Parts, *, since_1904: bool, language: str) -> str | None:
    """Writes a date; None where no date has this number.

    `language`: the locale of the format, a number of Windows in hex or a tag.
    """
    kinds = {kind for kind, _ in letters}
    decimals = _decimals(letters) if "decimals" in kinds else 0
    moment = _moment(value, decimals, since_1904=since_1904, is_elapsed="elapsed" in kinds)
    if moment is None:
        return None
    sign = "-" if value < 0 else ""
    twelve = "clock" in kinds
    return sign + "".join(_piece(kind, text, moment, twelve, language, decimals) for kind, text in letters)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Moment:
    year: int
    month: int
    day: int
    weekday: int
    """Monday is 0."""
    seconds: float
    """Within the day."""
    elapsed: float
    """Seconds since the epoch."""


def _moment(value: float, decimals: int, *, since_1904: bool, is_elapsed: bool) -> _Moment | None:
    elapsed = round(abs(value) * _SECONDS, max(decimals, 0))
    days = int(elapsed // _SECONDS)
    seconds = elapsed - days * _SECONDS
    if is_elapsed:
        return _Moment(year=0, month=0, day=0, weekday=0, seconds=seconds, elapsed=elapsed)
    days += _DAY_1904 if since_1904 else 0
    if value < 0 or days > _LAST_DAY:
        return None
    if days in (0, _LEAP_FAULT):
        year, month, day = (1900, 1, 0) if not days else (1900, 2, 29)
    else:
        found = date(1899, 12, 30 if days > _LEAP_FAULT else 31) + timedelta(days=days)
        year, month, day = found.year, found.month, found.day
    return _Moment(year=year, month=month, day=day, weekday=(days + 5) % 7, seconds=seconds, elapsed=elapsed)


def _letters(pieces: Parts) -> Parts:
    made: list[tuple[str, str]] = []
    for index, (kind, text) in enumerate(pieces):
        text = text.lower() if kind == "date" else text
        if kind == "date" and text[0] == "m" and len(text) < 3 and _is_minutes(pieces, index):
            made.append(("minutes", text))
        elif kind == "digit" and made and made[-1][0] == "decimals":
            made[-1] = ("decimals", made[-1][1] + text)
        elif (
            kind == "digit" and made and made[-1] == ("mark", ".") and _before(made[:-1]) in ("s", "elapsed")
        ):
            made[-1] = ("decimals", text)
        else:
            made.append((kind, text))
    return made


def _is_minutes(pieces: Parts, index: int) -> bool:
    """Whether an "m" comes after hours or before seconds, with anything between that is no date."""
    after = next((text.lower() for kind, text in pieces[index + 1 :] if kind in ("date", "elapsed")), "")
    return _before(pieces[:index]) in ("h", "elapsed") or after.startswith("s")


def _before(pieces: Parts) -> str:
    """Returns the letter of the last date piece, or "elapsed"."""
    for kind, text in reversed(pieces):
        if kind == "elapsed":
            return "elapsed"
        if kind in ("date", "minutes"):
            return text[0].lower()
    return ""


def _decimals(letters: Parts) -> int:
    return max((len(text) for kind, text in letters if kind == "decimals"), default=0)


def _piece(kind: str, text: str, moment: _Moment, twelve: bool, language: str, decimals: int) -> str:
    minutes, seconds = divmod(moment.seconds, 60)
    hours, minutes = divmod(int(minutes), 60)
    match kind:
        case "elapsed":
            unit = {"h": 3600, "m": 60, "s": 1}[text[0]]
            return str(int(moment.elapsed // unit)).zfill(len(text))
        case "minutes":
            return str(minutes).zfill(len(text))
        case "decimals":
            return f"{seconds % 1:.{decimals}f}"[1:][: len(text) + 1]
        case "clock":
            morning, evening = ("AM", "PM") if len(text) > 3 else ("A", "P")
            return morning if hours < 12 else evening
        case "date" if text[0] == "h":
            return str((hours % 12 or 12) if twelve else hours).zfill(min(len(text), 2))
        case "date" if text[0] == "s":
            return str(int(seconds)).zfill(min(len(text), 2))
        case "date":
            return _calendar(text, moment, language)
        case _:
            return literal(kind, text)


def literal(kind: str, text: str) -> str:
    """Writes a piece that is no place for digits."""
    return {"fill": "", "width": " "}.get(kind, text)


def literals(pieces: Parts) -> str:
    return "".join(literal(kind, text) for kind, text in pieces)


def _calendar(text: str, moment: _Moment, language: str) -> str:
    match text[0], len(text):
        case "y", length:
            return f"{moment.year % 100:02}" if length < 3 else f"{moment.year:04}"
        case "e", _:
            return str(moment.year)
        case "b", _:
            return str(moment.year + 543)
        case "m", 1 | 2 as length:
            return str(moment.month).zfill(length)
        case "m", length:
            name = _names(language, "months", short=length == 3)[moment.month]
            return name[0] if length == 5 else name
        case "d", 1 | 2 as length:
            return str(moment.day).zfill(length)
        case (("d" | "a"), length):
            return _names(language, "days", short=length == 3)[moment.weekday]
        case _:
            return ""


@lru_cache(maxsize=64)
def _names(language: str, kind: Literal["months", "days"], *, short: bool) -> Mapping[int, str]:
    """Returns a language's names of months (from 1) or days (Monday is 0); the English ones of an unknown language."""
    from babel import Locale, UnknownLocaleError

    try:
        locale = Locale.parse(_tag(language) or "en", sep="_")
    except (UnknownLocaleError, ValueError):
        locale = Locale("en")
    names = (locale.months if kind == "months" else locale.days)["format"]["abbreviated" if short else "wide"]
    return {number: name.rstrip(".") for number, name in names.items()}


def _tag(language: str) -> str:
    """Reads a locale: "413" and "nl-NL,100" are nl_NL. The bits above 16 of a number are a calendar and digits."""
    name = language.split(",")[0].replace("-", "_")
    try:
        return windows_locale.get(int(name, 16) & 0xFFFF, "") if "_" not in name else name
    except ValueError:
        return name
