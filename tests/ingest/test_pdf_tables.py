"""Rows of a table in a PDF stay rows, and cells stay in their columns."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.page import ParsedPage
from ingest.parsers.formats import parse_file
from tests.fakes.documents import a_placed_pdf

Rows = Sequence[Sequence[str]]
ZONES: Rows = [
    ["Zone", "Price", "Hours"],
    ["Centre", "4 euros", "9-21"],
    ["Docks", "free", ""],
    ["North", "2 euros", "9-18"],
    ["West", "", "0-24"],
    ["", "3 euros", "9-18"],
]


def placed(
    rows: Rows, *, lefts: Sequence[int] = (60, 200, 320), step: float = 16, top: float = 100
) -> list[tuple[float, float, str]]:
    return [
        (left, top + step * down, text)
        for down, row in enumerate(rows)
        for left, text in zip(lefts, row, strict=False)
        if text
    ]


def read(*pages: Sequence[tuple[float, float, str]]) -> ParsedPage:
    return parse_file(a_placed_pdf(pages), path="zones.pdf")


def tables(page: ParsedPage) -> list[list[list[str]]]:
    found = []
    for section in page.sections:
        for block in section.blocks:
            if block.kind == "table":
                lines = [block.lead.split("\n")[0], *block.parts]
                found.append([[cell.strip() for cell in line.split("|")[1:-1]] for line in lines])
    return found


INTRO = [(60.0, 70.0, "The table shows what parking costs in each zone, and when you have to pay for it.")]
END = (60.0, 240.0, "Ask the desk for a permit.")


@pytest.mark.parametrize("step", [12, 14, 16, 18, 24])
@pytest.mark.parametrize(
    "rows",
    [
        ZONES,
        [["Plan", "2024", "2025"], ["Basic", "5", "6"], ["Pro", "", "9"], ["Max", "12", ""]],
        ZONES[:3],
        [*ZONES[:2], ZONES[3], ZONES[2]],
        [ZONES[0], ZONES[1], ["", "5 euros", "21-24"], ZONES[3]],
        [ZONES[0], ZONES[1], ZONES[4], ZONES[3]],
    ],
)
def test_an_empty_cell_joins_no_rows(rows: Rows, step: int) -> None:
    page = read([*INTRO, *placed(rows, step=step)])

    if tables(page):
        assert tables(page) == [[list(row) for row in rows]]
    else:
        assert len(rows) == 3  # too small for a table: plain words, none beside a stranger
    assert "4 euros free" not in page.as_markdown()


def test_columns_of_single_figures_are_not_joined_with_their_neighbours() -> None:
    rows = [["Plan", "Jan", "Feb", "Mar", "Apr"], ["Gold", "1", "", "3", ""], ["Silver", "", "2", "", "4"],
            ["Bronze", "", "", "", "5"], ["Tin", "6", "", "", ""]]  # fmt: skip
    page = read([*INTRO, *placed(rows, lefts=(225, 268, 297, 326, 355), step=18)])

    assert tables(page) == [rows]


def test_lines_of_one_cell_are_one_row() -> None:
    lines = [*placed([["Zone", "What it costs", "Hours"], ["Centre", "4 euros for the first hour", "9-21"]], step=20),
             (200.0, 132.0, "and two for each that follows"), *placed([["Docks", "free", ""], ["West", "", "0-24"]], step=20, top=152)]  # fmt: skip
    page = read([*INTRO, *lines])

    assert tables(page) == [
        [
            ["Zone", "What it costs", "Hours"],
            ["Centre", "4 euros for the first hour and two for each that follows", "9-21"],
            ["Docks", "free", ""],
            ["West", "", "0-24"],
        ]
    ]


def test_text_around_a_table_stays_around_it() -> None:
    page = read([*INTRO, *placed(ZONES), END])

    assert [block.kind for section in page.sections for block in section.blocks] == [
        "prose",
        "table",
        "prose",
    ]
    assert page.sections[-1].blocks[-1].text == "Ask the desk for a permit."


def test_a_table_that_goes_on_over_the_page_has_its_header_there_too() -> None:
    header, *rows = [
        ["Code", "Days", "Fee"],
        *([f"Code {at}", str(at), "" if at % 3 == 0 else str(2 * at)] for at in range(60)),
    ]
    page = read(placed([header, *rows[:30]], step=20), placed(rows[30:], step=20))

    assert tables(page) == [[header, *rows[:30]], [header, *rows[30:]]]


def test_two_columns_of_prose_are_no_table() -> None:
    left = "This is a line of prose in the left column"
    right = "and here the right column goes on with it"
    page = read([(x, 80.0 + 12 * at, text) for at in range(30) for x, text in ((60.0, left), (320.0, right))])

    assert tables(page) == []


def test_a_list_is_no_table() -> None:
    page = read(
        [
            *INTRO,
            *placed([["1.", "Ask the desk"], ["2.", "Take the form"], ["3.", "Pay 4 euros"]], lefts=(60, 80)),
        ]
    )

    assert tables(page) == []


names = st.sampled_from(["Centre", "Docks", "North", "West", "Harbour", "Old town"])
cells = st.one_of(st.just(""), st.sampled_from(["free", "4 euros", "25", "9-21", "7.5%", "yes"]))


@given(
    body=st.lists(st.tuples(names, cells, cells, cells), min_size=3, max_size=12),
    step=st.sampled_from([14, 18, 22]),
)
@settings(max_examples=40, deadline=None)
def test_every_table_is_read_row_by_row(body: list[tuple[str, ...]], step: int) -> None:
    rows = [["Zone", "Price", "Hours", "Note"], *map(list, body)]
    page = read([*INTRO, *placed(rows, lefts=(60, 180, 280, 380), step=step)])

    # A table has a row of several cells below its header.
    assert tables(page) == [rows] or sum(len([*filter(None, row)]) > 1 for row in rows) < 2
