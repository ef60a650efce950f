"""How dates, durations, numbers and languages are written in a language; English here, others beside the messages.

Names of months and languages are those of the Unicode CLDR, by way of Babel.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from babel import Locale

from kb.pages.freshness import age

HOURS_TOLD = 48
"""Longer is told in days."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Formats:
    language: str = "en"
    """ISO 639-1."""
    today: str = "today"
    ago: str = "{time} ago"
    second: tuple[str, str] = ("{n} s", "{n} s")
    minute: tuple[str, str] = ("{n} min", "{n} min")
    hour: tuple[str, str] = ("{n} hour", "{n} hours")
    day: tuple[str, str] = ("{n} day", "{n} days")
    """After "ago": German declines it."""
    lasting_day: tuple[str, str] = ("{n} day", "{n} days")
    month: tuple[str, str] = ("{n} month", "{n} months")
    year: tuple[str, str] = ("{n} year", "{n} years")
    date_form: str = "{day} {month} {year}"
    first_of_month: str = "1"
    thousands: str = ","
    grouped_from: int = 1000
    """Smaller numbers are written without a mark between the thousands: Spanish has none in 1234."""
    zero_is_plural: bool = True
    """English says "0 pages", French "0 page"."""
    percent_form: str = "{n}%"
    and_also: str = "{first} and {last}"
    or_else: str = "{first} or {last}"

    def on(self, day: date) -> str:
        """Writes a date as people do: "3 May 2024"."""
        number = self.first_of_month if day.day == 1 else str(day.day)
        month = Locale.parse(self.language).months["format"]["wide"][day.month]
        return self.date_form.format(day=number, month=month, year=day.year)

    def since(self, then: date, today: date) -> str:
        """Returns how long ago, in the unit of `kb.pages.freshness.age`."""
        days = max(0, (today - then).days)
        if days == 0:
            return self.today
        number, unit = age(days)
        forms = {"day": self.day, "month": self.month, "year": self.year}[unit]
        return self.ago.format(time=self.counted(forms, number))

    def lasting(self, seconds: float) -> str:
        """Words a duration: "40 s", "1 min 48 s", "2 hours 5 min", "7 days"; less than a second is shown as one."""
        whole = max(1, round(seconds))
        if whole < 60:
            return self.counted(self.second, whole)
        minutes, rest = divmod(whole, 60)
        if minutes < 60:
            tail = f" {self.counted(self.second, rest)}" if rest else ""
            return self.counted(self.minute, minutes) + tail
        hours, minutes = divmod(minutes, 60)
        if hours >= HOURS_TOLD:
            return self.counted(self.lasting_day, round(whole / 86_400))
        tail = f" {self.counted(self.minute, minutes)}" if minutes else ""
        return self.counted(self.hour, hours) + tail

    def number(self, value: int) -> str:
        return f"{value:,}".replace(",", self.thousands) if abs(value) >= self.grouped_from else str(value)

    def percent(self, share: float) -> str:
        """Writes a share between 0 and 1 as a whole percentage."""
        return self.percent_form.format(n=round(100 * share))

    def languages(self, codes: Iterable[str], *, join: str) -> str:
        """Names languages, each once: "English, Dutch and German" where `join` is `and_also`.

        What is no language's code is left out.
        """
        named = Locale.parse(self.language).languages
        names = [named[code] for code in dict.fromkeys(codes) if code in named]
        if len(names) < 2:
            return "".join(names)
        return join.format(first=", ".join(names[:-1]), last=names[-1])

    def counted(self, forms: tuple[str, str], n: int) -> str:
        """Fills in the singular form, or the plural form, with `n`."""
        singular = n == 1 or (n == 0 and not self.zero_is_plural)
        return forms[0 if singular else 1].format(n=self.number(n))
