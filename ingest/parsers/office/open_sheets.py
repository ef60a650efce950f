"""Workbooks of LibreOffice (.ods), from their XML, which holds each cell as it is shown; what is hidden is left out.

Rows that a filter has put away are read: a reader unfolds them.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from ingest.errors import PageError
from ingest.parsers.office.number_formats import general
from ingest.parsers.office.opendocument import DRAW, OFFICE, TABLE, TEXT, is_protected, last_saved, words
from ingest.parsers.office.sheets import Sheet, Span
from ingest.parsers.office.workbook import NOT_CALCULATED, Unsaid, Workbook

_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_CELLS = (f"{TABLE}table-cell", f"{TABLE}covered-table-cell")
_MAX_REPEATED = 1_000
"""Equal cells or rows with text. Empty ones, which fill a sheet up to its end, are only counted."""
_DURATION = re.compile(r"PT(\d+)H(\d+)M(\d+)(?:[.,]\d+)?S")


def read_open_sheets(content: bytes) -> Workbook:
    """`content` has passed `check_archive`.

    Raises:
        PageError: it is protected or broken.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if is_protected(archive):
                raise PageError("it is protected with a password: save it without one")
            root = fromstring(archive.read("content.xml"))
            written = last_saved(archive)
    except (KeyError, ParseError, DefusedXmlException, zipfile.BadZipFile) as error:
        raise PageError("it is broken, or no document of LibreOffice: save it again") from error
    hiding = {
        style.get(f"{_STYLE}name")
        for style in root.iter(f"{_STYLE}style")
        for properties in style.iter(f"{_STYLE}table-properties")
        if properties.get(f"{TABLE}display") == "false"
    }
    unsaid = Unsaid(program="LibreOffice")
    sheets = []
    book = root.find(f"{OFFICE}body/{OFFICE}spreadsheet")
    for element in () if book is None else book.findall(f"{TABLE}table"):
        name = element.get(f"{TABLE}name", "")
        if element.get(f"{TABLE}style-name") in hiding:
            unsaid.sheets.append(name)
        else:
            sheets.append(_sheet(element, name, unsaid))
    return Workbook(sheets=sheets, notes=tuple(unsaid.notes()), written=written)


def _sheet(element: Element, name: str, unsaid: Unsaid) -> Sheet:
    sheet = Sheet(name=name)
    column = 0
    for one in element.iter(f"{TABLE}table-column"):
        times = _number(one, "number-columns-repeated")
        if one.get(f"{TABLE}visibility") == "collapse":
            sheet.hidden_columns.update(range(column, column + times))
        column += times
    at = 0
    for row in element.iter(f"{TABLE}table-row"):
        times = _number(row, "number-rows-repeated")
        cells = dict(_cells(row, at, sheet, unsaid))
        for again in range(min(times, _MAX_REPEATED) if cells else 0):
            sheet.rows[at + again] = cells
        if row.get(f"{TABLE}visibility") == "collapse":
            sheet.hidden_rows.update(range(at, at + min(times, _MAX_REPEATED)))
        at += times
    for shapes in element.findall(f"{TABLE}shapes"):
        sheet.beside += filter(None, map(words, shapes.iter(f"{DRAW}text-box")))
    return sheet


def _cells(row: Element, at: int, sheet: Sheet, unsaid: Unsaid) -> Iterator[tuple[int, str]]:
    column = 0
    for cell in row:
        if cell.tag not in _CELLS:
            continue
        times = _number(cell, "number-columns-repeated")
        across, down = _number(cell, "number-columns-spanned"), _number(cell, "number-rows-spanned")
        if across > 1 or down > 1:
            sheet.merged.append(Span(at, column, at + down - 1, column + across - 1))
        text = _shown(cell) if cell.tag == _CELLS[0] else ""
        if text is None:
            unsaid.cells.append(sheet.name)
            text = NOT_CALCULATED
        for again in range(min(times, _MAX_REPEATED) if text else 0):
            yield column + again, text
        column += times


def _shown(cell: Element) -> str | None:
    """What stands in it; None for a formula whose value the file does not hold."""
    shown = " ".join(filter(None, map(words, cell.findall(f"{TEXT}p"))))
    kind = cell.get(f"{OFFICE}value-type")
    if shown:
        return shown
    match kind:
        case None:
            return None if cell.get(f"{TABLE}formula") else ""
        case "float" | "currency":
            number = general(float(cell.get(f"{OFFICE}value", "0")))
            return f"{number} {cell.get(f'{OFFICE}currency', '')}".strip()
        case "percentage":
            return f"{general(round(100 * float(cell.get(f'{OFFICE}value', '0')), 10))}%"
        case "date":
            return cell.get(f"{OFFICE}date-value", "").removesuffix("T00:00:00").replace("T", " ")
        case "time":
            return _DURATION.sub(r"\1:\2:\3", cell.get(f"{OFFICE}time-value", ""))
        case "boolean":
            return cell.get(f"{OFFICE}boolean-value", "").upper()
        case _:
            return cell.get(f"{OFFICE}string-value", "")


def _number(element: Element, name: str) -> int:
    written = element.get(f"{TABLE}{name}", "1")
    return int(written) if written.isdecimal() else 1
