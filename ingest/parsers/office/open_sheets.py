"""Reads workbooks of LibreOffice (.ods) from their XML, which holds each cell as it is shown; leaves hidden parts out.

Rows that a filter hides are read: a reader unfolds them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from ingest.parsers.office.number_formats import general
from ingest.parsers.office.opendocument import DRAW, OFFICE, TABLE, TEXT, read_opendocument, words
from ingest.parsers.office.sheets import Sheet, Span
from ingest.parsers.office.workbook import NOT_CALCULATED, Omissions, Workbook

_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_CELLS = (f"{TABLE}table-cell", f"{TABLE}covered-table-cell")
_MAX_REPEATED = 1_000
"""Maximum number of equal cells or rows with text. Empty ones, which fill a sheet up to its end, are only counted."""
_DURATION = re.compile(r"PT(\d+)H(\d+)M(\d+)(?:[.,]\d+)?S")


def read_open_sheets(content: bytes) -> Workbook:
    """Reads a workbook. `content` has passed `check_archive`.

    Raises:
        PageError: it is protected or broken.
    """
    root, written = read_opendocument(content)
    hiding_styles = {
        style.get(f"{_STYLE}name")
        for style in root.iter(f"{_STYLE}style")
        for properties in style.iter(f"{_STYLE}table-properties")
        if properties.get(f"{TABLE}display") == "false"
    }
    omissions = Omissions(program="LibreOffice")
    sheets = []
    for element in root.iterfind(f"{OFFICE}body/{OFFICE}spreadsheet/{TABLE}table"):
        name = element.get(f"{TABLE}name", "")
        if element.get(f"{TABLE}style-name") in hiding_styles:
            omissions.sheets.append(name)
        else:
            sheets.append(_sheet(element, name, omissions))
    return Workbook(sheets=sheets, notes=tuple(omissions.notes()), written=written)


def _sheet(element: Element, name: str, omissions: Omissions) -> Sheet:
    sheet = Sheet(name=name)
    number = 0
    for column in element.iter(f"{TABLE}table-column"):
        times = _number(column, "number-columns-repeated")
        if column.get(f"{TABLE}visibility") == "collapse":
            sheet.hidden_columns.update(range(number, number + times))
        number += times
    number = 0
    for row in element.iter(f"{TABLE}table-row"):
        times = _number(row, "number-rows-repeated")
        repeated = range(number, number + min(times, _MAX_REPEATED))
        if cells := dict(_cells(row, number, sheet, omissions)):
            sheet.rows.update(dict.fromkeys(repeated, cells))
        if row.get(f"{TABLE}visibility") == "collapse":
            sheet.hidden_rows.update(repeated)
        number += times
    for shapes in element.findall(f"{TABLE}shapes"):
        sheet.beside += filter(None, map(words, shapes.iter(f"{DRAW}text-box")))
    return sheet


def _cells(row: Element, number: int, sheet: Sheet, omissions: Omissions) -> Iterator[tuple[int, str]]:
    """Yields the columns and texts of the cells of a row."""
    column = 0
    for cell in row:
        if cell.tag not in _CELLS:
            continue
        times = _number(cell, "number-columns-repeated")
        across, down = _number(cell, "number-columns-spanned"), _number(cell, "number-rows-spanned")
        if across > 1 or down > 1:
            sheet.merged.append(Span(number, column, number + down - 1, column + across - 1))
        text = _shown(cell) if cell.tag == _CELLS[0] else ""
        if text is None:
            omissions.cells.append(sheet.name)
            text = NOT_CALCULATED
        for again in range(min(times, _MAX_REPEATED) if text else 0):
            yield column + again, text
        column += times


def _shown(cell: Element) -> str | None:
    """Returns a cell's text; None for a formula whose value the file does not hold."""
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
