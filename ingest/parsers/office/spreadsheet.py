"""Parses workbooks of Excel and LibreOffice and tables as text: each cell as a person sees it, each sheet a section."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter

from ingest.errors import PageError
from ingest.front_matter.front_matter import FrontMatter
from ingest.page import ParsedPage, Section
from ingest.parsers.office.sheets import Sheet, sheet_blocks
from ingest.parsers.office.texts import checked_kind
from ingest.parsers.office.workbook import Workbook
from ingest.parsers.text import cleaned, decoded, title_from

_DELIMITERS = ("\t", ";", "|", ",")
"""The most likely one first: numbers and words hold commas too."""
_NAMED = re.compile(r"sep=(.)\s*\n", re.IGNORECASE)
"""A first line in which a file of Excel's names its delimiter, and which Excel does not show."""
_LOOKED_AT = 100
"""Rows from which the delimiter is guessed."""


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
        return Workbook(sheets=[_read_separated(decoded(content))], notes=(), written=None)
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


def _read_separated(text: str) -> Sheet:
    """Reads a table as text: every value as written, so that 00501 stays 00501.

    Its delimiter is the one that splits most rows into the same number of values.

    `text`: has line ends of one character.
    """
    named = _NAMED.match(text)
    if named:
        text = text[named.end() :]
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=named[1] if named else _delimiter(text))
    return Sheet(rows={number: dict(enumerate(row)) for number, row in enumerate(rows) if any(row)})


def _delimiter(text: str) -> str:
    return max(_DELIMITERS, key=lambda delimiter: _evenness(text, delimiter))


def _evenness(text: str, delimiter: str) -> float:
    """Returns the share of rows with the most frequent number of values above one."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    sizes = Counter(len(row) for _, row in zip(range(_LOOKED_AT), rows, strict=False) if row)
    return max((times for size, times in sizes.items() if size > 1), default=0) / max(1, sizes.total())
