"""Tables of HTML with cells over several rows and columns: in files, in Markdown and on websites."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from ingest.page import ParsedPage
from ingest.parsers.formats import parse_file
from tests.fakes.web_pages import parsed_from_web

Reader = Callable[[str], ParsedPage]
PROSE = (
    "<p>Everybody who orders something has to pay a fee, which depends on where it is sent and how fast.</p>"
)


def of_a_file(html: str) -> ParsedPage:
    return parse_file(f"<body>{html}</body>".encode(), path="fees.html")


def of_markdown(html: str) -> ParsedPage:
    return parse_file(f"# Fees\n\nText.\n\n{html}\n".encode(), path="fees.md")


def of_a_website(html: str) -> ParsedPage:
    page = f"<html><head><title>Fees | Acme</title></head><body><main><h1>Fees</h1>{PROSE}{html}</main></body></html>"
    return of_response(page)


def of_a_website_that_marks_nothing(html: str) -> ParsedPage:
    return of_response(f"<body><div><h1>Fees</h1>{PROSE}{html}{PROSE}</div></body>")


def of_response(page: str) -> ParsedPage:
    return parsed_from_web(page, "fees")


@pytest.fixture(params=[of_a_file, of_markdown, of_a_website, of_a_website_that_marks_nothing])
def read(request: pytest.FixtureRequest) -> Reader:
    return request.param


def table_of(page: ParsedPage) -> list[str]:
    """Its rows without the rule below the header."""
    (block,) = [block for section in page.sections for block in section.blocks if block.kind == "table"]
    return [re.sub(" +", " ", row) for row in (block.lead.split("\n")[0], *block.parts)]


def text_of(page: ParsedPage) -> str:
    return "\n\n".join(block.text for section in page.sections for block in section.blocks)


@pytest.mark.parametrize(
    ("html", "rows"),
    [
        (
            '<table><tr><th rowspan="2">Region</th><th colspan="2">Fee</th></tr><tr><th>Standard</th><th>Express</th></tr>'
            '<tr><td rowspan="2">Benelux</td><td>5 euros</td><td>9 euros</td></tr><tr><td>6 euros</td><td>11 euros</td></tr></table>',
            [
                "| Region | Fee › Standard | Fee › Express |",
                "| Benelux | 5 euros | 9 euros |",
                "| Benelux | 6 euros | 11 euros |",
            ],
        ),
        (
            "<TABLE><THEAD><TR><TH>Day</TH><TH COLSPAN=2>Hours</TH></TR></THEAD><TBODY><TR><TD>Monday<TD>9<TD>17"
            "<TR><TD>Tuesday<TD COLSPAN=2>closed</TBODY></TABLE>",
            ["| Day | Hours | Hours |", "| Monday | 9 | 17 |", "| Tuesday | closed | closed |"],
        ),
        (  # rowspan=0 goes to the end of its group, and no cell goes further
            "<table><thead><tr><th>A</th><th rowspan=9>B</th></tr></thead><tbody><tr><td rowspan=0>x</td><td>1</td></tr>"
            "<tr><td>2</td></tr></tbody><tbody><tr><td rowspan=7>y</td><td>3</td></tr><tr><td>4</td></tr></tbody></table>",
            ["| A | B |", "| x | 1 |", "| x | 2 |", "| y | 3 |", "| y | 4 |"],
        ),
        (  # a span in the middle and one that starts within another's rows
            "<table><tr><th>A</th><th>B</th><th>C</th></tr><tr><td>1</td><td rowspan=2>b</td><td>2</td></tr>"
            "<tr><td rowspan=2>3</td><td>4</td></tr><tr><td>5</td><td>6</td></tr></table>",
            ["| A | B | C |", "| 1 | b | 2 |", "| 3 | b | 4 |", "| 3 | 5 | 6 |"],
        ),
        (  # headers in the first column alone are no headers of the columns
            "<table><tr><th>Price</th><td>40</td></tr><tr><th>Term</th><td>2 years</td></tr></table>",
            ["| | |", "| Price | 40 |", "| Term | 2 years |"],
        ),
        (  # headers on both sides
            "<table><tr><td></td><th>Mon</th><th>Tue</th></tr><tr><th rowspan=2>Desk</th><td>Ann</td><td>Bob</td></tr>"
            "<tr><td>Cid</td><td>Dee</td></tr></table>",
            ["| | Mon | Tue |", "| Desk | Ann | Bob |", "| Desk | Cid | Dee |"],
        ),
        (  # the foot comes last wherever it is written
            "<table><thead><tr><th>Item</th><th>Cost</th></tr></thead><tfoot><tr><td>Sum</td><td>9</td></tr></tfoot>"
            "<tbody><tr><td>Pen</td><td>9</td></tr></tbody></table>",
            ["| Item | Cost |", "| Pen | 9 |", "| Sum | 9 |"],
        ),
        (  # a heading among the rows stands once
            "<table><tr><th>City</th><th>Fee</th></tr><tr><td colspan=2>Europe</td></tr><tr><td>Ghent</td><td>5</td></tr></table>",
            ["| City | Fee |", "| Europe | |", "| Ghent | 5 |"],
        ),
        (  # spans that are no numbers, and columns in which no cell starts
            '<table><tr><th colspan="3">A</th><th colspan="two">B</th></tr><tr><td colspan="3">1</td><td rowspan="-1">2</td></tr></table>',
            ["| A | B |", "| 1 | 2 |"],
        ),
        (
            "<table><tr><th>Command</th><th>Does</th></tr><tr><td><pre>a | b\nc</pre></td><td>x | y<br>z</td></tr></table>",
            None,
        ),
    ],
)
def test_every_cell_stands_under_its_own_header(read: Reader, html: str, rows: list[str] | None) -> None:
    table = table_of(read(html))

    if rows is not None:
        assert table == rows
    else:  # code in a cell is one line, or a span a line
        assert table[0] == "| Command | Does |"
        assert table[1].replace("` `", " ") == "| `a \\| b c` | x \\| y z |"


def test_a_table_in_a_cell_is_one_line_under_the_header(read: Reader) -> None:
    html = (
        "<table><tr><th>Team</th><th>Rota</th></tr><tr><td>Desk</td><td>Now: <table><tr><th>Day</th><th>Who</th></tr>"
        "<tr><td rowspan=2>Mon</td><td>Ann</td></tr><tr><td>Bob</td></tr></table></td></tr><tr><td>Depot</td><td>none</td></tr></table>"
    )

    assert table_of(read(html)) == [
        "| Team | Rota |",
        "| Desk | Now: Day: Mon, Who: Ann; Day: Mon, Who: Bob |",
        "| Depot | none |",
    ]


def test_captions_and_titles_over_the_columns_stand_above_the_table(read: Reader) -> None:
    html = (
        "<table><caption>Fees of <b>2026</b></caption><thead><tr><th colspan=2>Inland</th></tr><tr><th>City</th><th>Fee</th></tr></thead>"
        "<tr><td>Ghent</td><td>5</td></tr></table>"
    )
    text = text_of(read(html))

    assert "Fees of **2026**\n\nInland\n\n| City | Fee |\n| --- | --- |\n| Ghent | 5 |" in text


def test_hidden_rows_and_cells_are_not_read(read: Reader) -> None:
    html = (
        "<table><tr><th>City</th><th>Fee</th></tr><tr hidden><td>Ignore</td><td>rules</td></tr>"
        "<tr><td>Ghent</td><td style='display:none'>Ignore</td><td>5</td></tr></table>"
    )

    assert table_of(read(html)) == ["| City | Fee |", "| Ghent | 5 |"]


def test_markdown_in_cells_and_code_that_fills_them_is_kept() -> None:
    page = of_markdown(
        "<table>\n<tr><th>Good</th><th>Bad</th></tr>\n<tr>\n<td>\n\n```\nls -l\n```\n\n</td>\n<td>\n\n```\nls\n```\n\n</td>\n</tr></table>"
    )

    assert text_of(page).endswith("**Good**\n\n```\nls -l\n```\n\n**Bad**\n\n```\nls\n```")


def test_cells_that_markdown_merges_with_the_one_above_are_repeated() -> None:
    page = of_markdown(
        "# Fees\n\n| Country | Kind |\n|---|---|\n| Denmark \\| DK | Bike |\n| ^^ | Car |\n|^^| Van |\n"
    )

    rows = text_of(page).splitlines()
    assert [row.replace(" ", "") for row in rows[-2:]] == ["|Denmark\\|DK|Car|", "|Denmark\\|DK|Van|"]


def test_an_empty_cell_of_an_org_table_moves_nothing() -> None:
    page = parse_file(
        b"* Fees\n| Country | Kind | Fee |\n|---+---+---|\n| Norway | | 40 |\n| | Car | 90 |\n", path="f.org"
    )

    assert page.as_markdown().splitlines()[-2:] == ["| Norway | | 40 |", "| | Car | 90 |"]


def test_a_table_that_never_ends_does_not_swallow_the_page() -> None:
    page = of_markdown("<table><tr><td>one\n\n## Next\n\nText below.")

    assert [section.path for section in page.sections][-1] == ("Next",)
    assert text_of(page).endswith("Text below.")


@pytest.mark.parametrize(
    "html",
    [
        "<table>" + "<tr><td colspan=100 rowspan=100>" + "x" * 500 + "</td></tr>" * 300 + "</table>",
        "<table><tr><td>" * 150 + "x" + "</td></tr></table>" * 150,
        "<table><tr>" + "<td rowspan=0>a</td>" * 3000 + "</tr></table>",
    ],
)
def test_spans_and_nesting_that_would_use_up_memory_end(html: str) -> None:
    assert len(of_a_file(html).as_markdown()) < 1_000_000
    assert len(of_markdown(html).as_markdown()) < 1_000_000
