"""Dates and periods as people in five languages write them."""

from __future__ import annotations

from datetime import date

import pytest
from dateutil.relativedelta import relativedelta

from ingest.front_matter.dates import (
    AmbiguousDateError,
    UnreadableDateError,
    parse_date,
    parse_days,
    parse_period,
)


@pytest.mark.parametrize(
    "written",
    [
        "31-12-2025", "31/12/2025", "31.12.2025", "31. 12. 2025", "12/31/2025", "31/12/25", "31.12.25", "20251231",
        "31 december 2025", "31. Dezember 2025", "31 décembre 2025", "31 decembre 2025", "31 de diciembre de 2025", "31-dec-2025",
        "31/Dec/25", "December 31st, 2025", "the 31st of December, 2025", "Dec. 31 '25", "woensdag 31 december 2025", "Mi., 31.12.2025",
        "Mittwoch, den 31. Dezember 2025", "le 31 décembre 2025", "31 DEZ 2025", "2025 december 31", "2025-12-31 (by Ann)",
        "2025-12-31T23:30:00-05:00", "2025-12-31 10:00:00 +0200", "2025-12-31T10:00:00.5+01:00[Europe/Paris]", "31.12.2025 10:00 Uhr",
        "31 december 2025 om 10:00", "31 décembre 2025 à 10h30", "12/31/2025, 5:00 PM", "Wed, 31 Dec 2025 23:30:00 -0500",
        "Wed Dec 31 10:00:00 CET 2025", "31\u201112\u20112025", "31–12–2025", "2025年12月31日", "2025년 12월 31일",
    ],
)  # fmt: skip
def test_a_day_is_read_in_every_form_that_has_one_reading(written: str) -> None:
    assert parse_days(written) == (date(2025, 12, 31), date(2025, 12, 31))


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("3 mei 2024", date(2024, 5, 3)),
        ("3 mai 2024", date(2024, 5, 3)),
        ("3. Mai 2024", date(2024, 5, 3)),
        ("3 de mayo de 2024", date(2024, 5, 3)),
        ("1er janvier 2025", date(2025, 1, 1)),
        ("1º de enero de 2025", date(2025, 1, 1)),
        ("3 mrt 2024", date(2024, 3, 3)),
        ("3. März 2024", date(2024, 3, 3)),
        ("5 août 2024", date(2024, 8, 5)),
        ("04/04/2025", date(2025, 4, 4)),
        ("03.04.2025", date(2025, 4, 3)),
        ("2025-W14-3", date(2025, 4, 2)),
    ],
)
def test_a_day_is_read_in_five_languages(written: str, day: date) -> None:
    assert parse_date(written) == day


@pytest.mark.parametrize(
    ("written", "first", "last"),
    [
        ("August 2025", date(2025, 8, 1), date(2025, 8, 31)),
        ("augustus 2025", date(2025, 8, 1), date(2025, 8, 31)),
        ("2025-08", date(2025, 8, 1), date(2025, 8, 31)),
        ("08/2025", date(2025, 8, 1), date(2025, 8, 31)),
        ("févr. 2024", date(2024, 2, 1), date(2024, 2, 29)),
        ("Q3 2025", date(2025, 7, 1), date(2025, 9, 30)),
        ("2025-Q3", date(2025, 7, 1), date(2025, 9, 30)),
        ("3e kwartaal 2025", date(2025, 7, 1), date(2025, 9, 30)),
        ("drittes Quartal 2025", date(2025, 7, 1), date(2025, 9, 30)),
        ("troisième trimestre 2025", date(2025, 7, 1), date(2025, 9, 30)),
        ("T3 2025", date(2025, 7, 1), date(2025, 9, 30)),
        ("H2 2025", date(2025, 7, 1), date(2025, 12, 31)),
        ("2025-W14", date(2025, 3, 31), date(2025, 4, 6)),
        ("KW 14/2025", date(2025, 3, 31), date(2025, 4, 6)),
        ("semaine 14 2025", date(2025, 3, 31), date(2025, 4, 6)),
        ("2025", date(2025, 1, 1), date(2025, 12, 31)),
    ],
)
def test_a_month_a_quarter_a_week_or_a_year_is_its_first_and_its_last_day(
    written: str, first: date, last: date
) -> None:
    assert parse_days(written) == (first, last)


@pytest.mark.parametrize(
    ("written", "readings"),
    [
        ("03/04/2025", (date(2025, 3, 4), date(2025, 4, 3))),
        ("3-4-2025", (date(2025, 3, 4), date(2025, 4, 3))),
        ("03/04/25", (date(2025, 3, 4), date(2025, 4, 3))),
        ("31-12-25", (date(2025, 12, 31), date(2031, 12, 25))),
    ],
)
def test_two_readings_are_told_and_none_is_guessed(written: str, readings: tuple[date, ...]) -> None:
    with pytest.raises(AmbiguousDateError) as caught:
        parse_date(written)

    assert caught.value.readings == readings


@pytest.mark.parametrize(
    "written",
    [
        "", "soon", "2 days ago", "yyyy-mm-dd", "2026-02-30", "31 februari 2025", "30-02-2025", "13/2025", "2025-W60", "Q5 2025", "FY25 Q3",
        "May 24", "31 december", "10:00", "1735603200", "1-3 mei 2024", "3 mars mei 2024", "2024-01-01 - 2024-12-31", "eind 2025",
        "3 mei 2024 of later misschien", "x" * 5000, "9" * 5000,
    ],
)  # fmt: skip
def test_what_names_no_day_is_unreadable(written: str) -> None:
    with pytest.raises(UnreadableDateError):
        parse_date(written)


@pytest.mark.parametrize(
    "written",
    [
        "6 months",
        "6 maanden",
        "alle 6 Monate",
        "tous les 6 mois",
        "cada 6 meses",
        "P6M",
        "6m",
        "half-yearly",
        "halfjaarlijks",
    ],
)
def test_a_period_is_read_in_five_languages(written: str) -> None:
    assert parse_period(written) == relativedelta(months=6)


@pytest.mark.parametrize(
    "written", ["1 jaar", "een jaar", "un an", "cada año", "jährlich", "annually", "P1Y", "ein Jahr"]
)
def test_a_year_is_a_period_with_or_without_a_number(written: str) -> None:
    assert parse_period(written) == relativedelta(years=1)
