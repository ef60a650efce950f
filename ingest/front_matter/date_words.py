"""Words of dates and periods, folded: `[dates]` of the language files, and their months and weekdays.

dateparser (BSD-3, 12 MB with what it needs, 0.6 s and 21 MB until its first date) was left out: it reads 03/04/2025 as
one of its two days and "2 days ago" as a day, and knows neither quarters nor weeks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ingest.front_matter.language_words import by_name, listed, numbered

MONTHS: Mapping[str, int] = {
    word: month for section in ("sequence", "figures", "dates") for word, month in numbered(section, "months")
}
WEEKDAYS = listed("sequence", "weekdays") | listed("dates", "weekdays")
FILLERS = listed("dates", "fillers")
QUARTER = listed("dates", "quarter")
HALF = listed("dates", "half")
WEEK = listed("dates", "week")
ORDINALS: Mapping[str, int] = dict(numbered("dates", "ordinals"))
CLOCK_BEFORE = "|".join(sorted(listed("dates", "clock_before")))
CLOCK = "|".join(sorted(listed("dates", "clock"), key=len, reverse=True))
_ORDINAL_ENDINGS = "|".join(sorted(listed("dates", "ordinal_endings"), key=len, reverse=True))
NUMBER = re.compile(rf"(?P<late>')?(?P<digits>\d+)(?:(?:{_ORDINAL_ENDINGS})(?![a-z]))?")
UNITS: Mapping[str, str] = by_name("dates", "units")
EVERY: Mapping[str, str] = by_name("dates", "every")
ONE = listed("dates", "one")
EACH = listed("dates", "each")
"""Before a period: "every 6 months"."""
