"""Tables with merged cells as the plain grids that Markdown knows."""

from __future__ import annotations

from collections.abc import Callable

from lxml.etree import _Element as Element

_WIDEST = 200
"""Columns. A wider span is a mistake, or an attempt to use up memory."""


def table_rows(
    table: Element, name_of: Callable[[Element], str], write: Callable[[Element], str]
) -> list[list[str]]:
    """The cells row by row. A cell that spans rows is repeated in each, so that every row can be read alone."""
    rows: list[list[str]] = []
    hanging: dict[int, tuple[int, str]] = {}  # column -> rows that a cell above still reaches into, its text
    for row in _rows(table, name_of):
        cells: list[str] = []
        for cell in (one for one in row if name_of(one) in ("td", "th")):
            _fill(cells, hanging)
            text = write(cell)
            for column in range(_span(cell, "colspan")):
                if _span(cell, "rowspan") > 1:
                    hanging[len(cells)] = (_span(cell, "rowspan") - 1, text if column == 0 else "")
                cells.append(text if column == 0 else "")
        _fill(cells, hanging)
        if any(cells):
            rows.append(cells)
    return rows


def table_text(rows: list[list[str]]) -> str:
    """The rows as a Markdown table, whose first row is its head."""
    if not rows:
        return ""
    width = max(map(len, rows))
    lines = [
        "| " + " | ".join(cell.replace("|", "\\|") for cell in [*row, *[""] * (width - len(row))]) + " |"
        for row in rows
    ]
    return "\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]])


def _rows(table: Element, name_of: Callable[[Element], str]) -> list[Element]:
    """The table's own rows, not those of tables within its cells."""
    return [
        row
        for part in table
        for row in (
            [part] if name_of(part) == "tr" else part if name_of(part) in ("thead", "tbody", "tfoot") else ()
        )
        if name_of(row) == "tr"
    ]


def _fill(cells: list[str], hanging: dict[int, tuple[int, str]]) -> None:
    while len(cells) in hanging and len(cells) < _WIDEST:
        left, text = hanging.pop(len(cells))
        if left > 1:
            hanging[len(cells)] = (left - 1, text)
        cells.append(text)


def _span(cell: Element, name: str) -> int:
    written = str(cell.get(name, "1"))
    return min(max(int(written), 1), _WIDEST) if written.isdigit() else 1
