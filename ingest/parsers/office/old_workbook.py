"""Workbooks of Excel before 2007 (.xls), every cell as Excel shows it,
by xlrd, which tells formats and what is hidden.
"""

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
"""Short dates, which xlrd gives as Americans see them."""
_FILTER = "_filterdatabase"
"""The name of what a filter is set on: whether it or a person put rows away, the file does not tell."""


def read_old_workbook(content: bytes) -> Workbook:
    """
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
        cells = {at: text for at, cell in enumerate(sheet.row(row)) if (text := _shown(book, cell))}
        if cells:
            made.rows[row] = cells
    made.merged = [Span(top, left, bottom - 1, right - 1) for top, bottom, left, right in sheet.merged_cells]
    made.hidden_columns = {at for at, column in sheet.colinfo_map.items() if _is_put_away(column)}
    if not any(name.scope == sheet.number for name in book.name_map.get(_FILTER, ())):
        made.hidden_rows = {at for at, row in sheet.rowinfo_map.items() if _is_put_away(row)}
    return made


def _is_put_away(info: Any) -> bool:
    """Hidden, and not folded into an outline."""
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
    known = book.format_map.get(key)
    return str(known.format_str) if known else BUILT_IN.get(key, GENERAL)
