"""Reads workbooks of Excel before 2007 (.xls) by xlrd, which tells formats and hidden parts."""

from __future__ import annotations

import io
from typing import Any

import xlrd
from xlrd.compdoc import CompDocError

from ingest.errors import PageError
from ingest.parsers.office.format_codes import BUILT_IN, GENERAL
from ingest.parsers.office.number_formats import shown_number, shown_text
from ingest.parsers.office.sheets import Sheet, Span
from ingest.parsers.office.workbook import Workbook

_BY_LOCALE = (14, 22)
"""Short dates, which xlrd gives in the American form."""
_FILTER = "_filterdatabase"
"""The name of the range of a filter: the file does not tell whether the filter or a person hid its rows."""


def read_old_workbook(content: bytes) -> Workbook:
    """Reads a workbook.

    Raises:
        PageError: it is protected, broken, or no workbook.
    """
    try:
        book = xlrd.open_workbook(file_contents=content, formatting_info=True, logfile=io.StringIO())
        sheets = [_sheet(book, sheet) for sheet in book.sheets() if not sheet.visibility]
    except xlrd.XLRDError as error:
        if "encrypted" in str(error).lower():
            raise PageError("it is protected with a password: save it without one") from error
        raise PageError("it is broken, or no .xls file at all: save it again as .xlsx") from error
    except (CompDocError, AssertionError, LookupError, ValueError, ArithmeticError) as error:
        raise PageError("it is broken, or no .xls file at all: save it again as .xlsx") from error
    hidden = [sheet.name for sheet in book.sheets() if sheet.visibility]
    notes = (f"hidden sheets are left out: {', '.join(hidden)}",) if hidden else ()
    return Workbook(sheets=sheets, notes=notes, written=None)


def _sheet(book: Any, sheet: Any) -> Sheet:
    made = Sheet(name=sheet.name)
    for row in range(sheet.nrows):
        cells = {column: text for column, cell in enumerate(sheet.row(row)) if (text := _shown(book, cell))}
        if cells:
            made.rows[row] = cells
    made.merged = [Span(top, left, bottom - 1, right - 1) for top, bottom, left, right in sheet.merged_cells]
    made.hidden_columns = {number for number, column in sheet.colinfo_map.items() if _is_hidden(column)}
    if not any(name.scope == sheet.number for name in book.name_map.get(_FILTER, ())):
        made.hidden_rows = {number for number, row in sheet.rowinfo_map.items() if _is_hidden(row)}
    return made


def _is_hidden(info: Any) -> bool:
    """Whether a row or column is hidden, and not only folded into an outline."""
    return bool(info.hidden) and not info.outline_level


def _shown(book: Any, cell: Any) -> str:
    match cell.ctype:
        case xlrd.XL_CELL_TEXT:
            return shown_text(cell.value, _format(book, cell))
        case xlrd.XL_CELL_NUMBER | xlrd.XL_CELL_DATE:
            return shown_number(cell.value, _format(book, cell), since_1904=bool(book.datemode))
        case xlrd.XL_CELL_BOOLEAN:
            return "TRUE" if cell.value else "FALSE"
        case xlrd.XL_CELL_ERROR:
            return str(xlrd.error_text_from_code.get(cell.value, "#N/A"))
        case _:
            return ""


def _format(book: Any, cell: Any) -> str:
    key = book.xf_list[cell.xf_index].format_key if cell.xf_index is not None else 0
    if key in _BY_LOCALE:
        return BUILT_IN[key]
    own = book.format_map.get(key)
    return str(own.format_str) if own else BUILT_IN.get(key, GENERAL)
