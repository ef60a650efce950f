"""Number formats: what Excel shows, cell by cell. Expected values are
those of Excel's TEXT(), of ECMA-376's examples.
"""

from __future__ import annotations

import pytest

from ingest.parsers.office.format_codes import BUILT_IN
from ingest.parsers.office.number_formats import shown_number, shown_text

SHOWN = [
    (0.075, "0.0%", "7.5%"),
    (1234.5, '"$"#,##0.00', "$1,234.50"),
    (46096, "dd/mm/yyyy", "15/03/2026"),
    (0.3958333333333333, "hh:mm", "09:30"),
    (1.5625, "[h]:mm", "37:30"),
    (7, "00000", "00007"),
    (42, '"EMP-"0000', "EMP-0042"),
    (-1500, "#,##0;(#,##0)", "(1,500)"),
    (0.3125, "# ?/8", "3/8"),
    (1.5, "?/?", "3/2"),
    (0.5, "# ??/100", "50/100"),
    (1.2e-07, "0.00E+00", "1.20E-07"),
    (1.2e-07, "General", "0.00000012"),
    (1234.5, '_-* #,##0.00\\ "€"_-;-* #,##0.00\\ "€"_-', "1,234.50 €"),
    (1234.5, "_ [$€-413]\\ * #,##0.00_ ;_ [$€-413]\\ * \\-#,##0.00_ ", "€ 1,234.50"),
    (-5, "_ [$€-413]\\ * #,##0.00_ ;_ [$€-413]\\ * \\-#,##0.00_ ", "€ -5.00"),
    (3, '0 "days"', "3 days"),
    (3, "0 days", "3 days"),
    (1, '[=1]0 "day";0 "days"', "1 day"),
    (2, '[=1]0 "day";0 "days"', "2 days"),
    (1500000, '#,##0.0,,"M"', "1.5M"),
    (1500, '0.0,"k"', "1.5k"),
    (123456789, "000-00-0000", "123-45-6789"),
    (5551234567, "(###) ###-####", "(555) 123-4567"),
    (501, "00000", "00501"),
    (1, "d/m/yy", "1/1/00"),
    (46096.5, "yyyy-mm-dd h:mm:ss", "2026-03-15 12:00:00"),
    (46096, "[$-413]dddd d mmmm yyyy", "zondag 15 maart 2026"),
    (46096, "[$-407]d. mmmm yyyy", "15. März 2026"),
    (46096, "[$-nl-NL]d mmm yyyy", "15 mrt 2026"),
    (46096, "[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy", "15 March 2026"),
    (0.5, "[$-F400]h:mm:ss\\ AM/PM", "12:00:00"),
    (1.5625, "[hh]:mm:ss", "37:30:00"),
    (0.02083333, "[m]", "30"),
    (0.0001, "[ss].00", "08.64"),
    (0.30000000000000004, "General", "0.3"),
    (0.3333333333333333, "General", "0.333333333"),
    (33.333333333333336, "General", "33.33333333"),
    (1e20, "General", "1E+20"),
    (123456789012, "General", "123456789012"),
    (8712345678901, "0", "8712345678901"),
    (-0.5, "0%", "-50%"),
    (5, ";;;", ""),
    (5, "0;-0;;@", "5"),
    (0, "0;-0;;@", ""),
    (0.5, 'General" kg"', "0.5 kg"),
    (99, '[>=100]"high";[>=50]"middle";"low"', "middle"),
    (10, '[>=100]"high";[>=50]"middle";"low"', "low"),
    (-5, "[Red]-0;[Blue]0", "5"),
    (5, '0 "EUR"', "5 EUR"),
    (5, "0 EUR", "5 EUR"),
    (-3, "0.0_);[Red](0.0)", "(3.0)"),
    (1234567, "# ##0", "1234 567"),
    (0.075, "0.0 %", "7.5 %"),
    (5, "#.##", "5."),
    (0.5, "#.00", ".50"),
    (46096, "mmmmm", "M"),
    (-0.0625, "[h]:mm", "-1:30"),
    (12, "@", "12"),
    (0.5, "??/??", "1/2"),
    (1.25, "0.??", "1.25"),
    (46096, 'yyyy"年"m"月"d"日"', "2026年3月15日"),
    (46096.75, "d/m/yyyy h:mm", "15/3/2026 18:00"),
    (1000000.0, "#,##0", "1,000,000"),
    (999.5, "#,##0", "1,000"),
    (2.5, '0.0"x"', "2.5x"),
    (7, '"Week "0', "Week 7"),
    (12.3, '0.0" m²"', "12.3 m²"),
    (9.95, "0.0E+0", "1.0E+1"),
    (0, "0.00E+00", "0.00E+00"),
    (1234.5, "[$CHF] #,##0.00", "CHF 1,234.50"),
    (1234.5, "[$£-809]#,##0.00", "£1,234.50"),
    (1234.5, "[$€-2] #,##0.00", "€ 1,234.50"),
    (-7, "0", "-7"),
    (38000, '[>40000]"new";yyyy', "2004"),
]


