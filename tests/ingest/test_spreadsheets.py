"""Cells are what a person sees in the program, each under its own header."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.errors import PageError
from ingest.page import ParsedPage
from ingest.parsers.formats import parse_file
from tests.fakes.documents import a_zip
from tests.fakes.workbooks import AN_XLS, a_workbook, an_ods, rows

Table = list[list[str]]
_CELL_END = re.compile(r"(?<!\\)\|")


def read(content: bytes | str, path: str = "rates.xlsx") -> ParsedPage:
    return parse_file(content.encode() if isinstance(content, str) else content, path=path)


def tables(page: ParsedPage) -> list[Table]:
    """Each with its header first."""
    found = []
    for section in page.sections:
        for block in section.blocks:
            if block.kind == "table":
                lines = [block.lead.split("\n")[0], *block.parts]
                found.append([[cell.strip() for cell in _CELL_END.split(line)[1:-1]] for line in lines])
    return found


def words(page: ParsedPage) -> list[str]:
    """Lines beside the tables."""
    return [block.text for section in page.sections for block in section.blocks if block.kind != "table"]


def members(content: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_each_cell_is_what_excel_shows() -> None:
    header = ["Plan", "Discount", "Price", "From", "Opens", "Hours", "Code", "Badge", "Open", "Change"]
    values = ["Bronze", (0.075, "0.0%"), (1234.5, '"$"#,##0.00'), (46096, "dd/mm/yyyy"), (0.3958333333333333, "hh:mm"),
              (1.5625, "[h]:mm"), (7, "00000"), (42, '"EMP-"0000'), True, (-1500, "#,##0;(#,##0)")]  # fmt: skip
    page = read(a_workbook(rows(header, values)))

    assert tables(page) == [
        [header, ["Bronze", "7.5%", "$1,234.50", "15/03/2026", "09:30", "37:30", "00007", "EMP-0042", "TRUE", "(1,500)"]]
    ]  # fmt: skip


def test_codes_that_are_words_keep_their_zeros_and_signs() -> None:
    page = read(a_workbook(rows(["Postcode", "Phone", "Rule"], ["00501", "+31 6 1234", "a|b"])))

    assert tables(page)[0][1] == ["00501", "+31 6 1234", "a\\|b"]


def test_a_workbook_that_counts_from_1904_has_the_days_that_it_shows() -> None:
    page = read(
        a_workbook(
            rows(["From", "Hours"], [(44634, "yyyy-mm-dd"), (1.5, "[h]:mm")]), options={"date_1904": True}
        )
    )

    assert tables(page)[0][1] == ["2026-03-15", "36:00"]


def test_rich_text_is_one_text_and_what_cells_hold_in_several_lines_one_line() -> None:
    def then(book: Any, sheet: Any) -> None:
        sheet.write_rich_string("A2", "Twenty-", book.add_format({"bold": True}), "five", " days")
        sheet.write("B2", "first line\nsecond line")

    assert tables(read(a_workbook(rows(["Leave", "Note"]), then=then)))[0][1] == [
        "Twenty-five days",
        "first line second line",
    ]


def test_a_formula_is_its_value_an_error_its_name_and_a_missing_value_is_said() -> None:
    def then(book: Any, sheet: Any) -> None:
        sheet.write_formula("A2", "=B2*2", book.add_format({"num_format": "0%"}), 0.5)
        sheet.write_formula("B2", "=NA()", None, "#N/A")
        sheet.write_formula("C2", '=IF(1,"","")', None, "")
        sheet.write_formula("D2", "=SUM(A2)", None, 4321)

    written = members(a_workbook(rows(["Share", "Rate", "Empty", "Sum"]), then=then))
    name = "xl/worksheets/sheet1.xml"
    written[name] = (
        written[name].replace("<v>4321</v>", "<v></v>").replace('<c r="C2">', '<c r="C2" t="str">')
    )
    page = read(a_zip(written))

    assert tables(page) == [[["Share", "Rate", "Empty", "Sum"], ["50%", "#N/A", "", "(not calculated)"]]]
    assert page.front.notes == ("1 formulas have no saved value (Rates!D2): open it in Excel and save it",)


def test_what_is_hidden_is_left_out_and_does_not_end_a_table() -> None:
    def then(book: Any, sheet: Any) -> None:
        sheet.set_row(2, None, None, {"hidden": True})
        sheet.set_column("B:B", None, None, {"hidden": True})
        book.add_worksheet("Pay").write("A1", "secret")
        book.worksheets()[1].hide()
        book.add_worksheet("Deep").write("A1", "secret")
        book.worksheets()[2].very_hidden()

    page = read(
        a_workbook(
            rows(["Name", "secret", "Days"], ["Ann", "secret", 25], ["secret"], ["Bob", "secret", 20]),
            then=then,
        )
    )

    assert tables(page) == [[["Name", "Days"], ["Ann", "25"], ["Bob", "20"]]]
    assert page.front.notes == ("hidden sheets are left out: Pay, Deep",)


@pytest.mark.parametrize("in_table", [True, False])
def test_rows_that_a_filter_puts_away_are_read_and_rows_that_a_person_hides_are_not(in_table: bool) -> None:
    def then(book: Any, sheet: Any) -> None:
        if in_table:
            sheet.add_table("A1:B3", {"columns": [{"header": "Name"}, {"header": "Days"}]})
        else:
            sheet.autofilter("A1:B3")
            sheet.filter_column("A", "x == Bob")
        sheet.set_row(1, None, None, {"hidden": True})
        sheet.set_row(3, None, None, {"hidden": True})

    content = a_workbook(
        rows(["Name", "Days"], ["Ann", 25], ["Bob", 20], ["secret", 1], ["Eve", 2]), then=then
    )
    if in_table:
        written = members(content)
        written["xl/tables/table1.xml"] = written["xl/tables/table1.xml"].replace(
            '<autoFilter ref="A1:B3"/>',
            '<autoFilter ref="A1:B3"><filterColumn colId="0"><filters><filter val="Bob"/></filters></filterColumn></autoFilter>',
        )
        content = a_zip(written)

    assert tables(read(content)) == [[["Name", "Days"], ["Ann", "25"], ["Bob", "20"], ["Eve", "2"]]]


def test_values_that_their_format_hides_are_not_read() -> None:
    page = read(a_workbook(rows(["Name", "Days"], ["Ann", (25, ";;;")], [("secret", ";;;"), 20])))

    assert tables(page)[0][1:] == [["Ann", ""], ["", "20"]]


def test_a_merged_cell_stands_in_every_row_that_it_covers() -> None:
    page = read(a_workbook(rows(["Region", "Team"], [None, "North"], [None, "South"], ["APAC", "East"]),
                           then=lambda book, sheet: sheet.merge_range("A2:A3", "EMEA")))  # fmt: skip

    assert tables(page) == [[["Region", "Team"], ["EMEA", "North"], ["EMEA", "South"], ["APAC", "East"]]]


def test_a_merged_cell_of_which_a_part_is_hidden_is_still_shown() -> None:
    def then(book: Any, sheet: Any) -> None:
        sheet.merge_range("A2:A3", "EMEA")
        sheet.set_row(1, None, None, {"hidden": True})

    page = read(a_workbook(rows(["Region", "Team"], [None, "secret"], [None, "South"]), then=then))

    assert tables(page) == [[["Region", "Team"], ["EMEA", "South"]]]


def test_headers_over_several_columns_name_each_of_them() -> None:
    def then(book: Any, sheet: Any) -> None:
        sheet.merge_range("A1:A2", "Plan")
        sheet.merge_range("B1:C1", "Price")
        sheet.merge_range("D1:E1", "Fee")

    page = read(
        a_workbook(
            rows([], [None, "Adult", "Child", "Once", "Yearly"], ["Gold", 10, 5, 1, 2], ["Tin", 4, 2, 0, 1]),
            then=then,
        )
    )

    assert tables(page) == [
        [
            ["Plan", "Price › Adult", "Price › Child", "Fee › Once", "Fee › Yearly"],
            ["Gold", "10", "5", "1", "2"],
            ["Tin", "4", "2", "0", "1"],
        ]
    ]


def test_a_merged_header_over_values_is_no_second_row_of_headers() -> None:
    page = read(a_workbook(rows([None, None, "Age"], ["Ann", "Smith", 34], ["Bob", "Jones", 40]),
                           then=lambda book, sheet: sheet.merge_range("A1:B1", "Name")))  # fmt: skip

    assert tables(page) == [[["Name", "Name", "Age"], ["Ann", "Smith", "34"], ["Bob", "Jones", "40"]]]


def test_a_title_over_the_whole_width_is_text_and_a_label_among_the_rows_stands_once() -> None:
    def then(book: Any, sheet: Any) -> None:
        sheet.merge_range("A1:C1", "Price list")
        sheet.merge_range("A4:C4", "Tools")

    page = read(
        a_workbook(
            rows([], ["Item", "Price", "Unit"], ["Mulch", 4, "bag"], [], ["Rake", 9, "piece"]), then=then
        )
    )

    assert words(page) == ["Price list"]
    assert tables(page) == [
        [["Item", "Price", "Unit"], ["Mulch", "4", "bag"], ["Tools", "", ""], ["Rake", "9", "piece"]]
    ]


def test_tables_below_and_beside_each_other_are_tables_of_their_own() -> None:
    cells = {
        **rows(["Item", "Price"], ["Mulch", 4], ["Rake", 9], [], ["Shop", "Town"], ["One", "Gouda"]),
        "D2": "Grade",
        "E2": "Days",
        "D3": "A",
        "E3": 25,
        "D4": "B",
        "E4": 30,
    }

    assert tables(read(a_workbook(cells))) == [
        [["Item", "Price"], ["Mulch", "4"], ["Rake", "9"]],
        [["Shop", "Town"], ["One", "Gouda"]],
        [["Grade", "Days"], ["A", "25"], ["B", "30"]],
    ]


def test_an_empty_column_for_looks_does_not_cut_a_table() -> None:
    page = read(a_workbook(rows(["Topic", None, "Page"], ["Revenue", None, 1], ["Costs", None, 2])))

    assert tables(page) == [[["Topic", "Page"], ["Revenue", "1"], ["Costs", "2"]]]


def test_an_empty_row_between_the_names_of_columns_and_their_figures_does_not_part_them() -> None:
    page = read(a_workbook(rows(["Item", "Price"], [], ["Mulch", 4], ["Rake", 9], [], ["Total", 13])))

    assert tables(page) == [[["Item", "Price"], ["Mulch", "4"], ["Rake", "9"], ["Total", "13"]]]


def test_text_boxes_are_read_and_comments_are_not() -> None:
    def then(book: Any, sheet: Any) -> None:
        sheet.insert_textbox("D4", "Prices are without VAT.")
        sheet.write_comment("A1", "secret")

    page = read(a_workbook(rows(["Item", "Price"], ["Mulch", 4]), then=then))

    assert words(page) == ["Prices are without VAT."]
    assert "secret" not in page.as_markdown()


def test_a_workbook_of_the_strict_kind_is_read() -> None:
    written = {
        name: text.replace("http://schemas.openxmlformats.org/spreadsheetml/2006/main", "http://purl.oclc.org/ooxml/spreadsheetml/main")
        .replace("http://schemas.openxmlformats.org/officeDocument/2006/relationships", "http://purl.oclc.org/ooxml/officeDocument/relationships")
        for name, text in members(a_workbook(rows(["Rate"], [(0.5, "0%")], [(0.25, "0%")]))).items()
    }  # fmt: skip

    assert tables(read(a_zip(written))) == [[["Rate"], ["50%"], ["25%"]]]


def test_the_day_on_which_it_was_saved_is_kept() -> None:
    written = members(a_workbook(rows(["A"])))
    core = "docProps/core.xml"
    written[core] = re.sub(r"(<dcterms:modified[^>]*>)[^<]*", r"\g<1>2026-03-15T10:00:00Z", written[core])

    assert read(a_zip(written)).front.written == date(2026, 3, 15)


@pytest.mark.parametrize(
    "what", ["xl/workbook.xml", "xl/sharedStrings.xml", "xl/styles.xml", "xl/worksheets/sheet1.xml"]
)
def test_a_workbook_with_a_broken_part_says_so(what: str) -> None:
    written = members(a_workbook(rows(["Item"], ["Mulch"])))
    written[what] = written[what][:-20]

    with pytest.raises(PageError, match="broken"):
        read(a_zip(written))


def test_an_old_workbook_is_read_as_excel_shows_it() -> None:
    page = read(AN_XLS, "rates.xls")

    line = ["Bronze", "7.5%", "$1,234.50", "2026-03-15", "37:30", "00007", "TRUE"]
    assert tables(page) == [
        [
            ["Plan", "Discount", "Price", "From", "Hours", "Code", "Note"],
            line,
            line,
            ["Gold", "", "", "01/04/2026", "", "", ""],
        ]
    ]
    assert page.front.notes == ("hidden sheets are left out: Pay",)


@pytest.mark.parametrize(
    "content", [AN_XLS[:3000], b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(4000), b"<html>no</html>"]
)
def test_an_old_workbook_that_is_broken_says_so(content: bytes) -> None:
    with pytest.raises(PageError, match="broken"):
        read(content, "rates.xls")


def test_a_binary_workbook_says_what_to_do() -> None:
    with pytest.raises(PageError, match=r"save it as \.xlsx"):
        read(b"PK\x03\x04", "rates.xlsb")


ODS = """<table:table table:name="Rates"><table:table-column/><table:table-column table:visibility="collapse"/><table:table-column
  table:number-columns-repeated="1022"/><table:table-row>{header}<table:table-cell table:number-columns-repeated="1020"/></table:table-row>
  <table:table-row>{first}</table:table-row>
  <table:table-row table:visibility="collapse"><table:table-cell><text:p>secret</text:p></table:table-cell></table:table-row>
  <table:table-row table:number-rows-repeated="2"><table:covered-table-cell/><table:table-cell/>
  <table:table-cell office:value-type="percentage" office:value="0.2"><text:p>20%</text:p></table:table-cell></table:table-row>
  <table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="1024"/></table:table-row></table:table>
  <table:table table:name="Pay" table:style-name="ta2"><table:table-row><table:table-cell><text:p>secret</text:p></table:table-cell>
  </table:table-row></table:table>"""


def test_a_workbook_of_libre_office_is_read_as_it_shows_it() -> None:
    def cell(shown: str, more: str = "") -> str:
        return f"<table:table-cell {more}><text:p>{shown}</text:p></table:table-cell>"

    header = cell("Plan") + cell("secret") + cell("Discount") + cell("Sum")
    first = (
        cell("Gold", 'table:number-rows-spanned="4"') + cell("secret")
        + cell("7.5%", 'office:value-type="percentage" office:value="0.075"')
        + '<table:table-cell table:formula="of:=SUM([.A1])"/>'
    )  # fmt: skip
    styles = '<style:style style:name="ta2" style:family="table"><style:table-properties table:display="false"/></style:style>'
    page = read(an_ods(ODS.format(header=header, first=first), styles=styles), "rates.ods")

    assert tables(page) == [
        [
            ["Plan", "Discount", "Sum"],
            ["Gold", "7.5%", "(not calculated)"],
            ["Gold", "20%", ""],
            ["Gold", "20%", ""],
        ]
    ]
    assert page.front.notes == (
        "hidden sheets are left out: Pay",
        "1 formulas have no saved value (Rates): open it in LibreOffice and save it",
    )


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("code,price\n00501,1e5\n007,1.50\n", [["code", "price"], ["00501", "1e5"], ["007", "1.50"]]),
        ("code;price\n00501;1,5\n007;2,50\n", [["code", "price"], ["00501", "1,5"], ["007", "2,50"]]),
        ("sep=;\ncode;price\n1;2\n", [["code", "price"], ["1", "2"]]),
        (
            'a,b\n"x, y","line\nbreak"\n"say ""hi""",2026-03-04\n',
            [["a", "b"], ["x, y", "line break"], ['say "hi"', "2026-03-04"]],
        ),
        ("a|b\n1|TRUE\n2|-\n", [["a", "b"], ["1", "TRUE"], ["2", "-"]]),
        ("a\tb\n+31 6\t=1+1\n1,5\t2,5\n", [["a", "b"], ["+31 6", "=1+1"], ["1,5", "2,5"]]),
        ("a,b,c\n1,,3\n,,9\n", [["a", "b", "c"], ["1", "", "3"], ["", "", "9"]]),
        ("only\n001\n002\n", [["only"], ["001"], ["002"]]),
    ],
)
def test_values_of_a_csv_stay_as_they_are_written(text: str, table: Table) -> None:
    assert tables(read(text, "codes.csv")) == [table]


