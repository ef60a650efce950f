"""A Word file is read as Word shows it: numbers, notes, text boxes, merged cells."""

from __future__ import annotations

import pytest

from ingest.page import ParsedPage
from ingest.parsers.formats import parse_file
from tests.fakes.documents import a_docx, paragraph

NAMES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:v="urn:schemas-microsoft-com:vml"'
)
CONTENT = "application/vnd.openxmlformats-officedocument.wordprocessingml"


def read(body: str, **parts: str) -> ParsedPage:
    """`parts`: the inner XML of styles, numbering, footnotes."""
    content = "".join(
        f"<Override PartName='/word/{name}.xml' ContentType='{CONTENT}.{name}+xml'/>" for name in parts
    )
    links = "".join(
        f"<Relationship Id='r{at}' Type='http://schemas.openxmlformats.org/officeDocument/2006/relationships/{name}' Target='{name}.xml'/>"
        for at, name in enumerate(parts)
    )
    extra = {f"word/{name}.xml": f"<w:{name} {NAMES}>{xml}</w:{name}>" for name, xml in parts.items()}
    if parts:
        package = "xmlns='http://schemas.openxmlformats.org/package/2006"
        extra["word/_rels/document.xml.rels"] = (
            f"<Relationships {package}/relationships'>{links}</Relationships>"
        )
        extra["[Content_Types].xml"] = (
            f"<Types {package}/content-types'><Default Extension='rels' "
            "ContentType='application/vnd.openxmlformats-package.relationships+xml'/><Default Extension='xml' "
            f"ContentType='application/xml'/><Override PartName='/word/document.xml' ContentType='{CONTENT}.document.main+xml'/>"
            f"{content}</Types>"
        )
    return parse_file(a_docx(body=body, extra=extra), path="rules.docx")


def text(page: ParsedPage) -> str:
    return "\n\n".join(block.text for section in page.sections for block in section.blocks)


def style(name: str, words: str, number: str = "", level: int | None = None) -> str:
    deep = "" if level is None else f"<w:ilvl w:val='{level}'/>"
    numbers = f"<w:numPr>{deep}<w:numId w:val='{number}'/></w:numPr>" if number else ""
    return f"<w:style w:type='paragraph' w:styleId='{name}'><w:name w:val='{words}'/><w:pPr>{numbers}</w:pPr></w:style>"


def styled(name: str, words: str) -> str:
    return f"<w:p><w:pPr><w:pStyle w:val='{name}'/></w:pPr><w:r><w:t>{words}</w:t></w:r></w:p>"


def numbering(*levels: tuple[str, str], restarts: bool = False) -> str:
    """`levels`: form and text of each. Two lists of one kind, 1 and 2."""
    made = "".join(
        f"<w:lvl w:ilvl='{at}'><w:start w:val='1'/><w:numFmt w:val='{form}'/><w:lvlText w:val='{shown}'/></w:lvl>"
        for at, (form, shown) in enumerate(levels)
    )
    again = "<w:lvlOverride w:ilvl='0'><w:startOverride w:val='1'/></w:lvlOverride>" if restarts else ""
    return (
        f"<w:abstractNum w:abstractNumId='7'>{made}</w:abstractNum><w:num w:numId='1'><w:abstractNumId w:val='7'/></w:num>"
        f"<w:num w:numId='2'><w:abstractNumId w:val='7'/>{again}</w:num>"
    )


HEADINGS = style("Heading1", "heading 1", "1") + style("Heading2", "heading 2", "1", 1)


@pytest.mark.parametrize(
    ("levels", "numbers"),
    [
        ([("decimal", "%1."), ("decimal", "%1.%2")], ["1.", "1.1", "1.2", "2.", "2.1"]),
        ([("upperRoman", "Part %1:"), ("lowerLetter", "(%2)")], ["Part I:", "(a)", "(b)", "Part II:", "(a)"]),
        ([("decimalZero", "§ %1"), ("none", "")], ["§ 01", "", "", "§ 02", ""]),
    ],
)
def test_headings_have_the_numbers_that_word_shows(levels: list[tuple[str, str]], numbers: list[str]) -> None:
    heads = [
        ("Heading1", "Scope"),
        ("Heading2", "Who"),
        ("Heading2", "Where"),
        ("Heading1", "Pay"),
        ("Heading2", "When"),
    ]
    body = "".join(styled(name, words) + paragraph("Text.") for name, words in heads)
    page = read(body, styles=HEADINGS, numbering=numbering(*levels))

    shown = [section.path[-1] for section in page.sections if section.path]
    assert shown == [f"{number} {words}".strip() for number, (_, words) in zip(numbers, heads, strict=True)]


def test_clauses_keep_the_numbers_of_their_levels() -> None:
    def clause(words: str, level: int) -> str:
        return f"<w:p><w:pPr><w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='1'/></w:numPr></w:pPr><w:r><w:t>{words}</w:t></w:r></w:p>"

    body = (
        clause("Leave", 0)
        + clause("You get 25 days.", 1)
        + paragraph("Or more.")
        + clause("Ask first.", 1)
        + clause("Pay", 0)
    )
    told = text(read(body, numbering=numbering(("decimal", "%1"), ("decimal", "%1.%2"))))

    assert told.split("\n\n") == ["1 Leave", "1.1 You get 25 days.", "Or more.", "1.2 Ask first.", "2 Pay"]


