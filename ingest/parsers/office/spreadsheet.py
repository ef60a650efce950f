"""Parses workbooks of Excel and LibreOffice and tables as text: each cell as a person sees it, each sheet a section."""

from __future__ import annotations

from ingest.errors import PageError
from ingest.front_matter.front_matter import FrontMatter
from ingest.page import ParsedPage, Section
from ingest.parsers.office.sheets import sheet_blocks
from ingest.parsers.office.texts import checked_kind
from ingest.parsers.office.workbook import Workbook
from ingest.parsers.text import cleaned, decoded, title_from


def parse_spreadsheet(content: bytes, *, path: str, kind: str) -> ParsedPage:
    """Parses a workbook or a table. `kind`: csv, tsv, xlsx, xlsm, xls or ods.

    Raises:
        PageError: with the reason.
    """
    book = _read(content, kind)
    title = title_from(path)
    sections = []
    for sheet in book.sheets:
        name = " ".join(cleaned(sheet.name).split())
        heading = (name,) if name and name.casefold() != title.casefold() else ()
        if blocks := sheet_blocks(sheet):
            sections.append(Section(path=heading, anchor=None, blocks=blocks))
    if not sections:
        raise PageError("it has no text", withdraw=True)
    front = FrontMatter(written=book.written, notes=tuple(book.notes))
    return ParsedPage(title=title, sections=tuple(sections), front=front)


def _read(content: bytes, kind: str) -> Workbook:
    if kind in ("csv", "tsv"):
        from ingest.parsers.office.separated import read_separated

        return Workbook(sheets=[read_separated(decoded(content))], notes=(), written=None)
    match checked_kind(content, kind):
        case "ods":
            from ingest.parsers.office.open_sheets import read_open_sheets

            return read_open_sheets(content)
        case "xls":
            from ingest.parsers.office.old_workbook import read_old_workbook

            return read_old_workbook(content)
        case _:
            from ingest.parsers.office.workbook import read_workbook

            return read_workbook(content)