values = st.one_of(
    st.integers(-9999, 9999),
    st.text("abcdefghij ÄéßЖ漢שá", min_size=1, max_size=12).map(str.strip).filter(bool),
    st.none(),
)


@given(body=st.lists(st.lists(values, min_size=4, max_size=4), min_size=1, max_size=8), data=st.data())
@settings(max_examples=60, deadline=None)
def test_every_visible_cell_of_any_sheet_stands_under_its_own_header(
    body: list[list[Any]], data: st.DataObject
) -> None:
    """Headers "h0" to "h3"; cells name the row and column that they are of, some rows and columns are hidden."""
    lines = [
        [None if value is None else f"{value} r{row}c{at}" for at, value in enumerate(line)]
        for row, line in enumerate(body)
    ]
    for line in lines:
        line[0] = line[0] or "x"
    hidden_rows = data.draw(st.sets(st.integers(0, len(body) - 1), max_size=2))
    hidden_columns = data.draw(st.sets(st.integers(1, 3), max_size=2))

    def then(book: Any, sheet: Any) -> None:
        for row in hidden_rows:
            sheet.set_row(row + 1, None, None, {"hidden": True})
        for at in hidden_columns:
            sheet.set_column(at, at, None, None, {"hidden": True})

    names = [f"h{'abcd'[at]}" for at in range(4)]
    shown = [at for at in range(4) if at not in hidden_columns]
    expected = [
        [" ".join((line[at] or "").split()) for at in shown]
        for row, line in enumerate(lines)
        if row not in hidden_rows
    ]
    found = tables(read(a_workbook(rows(names, *lines), then=then)))

    if expected:
        assert found == [[[names[at] for at in shown], *expected]]
