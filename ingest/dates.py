"""Dates and periods as people write them in front matter."""

from __future__ import annotations

import re
from datetime import date, datetime

from dateutil.relativedelta import relativedelta

_ISO = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ].*)?")
_WORDED = ("%d %B %Y", "%d %b %Y", "%B %d %Y", "%b %d %Y")
_PERIOD = re.compile(r"(\d{1,4}|an?|one)[ -]*(day|week|month|year)s?", re.IGNORECASE)


class UnreadableDateError(ValueError):
    """The text is no date or period, or one that two people would read as two dates (10/11/2026)."""


def parse_date(text: str) -> date:
    """2026-08-22, 2026/8/2, 2026-08-22T10:00:00Z, 22 August 2026, Aug 22, 2026.

    Raises:
        UnreadableDateError: none of these, or no such day.
    """
    iso = _ISO.fullmatch(text)
    try:
        if iso:
            return date(int(iso[1]), int(iso[2]), int(iso[3]))
        words = " ".join(text.replace(",", " ").split())
        for form in _WORDED:
            try:
                return datetime.strptime(words, form).date()  # noqa: DTZ007 (a calendar date has no time zone)
            except ValueError:
                continue
    except ValueError as error:
        raise UnreadableDateError(text) from error
    raise UnreadableDateError(text)


def parse_period(text: str) -> relativedelta:
    """ "6 months", "1 year", "90 days", "a year"; months are calendar months.

    Raises:
        UnreadableDateError: anything else.
    """
    period = _PERIOD.fullmatch(text.strip())
    if period is None:
        raise UnreadableDateError(text)
    count = int(period[1]) if period[1].isdigit() else 1
    match period[2].lower():
        case "day":
            return relativedelta(days=count)
        case "week":
            return relativedelta(weeks=count)
        case "month":
            return relativedelta(months=count)
        case _:
            return relativedelta(years=count)
