"""Small Office files, PDFs and e-mails, written byte by byte, so that nobody's document is in the project."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence

_WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_SLIDE = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
_SHEET = (
    'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
_TYPES = "application/vnd.openxmlformats-officedocument"
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def a_zip(members: Mapping[str, str | bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def a_docx(*, body: str = "", prolog: str = "", extra: Mapping[str, str | bytes] | None = None) -> bytes:
    """`body`: WordprocessingML, see `paragraph` and `word_table`."""
    return a_zip({
        "[Content_Types].xml": _content_types({"word/document.xml": "wordprocessingml.document.main+xml"}),
        "_rels/.rels": _relations({"officeDocument": "word/document.xml"}),
        "word/document.xml": f"{prolog}<w:document {_WORD}><w:body>{body}</w:body></w:document>",
        "word/styles.xml": f"<w:styles {_WORD}>{''.join(_heading_style(level) for level in (1, 2, 3))}</w:styles>",
        "word/_rels/document.xml.rels": _relations({"styles": "styles.xml"}),
        **(extra or {}),
    })  # fmt: skip


def paragraph(text: str, *, heading: int = 0) -> str:
    style = f'<w:pPr><w:pStyle w:val="Heading{heading}"/></w:pPr>' if heading else ""
    return f"<w:p>{style}<w:r><w:t>{text}</w:t></w:r></w:p>"


def word_table(rows: Sequence[Sequence[str]]) -> str:
    cells = ["".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows]
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def a_pptx(slides: Sequence[tuple[str, str]], *, broken_picture: bool = False) -> bytes:
    """`slides`: title and text of each."""
    names = [f"ppt/slides/slide{at}.xml" for at in range(1, len(slides) + 1)]
    ids = "".join(f'<p:sldId id="{255 + at}" r:id="rId{at}"/>' for at in range(1, len(slides) + 1))
    links = "".join(
        f'<Relationship Id="rId{at}" Type="{_RELATION}/slide" Target="slides/slide{at}.xml"/>'
        for at in range(1, len(slides) + 1)
    )
    picture = "<p:pic><p:nvPicPr><p:cNvPr id='9' name='x'/></p:nvPicPr><p:blipFill/><p:spPr/></p:pic>"
    return a_zip({
        "[Content_Types].xml": _content_types({
            "ppt/presentation.xml": "presentationml.presentation.main+xml",
            **dict.fromkeys(names, "presentationml.slide+xml"),
        }),
        "_rels/.rels": _relations({"officeDocument": "ppt/presentation.xml"}),
        "ppt/presentation.xml": f"<p:presentation {_SLIDE}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": f"<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>{links}</Relationships>",
        **{
            name: f"<p:sld {_SLIDE}><p:cSld><p:spTree>{_shape(title, 'title')}{_shape(text)}"
            f"{picture if broken_picture else ''}</p:spTree></p:cSld></p:sld>"
            for name, (title, text) in zip(names, slides, strict=True)
        },
    })  # fmt: skip


def an_xlsx(sheets: Mapping[str, Sequence[Sequence[str | int]]]) -> bytes:
    names = [f"xl/worksheets/sheet{at}.xml" for at in range(1, len(sheets) + 1)]
    listed = "".join(
        f'<sheet name="{name}" sheetId="{at}" r:id="rId{at}"/>' for at, name in enumerate(sheets, 1)
    )
    links = "".join(
        f'<Relationship Id="rId{at}" Type="{_RELATION}/worksheet" Target="worksheets/sheet{at}.xml"/>'
        for at in range(1, len(sheets) + 1)
    )
    return a_zip({
        "[Content_Types].xml": _content_types({
            "xl/workbook.xml": "spreadsheetml.sheet.main+xml",
            **dict.fromkeys(names, "spreadsheetml.worksheet+xml"),
        }),
        "_rels/.rels": _relations({"officeDocument": "xl/workbook.xml"}),
        "xl/workbook.xml": f"<workbook {_SHEET}><sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f"<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>{links}</Relationships>",
        **{name: _sheet(rows) for name, rows in zip(names, sheets.values(), strict=True)},
    })  # fmt: skip


def a_pdf(pages: Sequence[Sequence[tuple[int, str]]], *, encrypted: bool = False) -> bytes:
    """`pages`: lines as (font size, text) from the top down. `\\001` in a text is what TeX's fonts make of "ff"."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica "
        "/Encoding << /BaseEncoding /WinAnsiEncoding /Differences [1 /carriagereturn] >> >>",
    ]
    streams = []
    for lines in pages:
        top, commands = 760, []
        for size, text in lines:
            top -= 2 * size
            commands.append(f"BT /F1 {size} Tf 72 {top} Td ({text}) Tj ET")
        streams.append("\n".join(commands))
    _add_pages(objects, streams)
    trailer = "/Root 1 0 R"
    if encrypted:
        key = "00" * 32
        objects.append(f"<< /Filter /Standard /V 1 /R 2 /P -44 /O <{key}> /U <{key}> >>")
        trailer += f" /Encrypt {len(objects)} 0 R /ID [<{'11' * 16}> <{'11' * 16}>]"
    return _pdf_file(objects, trailer)