def test_a_list_that_its_style_makes_is_a_list() -> None:
    body = paragraph("First:") + styled("Steps", "Ask.") + styled("Steps", "Go.")
    page = read(body, styles=style("Steps", "List Number", "1"), numbering=numbering(("decimal", "%1.")))

    assert text(page) == "First:\n\n1. Ask.\n2. Go."


def test_a_style_that_is_based_on_itself_is_read() -> None:
    ring = "<w:style w:type='paragraph' w:styleId='A'><w:name w:val='A'/><w:basedOn w:val='A'/></w:style>"

    assert text(read(styled("A", "Words."), styles=ring, numbering=numbering(("decimal", "%1.")))) == "Words."


@pytest.mark.parametrize("first", [1, 2, 7])
def test_a_footnote_stands_behind_its_paragraph_whatever_its_id(first: int) -> None:
    def noted(words: str, number: int) -> str:
        return f"<w:p><w:r><w:t>{words}</w:t></w:r><w:r><w:footnoteReference w:id='{number}'/></w:r></w:p>"

    notes = "<w:footnote w:type='separator' w:id='-1'><w:p/></w:footnote>" + "".join(
        f"<w:footnote w:id='{number}'><w:p><w:r><w:footnoteRef/></w:r><w:r><w:t>{words}</w:t></w:r></w:p></w:footnote>"
        for number, words in ((first, "Not in May."), (first + 1, "Not in June."))
    )
    told = text(read(noted("You get 25 days.", first) + noted("Ask first.", first + 1), footnotes=notes))

    assert told.split("\n\n") == [
        "You get 25 days.[note 1]",
        "[note 1] Not in May.",
        "Ask first.[note 2]",
        "[note 2] Not in June.",
    ]


def test_words_beside_a_text_box_and_in_it_are_read_once() -> None:
    box = "<w:txbxContent><w:p><w:r><w:t>In the box.</w:t></w:r></w:p></w:txbxContent>"
    body = (
        "<w:p><w:r><w:t>Beside the box.</w:t></w:r><w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing>"
        f"{box}</w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox>{box}</v:textbox></w:pict></mc:Fallback>"
        "</mc:AlternateContent></w:r></w:p>"
    )
    body = body.replace("<w:p>", f"<w:p {NAMES}>", 1)

    assert text(read(body)) == "Beside the box.\n\nIn the box."


def cell(words: str, *, across: int = 1, down: str = "") -> str:
    merge = {"": "", "first": "<w:vMerge w:val='restart'/>", "next": "<w:vMerge/>"}[down]
    return f"<w:tc><w:tcPr><w:gridSpan w:val='{across}'/>{merge}</w:tcPr>{paragraph(words)}</w:tc>"


def a_table(*rows: str) -> str:
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"


def test_cells_of_a_table_with_merged_headers_stand_under_all_of_their_headers() -> None:
    page = read(
        a_table(
            cell("Grade", down="first") + cell("Days", across=2),
            cell("", down="next") + cell("Full time") + cell("Part time"),
            cell("A", down="first") + cell("25") + cell("12"),
            cell("", down="next") + cell("26") + cell("13"),
        )
    )

    assert text(page).split("\n") == [
        "| Grade | Days › Full time | Days › Part time |",
        "| --- | --- | --- |",
        "| A | 25 | 12 |",
        "| A | 26 | 13 |",
    ]


def test_a_merged_header_over_values_stays_the_only_row_of_headers() -> None:
    page = read(
        a_table(
            cell("Name", across=2) + cell("Age"),
            cell("Ann") + cell("Smith") + cell("34"),
            cell("Bo") + cell("Jones") + cell("40"),
        )
    )

    assert text(page).split("\n")[0] == "| Name | Name | Age |"


def test_one_cell_over_a_whole_table_is_its_title() -> None:
    page = read(
        a_table(cell("Price list", across=2), cell("Item") + cell("Price"), cell("Mulch") + cell("4"))
    )

    assert text(page) == "Price list\n\n| Item | Price |\n| --- | --- |\n| Mulch | 4 |"


@pytest.mark.parametrize("between", ["<w:tab/>", "<w:tab />", "<w:br/>", "<w:ptab w:relativeTo='margin'/>"])
def test_words_that_a_tab_or_a_break_parts_stay_apart(between: str) -> None:
    body = f"<w:p><w:r><w:t>See § 321</w:t>{between}<w:t>Eligibility</w:t></w:r></w:p>"
    assert text(read(body)).split() == ["See", "§", "321", "Eligibility"]


def test_a_row_that_begins_further_to_the_right_keeps_its_columns() -> None:
    row = f"<w:tr>{''.join(f'<w:tc>{paragraph(name)}</w:tc>' for name in 'ABC')}</w:tr>"
    late = f'<w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>{"".join(f"<w:tc>{paragraph(name)}</w:tc>" for name in "bc")}</w:tr>'
    page = parse_file(a_docx(body=f"{paragraph('Fees')}<w:tbl>{row}{late}</w:tbl>"), path="fees.docx")
    assert "| | b | c |" in page.as_markdown()
