"""Reads dates and periods as people write them in front matter, in every language of the language files (`[dates]`).

What has one reading is read, whatever its form: 31-12-2025, 3 mei 2024, 1er janvier 2025, Q3 2025, week
14 2025. What two people would read as two days (03/04/2025) is not: it is for its author to write again.

dateparser (BSD-3, 12 MB with what it needs, 0.6 s and 21 MB until its first date) was left out: it reads 03/04/2025 as
one of its two days and "2 days ago" as a day, and knows neither quarters nor weeks.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping
from datetime import date, timedelta

from dateutil.relativedelta import relativedelta

from ingest.front_matter.language_words import by_name, folded, listed, numbered

Days = tuple[date, date]
"""The first and the last day of what a date names: a day, a month, a quarter."""

_MONTHS: Mapping[str, int] = {
    word: month for section in ("sequence", "figures", "dates") for word, month in numbered(section, "months")
}
_WEEKDAYS = listed("sequence", "weekdays") | listed("dates", "weekdays")
_FILLERS = listed("dates", "fillers")
_QUARTER = listed("dates", "quarter")
_HALF = listed("dates", "half")
_WEEK = listed("dates", "week")
_ORDINALS: Mapping[str, int] = dict(numbered("dates", "ordinals"))
_CLOCK_BEFORE = "|".join(sorted(listed("dates", "clock_before")))
_CLOCK = "|".join(sorted(listed("dates", "clock"), key=len, reverse=True))
_ORDINAL_ENDINGS = "|".join(sorted(listed("dates", "ordinal_endings"), key=len, reverse=True))
_NUMBER = re.compile(rf"(?P<late>')?(?P<digits>\d+)(?:(?:{_ORDINAL_ENDINGS})(?![a-z]))?")
_UNITS: Mapping[str, str] = by_name("dates", "units")
_EVERY: Mapping[str, str] = by_name("dates", "every")
_ONE = listed("dates", "one")
_EACH = listed("dates", "each")
"""Before a period: "every 6 months"."""
_LENGTHS = {
    "day": relativedelta(days=1),
    "week": relativedelta(weeks=1),
    "month": relativedelta(months=1),
    "quarter": relativedelta(months=3),
    "half": relativedelta(months=6),
    "year": relativedelta(years=1),
}
_LONGEST = 80
"""Characters: what is longer is a sentence."""
_ISO = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?P<rest>[t ].*)?")
_COMPACT = re.compile(r"((?:19|20)\d\d)(\d\d)(\d\d)(?:t?\d{4,6}z?)?")
_NUMBERS = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d\d)")
_EAST_ASIAN = re.compile(r"(\d{4})\s*[年년]\s*(\d{1,2})\s*[月월](?:\s*(\d{1,2})\s*[日일])?")
_DASH = re.compile("[\u2010-\u2015\u2212]")
_MONTH = re.compile(r"(?:(?P<year>\d{4})[-/.](?P<month>\d{1,2})|(?P<m>\d{1,2})[-/.](?P<y>\d{4}))")
_YEAR = re.compile(r"(?:19|20)\d\d")
_ISO_WEEK = re.compile(r"(\d{4})-?w(\d{1,2})(?:-?([1-7]))?")
_ISO_PERIOD = re.compile(r"p(?:(\d+)y)?(?:(\d+)m)?(?:(\d+)w)?(?:(\d+)d)?")
_TIME = re.compile(
    rf"(?:^|[\s,t]+)(?:(?:{_CLOCK_BEFORE}|kl|a las?|a les)\.?\s+)?\d{{1,2}}(?::\d\d(?::\d\d(?:[.,]\d+)?)?|h\d{{0,2}})"
    rf"\s*(?:[ap]\.?m\.?|{_CLOCK})?(?![a-z0-9])\s*"
    r"(?:\(?(?:z|utc|gmt|[a-z]{1,4}t)?\s*(?:[+-]\d\d?(?::?\d\d)?)?\)?(?![a-z0-9]))?(?:\s*\[?[a-z]+/[a-z_]+\]?)?",
)
_COUNTED_DAYS = "|".join(sorted((day for day in _WEEKDAYS if "-" in day), key=len, reverse=True))
_TOKEN = re.compile(
    rf"(?P<number>{_NUMBER.pattern})|(?P<word>{_COUNTED_DAYS}|[a-z]+)|[\s.,/()-]+|(?P<other>.)"
)


class UnreadableDateError(ValueError):
    """The text is no date or period."""


class AmbiguousDateError(UnreadableDateError):
    """Two people would read it as two days. `readings`: which, the earlier first."""

    def __init__(self, text: str, readings: tuple[date, ...]) -> None:
        super().__init__(text)
        self.readings = readings


def parse_date(text: str, *, last: bool = False) -> date:
    """Returns the day that is named; of a month, a quarter or a year its first, or its last.

    Raises:
        UnreadableDateError: it is no date, or no such day.
        AmbiguousDateError: it is two.
    """
    return parse_days(text)[1 if last else 0]


def parse_days(text: str) -> Days:
    """Returns the first and the last day of what is named.

    Raises:
        UnreadableDateError, AmbiguousDateError: as `parse_date` does.
    """
    if len(text) > _LONGEST:
        raise UnreadableDateError(text)
    written = _DASH.sub("-", _EAST_ASIAN.sub(_as_iso, text))
    plain = " ".join(folded(written).replace("’", "'").split()).strip(" .,;")
    plain = re.sub(r"(?<=\d)\s*([./])\s*(?=\d)", r"\1", plain)
    try:
        found = _by_digits(plain, text) or _by_words(_TIME.sub(" ", plain, count=1))
    except (ValueError, OverflowError) as error:
        if isinstance(error, UnreadableDateError):
            raise
        raise UnreadableDateError(text) from error
    if found is None:
        raise UnreadableDateError(text)
    return found


def _as_iso(found: re.Match[str]) -> str:
    """Writes 2024年5月3日 as 2024-5-3."""
    return "-".join(filter(None, found.groups()))


def _by_digits(plain: str, text: str) -> Days | None:
    """Reads dates without a word, possibly followed by a time."""
    iso = _ISO.fullmatch(plain)
    if iso and not _YEAR.search(iso["rest"] or ""):  # of "2024-01-01 - 2024-12-31" neither is meant alone
        return _day(date(int(iso[1]), int(iso[3]), int(iso[4])))
    bare = _TIME.sub("", plain, count=1).strip(" ,")
    if compact := _COMPACT.fullmatch(plain):
        return _day(date(int(compact[1]), int(compact[2]), int(compact[3])))
    if numbers := _NUMBERS.fullmatch(_without_weekday(bare)):
        return _day(_only_reading(numbers, text))
    if week := _ISO_WEEK.fullmatch(bare):
        return _week(int(week[1]), int(week[2]), int(week[3]) if week[3] else None)
    if month := _MONTH.fullmatch(bare):
        return _month(int(month["year"] or month["y"]), int(month["month"] or month["m"]))
    if _YEAR.fullmatch(bare):
        return date(int(bare), 1, 1), date(int(bare), 12, 31)
    return None


def _without_weekday(plain: str) -> str:
    first, _, rest = plain.partition(" ")
    return rest if first.strip(".,") in _WEEKDAYS else plain


def _only_reading(numbers: re.Match[str], text: str) -> date:
    """Returns the one day that three numbers name.

    They are read day first, month first, or with two digits and dashes year first; a dot stands behind a day alone.
    """
    a, separator, b, c = numbers.groups()
    orders = [(c, b, a)]
    if separator != ".":
        orders.append((c, a, b))
    if separator == "-" and len(c) == 2:
        orders.append((a, b, c))
    readings = tuple(sorted(set(_existing(orders))))
    if len(readings) > 1:
        raise AmbiguousDateError(text, readings)
    if not readings:
        raise UnreadableDateError(text)
    return readings[0]


def _existing(orders: list[tuple[str, str, str]]) -> Iterator[date]:
    for year, month, day in orders:
        try:
            yield date(_full_year(year), int(month), int(day))
        except ValueError:
            continue


def _by_words(plain: str) -> Days | None:
    """Reads dates of words and numbers, in whichever order: "31st of December, 2025", "3e kwartaal 2025", "KW 14 2025"."""
    months: list[int] = []
    numbers: list[tuple[str, bool]] = []
    before = 0  # numbers that stand in front of the month
    spans: set[str] = set()
    for token in _TOKEN.finditer(plain):
        if token["digits"]:
            numbers.append((token["digits"], token["late"] is not None))
        elif word := token["word"]:
            if word in _MONTHS:
                before = len(numbers)
                months.append(_MONTHS[word])
            elif word in _ORDINALS:
                numbers.append((str(_ORDINALS[word]), False))
            elif kind := _span_of(word):
                spans.add(kind)
            elif word not in _WEEKDAYS and word not in _FILLERS:
                return None
        elif token["other"]:
            return None
    if spans and not months:
        return _span(spans, numbers)
    if len(months) != 1 or spans:
        return None
    return _month_and_day(months[0], numbers, before)


def _span_of(word: str) -> str | None:
    kinds = {"quarter": _QUARTER, "half": _HALF, "week": _WEEK}
    return next((kind for kind, words in kinds.items() if word in words), None)


def _span(spans: set[str], numbers: list[tuple[str, bool]]) -> Days | None:
    years = [digits for digits, _ in numbers if len(digits) == 4]
    others = [int(digits) for digits, _ in numbers if len(digits) <= 2]
    if len(spans) != 1 or len(years) != 1 or len(others) != 1:
        return None
    year, number = int(years[0]), others[0]
    (kind,) = spans
    if kind == "week":
        return _week(year, number, None)
    length = 3 if kind == "quarter" else 6
    return _month(year, (number - 1) * length + 1)[0], _month(year, number * length)[1]


def _month_and_day(month: int, numbers: list[tuple[str, bool]], before: int) -> Days | None:
    years = [index for index, (digits, late) in enumerate(numbers) if len(digits) == 4 or late]
    if len(numbers) == 1 and years:
        return _month(_full_year(numbers[0][0]), month)
    if len(numbers) != 2 or len(years) > 1:
        return None
    if not years and before == 2:
        return None
    year = years[0] if years else 1  # "3 mei 24", "May 3, 24"
    return _day(date(_full_year(numbers[year][0]), month, int(numbers[1 - year][0])))


def _full_year(digits: str) -> int:
    """Completes two digits to a year of 1969 to 2068, as POSIX has it."""
    year = int(digits)
    if len(digits) == 4:
        return year
    if len(digits) != 2:
        raise UnreadableDateError(digits)
    return year + (1900 if year >= 69 else 2000)


def _day(day: date) -> Days:
    return day, day


def _month(year: int, month: int) -> Days:
    return date(year, month, 1), date(year, month, monthrange(year, month)[1])


def _week(year: int, week: int, day: int | None) -> Days:
    first = date.fromisocalendar(year, week, day or 1)
    return (first, first) if day else (first, first + timedelta(days=6))


def parse_period(text: str) -> relativedelta:
    """Reads "6 months", "1 year", "een jaar", "alle 6 Monate", "quarterly", "P6M"; months are calendar months.

    Raises:
        UnreadableDateError: anything else.
    """
    plain = folded(text).strip(" .")
    iso = _ISO_PERIOD.fullmatch(plain)
    if iso and any(iso.groups()):
        years, months, weeks, days = (int(count or 0) for count in iso.groups())
        return relativedelta(years=years, months=months, weeks=weeks, days=days)
    if adverb := _EVERY.get(re.sub(r"[\s-]", "", plain)):
        return _LENGTHS[adverb]
    tokens = [token for token in re.findall(r"\d+|[a-z]+|[^\s-]", plain) if token not in _EACH]
    match tokens:
        case [unit] if unit in _UNITS and len(unit) > 2:
            return _LENGTHS[_UNITS[unit]]
        case [count, unit] if unit in _UNITS and (count in _ONE or (count.isdigit() and len(count) <= 4)):
            return (int(count) if count.isdigit() else 1) * _LENGTHS[_UNITS[unit]]
    raise UnreadableDateError(text)