@pytest.mark.parametrize(("value", "code", "shown"), SHOWN)
def test_a_number_is_shown_by_its_format(value: float, code: str, shown: str) -> None:
    assert shown_number(value, code) == shown


BUILT = {
    0: ("1234.5", "-1234.5"), 1: ("1235", "-1235"), 2: ("1234.50", "-1234.50"), 3: ("1,235", "-1,235"),
    4: ("1,234.50", "-1,234.50"), 5: ("$1,235", "($1,235)"), 6: ("$1,235", "($1,235)"), 7: ("$1,234.50", "($1,234.50)"),
    8: ("$1,234.50", "($1,234.50)"), 9: ("123450%", "-123450%"), 10: ("123450.00%", "-123450.00%"),
    11: ("1.23E+03", "-1.23E+03"), 12: ("1234 1/2", "-1234 1/2"), 13: ("1234 1/2", "-1234 1/2"),
    37: ("1,235", "(1,235)"), 38: ("1,235", "(1,235)"), 39: ("1,234.50", "(1,234.50)"), 40: ("1,234.50", "(1,234.50)"),
    41: ("1,235", "(1,235)"), 42: ("$1,235", "$(1,235)"), 43: ("1,234.50", "(1,234.50)"), 44: ("$1,234.50", "$(1,234.50)"),
    48: ("1.2E+3", "-1.2E+3"), 49: ("1234.5", "-1234.5"),
}  # fmt: skip


@pytest.mark.parametrize("number", BUILT)
def test_formats_that_a_file_names_by_number_are_those_of_the_standard(number: int) -> None:
    assert tuple(shown_number(value, BUILT_IN[number]) for value in (1234.5, -1234.5)) == BUILT[number]


@pytest.mark.parametrize(
    ("number", "shown"),
    [(14, "2026-03-15"), (15, "15-Mar-26"), (16, "15-Mar"), (17, "Mar-26"), (18, "6:30 PM"), (19, "6:30:05 PM"), (20, "18:30"),
     (21, "18:30:05"), (22, "2026-03-15 18:30"), (45, "30:05"), (46, "1106322:30:05"), (47, "30:05.0"), (27, "2026-03-15"), (32, "18:30")],
)  # fmt: skip
def test_dates_that_a_file_names_by_number_cannot_be_mistaken(number: int, shown: str) -> None:
    assert shown_number(46096 + (18 * 3600 + 30 * 60 + 5) / 86400, BUILT_IN[number]) == shown


@pytest.mark.parametrize(
    ("days", "code", "shown"),
    [
        (0, "yyyy-mm-dd", "1904-01-01"),
        (44634, "yyyy-mm-dd", "2026-03-15"),
        (44634, "dddd", "Sunday"),
        (1.5, "[h]:mm", "36:00"),
        (0.5, "h:mm", "12:00"),
    ],
)
def test_days_may_be_counted_from_1904(days: float, code: str, shown: str) -> None:
    assert shown_number(days, code, since_1904=True) == shown


def test_the_day_that_excel_counts_and_no_calendar_has_is_shown_as_excel_does() -> None:
    days = [shown_number(day, "ddd yyyy-mm-dd") for day in (0, 1, 59, 60, 61)]

    assert days == ["Sat 1900-01-00", "Sun 1900-01-01", "Tue 1900-02-28", "Wed 1900-02-29", "Thu 1900-03-01"]


@pytest.mark.parametrize(("days", "shown"), [(-1, "-1"), (3_000_000, "3000000"), (1e300, "1E+300")])
def test_a_number_that_is_no_day_is_shown_as_a_number(days: float, shown: str) -> None:
    assert shown_number(days, "dd/mm/yyyy") == shown


@pytest.mark.parametrize(
    ("text", "code", "shown"),
    [
        ("Ann", "General", "Ann"),
        ("Ann", "0.00", "Ann"),
        ("Ann", '0;-0;0;"staff: "@', "staff: Ann"),
        ("Ann", '@" (staff)"', "Ann (staff)"),
        ("Ann", ";;;", ""),
        ("007", "@", "007"),
    ],
)
def test_words_are_shown_by_the_part_of_a_format_that_is_for_words(text: str, code: str, shown: str) -> None:
    assert shown_text(text, code) == shown


@pytest.mark.parametrize(
    "code",
    [
        "",
        "[",
        "[>",
        '"',
        "\\",
        "/",
        "?/",
        "/?",
        "E+",
        "0E",
        "%",
        ";",
        "_",
        "*",
        "[h",
        "[$",
        ".",
        ",",
        "AM/PM",
        "@@",
    ],
)
@pytest.mark.parametrize("value", [0.0, 1.5, -2e300, 1e-300])
def test_a_format_that_nobody_can_read_loses_no_page(value: float, code: str) -> None:
    assert isinstance(shown_number(value, code), str)