def _add_pages(objects: list[str], streams: Sequence[str]) -> None:
    """A page for each stream of commands; the second object lists them."""
    kids = []
    for stream in streams:
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        kids.append(f"{len(objects) + 1} 0 R")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects)} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"


def a_placed_pdf(pages: Sequence[Sequence[tuple[float, float, str]]]) -> bytes:
    """`pages`: texts of 10 points with the distance of their baselines from the left and upper ends."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    streams = [
        "\n".join(f"BT /F1 10 Tf {left} {792 - down} Td ({text}) Tj ET" for left, down, text in texts)
        for texts in pages
    ]
    _add_pages(objects, streams)
    return _pdf_file(objects, "/Root 1 0 R")


def _pdf_file(objects: Sequence[str], trailer: str) -> bytes:
    content, places = b"%PDF-1.4\n", []
    for number, written in enumerate(objects, 1):
        places.append(len(content))
        content += f"{number} 0 obj\n{written}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    count = len(objects) + 1
    end = f"xref\n0 {count}\n0000000000 65535 f \n{table}trailer << /Size {count} {trailer} >>\nstartxref\n{len(content)}\n%%EOF\n"
    return content + end.encode()


def _content_types(parts: Mapping[str, str]) -> str:
    named = "".join(
        f'<Override PartName="/{name}" ContentType="{_TYPES}.{kind}"/>' for name, kind in parts.items()
    )
    return (
        "<Types xmlns='http://schemas.openxmlformats.org/package/2006/content-types'>"
        "<Default Extension='rels' ContentType='application/vnd.openxmlformats-package.relationships+xml'/>"
        f"<Default Extension='xml' ContentType='application/xml'/>{named}</Types>"
    )


def _relations(targets: Mapping[str, str]) -> str:
    links = "".join(
        f'<Relationship Id="rId{at}" Type="{_RELATION}/{kind}" Target="{target}"/>'
        for at, (kind, target) in enumerate(targets.items(), 1)
    )
    return f"<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>{links}</Relationships>"


def _heading_style(level: int) -> str:
    return (
        f'<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/>'
        f'<w:pPr><w:outlineLvl w:val="{level - 1}"/></w:pPr></w:style>'
    )


def _shape(text: str, kind: str = "body") -> str:
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="2" name="{kind}"/><p:cNvSpPr/><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>'
        f"<p:spPr/><p:txBody><a:bodyPr/><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
    )


def _sheet(rows: Sequence[Sequence[str | int]]) -> str:
    written = []
    for down, row in enumerate(rows, 1):
        cells = [
            _sheet_cell(f"{chr(64 + across)}{down}", value)
            for across, value in enumerate(row, 1)
            if value != ""
        ]
        written.append(f'<row r="{down}">{"".join(cells)}</row>')
    return f"<worksheet {_SHEET}><sheetData>{''.join(written)}</sheetData></worksheet>"


def _sheet_cell(place: str, value: str | int) -> str:
    if isinstance(value, int):
        return f'<c r="{place}"><v>{value}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
