"""Writes tables of HTML as Markdown tables, which have no cells over several rows or columns and one row of headers.

Every cell ends up under its own header: a cell that spans rows or columns is repeated in each, several rows of headers
become one ("Fee › Express"). The parsers of HTML files, websites, mail and HTML within Markdown find the cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from ingest.parsers.grids import Row, joined_headers, table
from kb.spelled_out import UNESCAPED_BAR

_MAX_SPAN = 100
"""Rows or columns. A wider span is a mistake, or an attempt to use up memory."""
_MAX_REPEATED = 100_000
"""Characters that spans may add to one table; text beyond it is not repeated."""
_TO_THE_END = 0

GroupKind = Literal["thead", "tbody", "tfoot"]
_ORDER: Sequence[GroupKind] = ("thead", "tbody", "tfoot")


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """`text`: one line of Markdown. `across`, `down`: columns and rows; `down=0`: to the end of its group."""

    text: str
    across: int = 1
    down: int = 1
    head: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class RowGroup:
    """Rows of one thead, tbody or tfoot: no cell spans beyond it."""

    kind: GroupKind
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True, slots=True)
class _Square:
    """One column of one row. `starts`: the cell's own first column, in its first row."""

    cell: Cell
    starts: bool


_EMPTY = _Square(Cell(text=""), False)


def span(written: str, *, down: bool = False) -> int:
    """Reads a `colspan` or, with `down`, a `rowspan`; 1 where it is no number, as in browsers."""
    number = re.match(r"\s*\+?(\d{1,9})", written)
    if number is None:
        return 1
    return min(max(int(number[1]), 0 if down else 1), _MAX_SPAN)


def cell_text(markdown: str) -> str:
    """Puts a cell's Markdown in one line and escapes its bars."""
    return UNESCAPED_BAR.sub(r"\\|", " ".join(markdown.split()))


def markdown_table(groups: Sequence[RowGroup]) -> str:
    """Writes the titles above a table, then the table; empty where no cell has text.

    Without a row of headers the first row becomes it, as Markdown has no table without one; but where the first column
    has the headers that row is left empty.
    """
    titles, head, body = _read(groups)
    if not any(map(any, [titles, head, *body])):
        return ""
    return "\n\n".join([*titles, table([head, *body] if head else body)])


def inline_table(groups: Sequence[RowGroup]) -> str:
    """Writes a table in a cell of another, in one line: "Grade: A, Days: 25; Grade: B, Days: 30"."""
    titles, head, body = _read(groups)
    if not any(head):
        lines = [", ".join(filter(None, row)) for row in body]
    elif not body:
        lines = [", ".join(filter(None, head))]
    else:
        lines = [
            ", ".join(
                f"{name}: {text}" if name else text for name, text in zip(head, row, strict=True) if text
            )
            for row in body
        ]
    return " ".join([*titles, "; ".join(filter(None, lines))])


def _read(groups: Sequence[RowGroup]) -> tuple[list[str], Row, list[Row]]:
    """Returns titles, the row of headers (empty: there is none), and the other rows."""
    ordered = sorted(groups, key=lambda group: _ORDER.index(group.kind))
    lines = [(line, group.kind == "thead") for group in ordered for line in _laid_out(group)]
    grid = _without_empty([line for line, _ in lines])
    heads = sum(in_head for line, in_head in lines if _is_shown(line))
    while heads < len(grid) and _is_head(grid[heads]):
        heads += 1
    if not grid:
        return [], [], []
    if heads == len(grid):  # a table of nothing but headers
        heads = 1
    rows = _texts(grid, heads)
    titles = []
    while heads and _is_title(grid[0]) and (heads > 1 or (len(grid) > 1 and grid[1][0].cell.head)):
        titles.append(rows.pop(0)[0])
        grid.pop(0)
        heads -= 1
    if heads:
        return titles, joined_headers(rows[:heads]), rows[heads:]
    in_first_column = len(grid[0]) > 1 and 2 * sum(line[0].cell.head for line in grid) > len(grid)
    return titles, [""] * len(grid[0]) if in_first_column or titles else [], rows


def _laid_out(group: RowGroup) -> list[list[_Square]]:
    """Puts each cell of the group in every column and row that it covers."""
    grid: list[list[_Square]] = []
    held: dict[int, tuple[int, Cell]] = {}
    """Cells from above, by column, and the rows that they still span."""
    for index, row in enumerate(group.rows):
        line: list[_Square] = []

        def take_held(line: list[_Square]) -> bool:
            below = held.pop(len(line), None)
            if below is None:
                return False
            left, cell = below
            if left > 1:
                held[len(line)] = (left - 1, cell)
            line.append(_Square(cell, False))
            return True

        for cell in row:
            while take_held(line):
                continue
            rows = len(group.rows) - index
            down = rows if cell.down == _TO_THE_END else min(cell.down, rows)
            for column in range(cell.across):
                if column and take_held(line):  # two spans that overlap
                    continue
                if down > 1:
                    held[len(line)] = (down - 1, cell)
                line.append(_Square(cell, not column))
        for column in range(len(line), max(held, default=-1) + 1):
            if not take_held(line):
                assert column == len(line)
                line.append(_EMPTY)
        grid.append(line)
    return grid


def _without_empty(grid: Sequence[list[_Square]]) -> list[list[_Square]]:
    """Drops rows and columns in which no cell starts, and rows without text; fills the others to one width."""
    used = sorted({column for line in grid for column, square in enumerate(line) if square.starts})
    return [
        [line[column] if column < len(line) else _EMPTY for column in used]
        for line in grid
        if _is_shown(line)
    ]


def _is_shown(line: Sequence[_Square]) -> bool:
    """Whether a row adds to the one above: a cell starts in it, and there is text."""
    return any(square.starts for square in line) and any(square.cell.text for square in line)


def _is_head(line: Sequence[_Square]) -> bool:
    """Whether a row has only headers and empty cells; a single one in the first column is the header of its row."""
    if all(square.cell.head for square in line):
        return True
    return all(square.cell.head for square in line if square.cell.text) and not line[0].cell.text


def _is_title(line: Sequence[_Square]) -> bool:
    """Whether one cell spans the whole table."""
    return len(line) > 1 and all(square.cell is line[0].cell for square in line)


def _texts(grid: Sequence[Sequence[_Square]], heads: int) -> list[Row]:
    """Returns each square's text. A row of one cell below the headers is a heading among rows and is not repeated."""
    left = _MAX_REPEATED
    rows = []
    seen: set[int] = set()
    for index, line in enumerate(grid):
        once = index >= heads and _is_title(line)
        row = []
        for column, square in enumerate(line):
            text = square.cell.text
            if id(square.cell) in seen:
                left -= len(text)
                text = "" if left < 0 or (once and column) else text
            seen.add(id(square.cell))
            row.append(text)
        rows.append(row)
    return rows


def in_groups(rows: Iterable[tuple[object, GroupKind, Sequence[Cell]]]) -> list[RowGroup]:
    """Groups neighbouring rows. Each row: the object that it shares with others of its group, the group's kind, its
    cells.
    """
    return [
        RowGroup(kind=kind, rows=[cells for _, _, cells in members])
        for (_, kind), members in groupby(rows, key=lambda row: (id(row[0]), row[1]))
    ]
