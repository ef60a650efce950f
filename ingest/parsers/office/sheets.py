"""Finds the tables that a reader sees on a sheet: cut at empty rows and between tables side by side, with titles above
as text and every cell under its own header.

A merged cell is repeated in every row and column that it covers, but for one over the whole width: a title, or a label
among the rows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import dropwhile, pairwise
from typing import NamedTuple, TypeAlias

from ingest.page import Block
from ingest.parsers.grids import is_figure, joined_headers, table
from ingest.parsers.plain import escaped_text
from ingest.parsers.text import cleaned

_MAX_HEADER_ROWS = 4
_BRIDGED = 200
"""Maximum rows that only a merged cell fills and over which a table continues."""


class Span(NamedTuple):
    """A merged cell: its first row and column, its last."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(kw_only=True, slots=True)
class Sheet:
    """Cells as they are shown, by row and column. Includes hidden ones: visible cells may be merged with them."""

    name: str = ""
    rows: dict[int, dict[int, str]] = field(default_factory=dict)
    merged: list[Span] = field(default_factory=list)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    beside: list[str] = field(default_factory=list)
    """The texts of text boxes over the cells."""


def sheet_blocks(sheet: Sheet) -> tuple[Block, ...]:
    """Returns a sheet's tables, and the lines beside them; nothing of a sheet without text."""
    blocks = [block for part in _parts(_grid(sheet)) for block in _shown(part)]
    return (*blocks, *(_prose(text) for text in sheet.beside))


class _Cell(NamedTuple):
    text: str
    own: bool = True
    """Whether a cell begins here, rather than a merged cell being repeated."""
    left: int = -1
    right: int = -1
    """Columns of a merged cell that is wider than one."""


_Row: TypeAlias = dict[int, _Cell]
_Grid: TypeAlias = dict[int, _Row]


def _grid(sheet: Sheet) -> _Grid:
    """Returns the visible cells, moved together where hidden rows and columns were: a gap would end a table."""
    hidden_rows, hidden_columns = sorted(sheet.hidden_rows), sorted(sheet.hidden_columns)
    grid: _Grid = {}
    cache: dict[str, _Cell | None] = {}
    for row, cells in sheet.rows.items():
        if row in sheet.hidden_rows:
            continue
        shown = {
            column - bisect_left(hidden_columns, column): cell
            for column, written in cells.items()
            if column not in sheet.hidden_columns and (cell := _cell(written, cache))
        }
        if shown:
            grid[row - bisect_left(hidden_rows, row)] = shown
    occupied = sorted({column for cells in grid.values() for column in cells})
    for span in sheet.merged:
        text = _one_line(sheet.rows.get(span.top, {}).get(span.left, ""))
        top, bottom = _without(hidden_rows, span.top, span.bottom)
        left, right = _without(hidden_columns, span.left, span.right)
        if text and top <= bottom and left <= right:
            _fill(grid, Span(top, left, bottom, right), text, occupied)
    return grid


def _cell(written: str, cache: dict[str, _Cell | None]) -> _Cell | None:
    """Makes a cell of a value; None of white space. Sheets of a hundred thousand rows repeat few values: `cache`."""
    cell = cache.get(written)
    if cell is None and (text := _one_line(written)):
        cache[written] = cell = _Cell(text)
    return cell


def _without(hidden: Sequence[int], first: int, last: int) -> tuple[int, int]:
    """Returns where a stretch ends up without hidden rows; the first behind the last where all of it is hidden."""
    return first - bisect_left(hidden, first), last - bisect_left(hidden, last + 1)


def _fill(grid: _Grid, span: Span, text: str, occupied: Sequence[int]) -> None:
    """Repeats a merged cell in the columns that others fill as well, and in rows down to the last one."""
    across = [span.left, *(column for column in occupied if span.left < column <= span.right)]
    wide = (span.left, span.right) if span.right > span.left else (-1, -1)
    last = min(span.bottom, max(grid, default=span.top))
    down = list(range(span.top, min(last, span.top + _BRIDGED) + 1))
    down += [row for row in grid if down[-1] < row <= last]
    for row in down:
        cells = grid.setdefault(row, {})
        for column in across:
            cells[column] = _Cell(text, row == span.top and column == span.left, *wide)


def _parts(grid: _Grid) -> list[_Grid]:
    """Cuts a grid at empty rows, but for one within a table."""
    parts: list[_Grid] = []
    for row in sorted(grid):
        if not parts or row - 1 not in parts[-1]:
            parts.append({})
        parts[-1][row] = grid[row]
    joined: list[_Grid] = []
    for part in parts:
        if joined and _continues(joined[-1], part):
            joined[-1] |= part
        else:
            joined.append(part)
    return joined


def _continues(above: _Grid, below: _Grid) -> bool:
    """Whether figures continue below an empty row, above which there are figures, or only the names of columns."""
    rows = list(dropwhile(lambda cells: len(cells) < 2, (cells for _, cells in sorted(above.items()))))
    first = below[min(below)]
    named = {column for cells in rows for column in cells}
    if len(first) < 2 or not (figures := _figures([first])) or not named.issuperset(_used(below.values())):
        return False
    if figures_above := _figures(rows):
        return figures <= figures_above
    return len(rows) == 1 or (
        len(rows) <= _MAX_HEADER_ROWS and all(len(cells) < len(named) for cells in rows)
    )


def _figures(rows: Iterable[_Row]) -> set[int]:
    """Returns the columns that hold figures."""
    return {column for cells in rows for column, cell in cells.items() if is_figure(cell.text)}


def _shown(part: _Grid) -> Iterator[Block]:
    """Yields the titles and tables of a part without empty rows."""
    rows = {row: cells for row, cells in part.items() if any(cell.own for cell in cells.values())}
    while rows and _is_title(rows[min(rows)], _used(rows.values())):
        yield _prose(next(cell.text for cell in rows.pop(min(rows)).values() if cell.own))
    if not rows:
        return
    first = min(rows)
    blocks = _side_by_side({row: cells for row, cells in part.items() if row >= first})
    if len(blocks) > 1:
        for block in blocks:
            for inner in _parts(block):
                yield from _shown(inner)
        return
    used = _used(rows.values())
    if len(used) == 1 and len(rows) == 1:
        yield _prose(rows[first][used[0]].text)
    else:
        yield _table([cells for _, cells in sorted(rows.items())], used, _apart(part, rows))


def _used(rows: Iterable[_Row]) -> list[int]:
    """Returns the columns in which a cell begins."""
    return sorted({column for cells in rows for column, cell in cells.items() if cell.own})


def _is_title(cells: _Row, used: Sequence[int]) -> bool:
    """Whether a row is one cell over several columns, unless it is merged over the later ones, which it then heads."""
    own = [cell for cell in cells.values() if cell.own]
    heads_some = own[0].right > own[0].left > used[0]
    return len(used) > 1 and len(own) == 1 and not heads_some


def _apart(part: _Grid, rows: _Grid) -> int:
    """Returns how many rows of names an empty row separates from the figures; 0 where none does."""
    gap = next((row for row in range(min(rows), max(rows)) if row not in part), max(rows) + 1)
    above = [cells for row, cells in rows.items() if row < gap]
    named = all(not is_figure(cell.text) for cells in above for cell in cells.values())
    return len(above) if named and len(above) < len(rows) else 0


def _table(rows: Sequence[_Row], used: Sequence[int], apart: int) -> Block:
    heads = apart or _header_rows(rows, used)
    header = joined_headers([_texts(cells, used) for cells in rows[:heads]])
    lead = table([list(map(_escaped, header))])
    body = (f"| {' | '.join(map(_escaped, _texts(cells, used)))} |" for cells in rows[heads:])
    return Block(kind="table", parts=tuple(body), lead=lead)


def _prose(text: str) -> Block:
    return Block(kind="prose", parts=(escaped_text(cleaned(text)),))


def _escaped(text: str) -> str:
    # Most cells are plain and need no cleaning.
    plain = text.isascii() and text.isprintable()
    return (text if plain else cleaned(text)).replace("|", "\\|")


def _texts(cells: _Row, used: Sequence[int]) -> list[str]:
    """Returns the texts of a row's used columns, but of a cell that is repeated over all of them."""
    return [
        ""
        if (cell := cells.get(column)) is None
        or (not cell.own and cell.left <= used[0] and cell.right >= used[-1])
        else cell.text
        for column in used
    ]


def _header_rows(rows: Sequence[_Row], used: Sequence[int]) -> int:
    """Counts the first row, and those below it that name the columns under a header merged over several of them."""
    heads = 1
    while heads < min(_MAX_HEADER_ROWS, len(rows) - 1) and _names_columns(rows, heads, used):
        heads += 1
    return heads


def _names_columns(rows: Sequence[_Row], index: int, used: Sequence[int]) -> bool:
    """Whether a row names the columns under a merged header in the row above."""
    above, below, next_row = rows[index - 1], rows[index], rows[index + 1]
    names = [cell.text for cell in below.values() if cell.own]
    if any(map(is_figure, names)):
        return False
    grouped = {column for column in used if column in above and above[column].right > above[column].left}
    reaching_down = any(
        not cell.own and above.get(column, cell)[0::2] == cell[0::2] for column, cell in below.items()
    )
    if reaching_down or not grouped:
        return reaching_down
    beside = [column for column in used if column not in grouped and column in above]
    if beside:
        return below.keys().isdisjoint(beside)
    values = [next_row[column].text for column in grouped if column in next_row]
    return len(set(names)) < len(names) or any(map(is_figure, values)) or len(grouped) < len(used)


def _side_by_side(part: _Grid) -> list[_Grid]:
    """Separates tables that are side by side. An empty column alone may also be for looks, in one table."""
    filled = sorted({column for cells in part.values() for column in cells})
    if filled[-1] - filled[0] == len(filled) - 1:
        return [part]
    blocks: list[_Grid] = []
    first = filled[0]
    for column, following in pairwise([*filled, filled[-1] + 2]):
        if following == column + 1:
            continue
        block = _between(part, first, column)
        rest = _between(part, following, filled[-1])
        if not rest or _are_apart(block, rest):
            blocks.append(block)
            first = following
    return blocks


def _between(part: _Grid, first: int, last: int) -> _Grid:
    cut = {
        row: {column: cell for column, cell in cells.items() if first <= column <= last}
        for row, cells in part.items()
    }
    return {row: cells for row, cells in cut.items() if cells}


def _are_apart(block: _Grid, rest: _Grid) -> bool:
    """Whether both have a header of their own, and it or the end is in another row, or the same words head both."""
    head, other = _head(block), _head(rest)
    if head is None or other is None:
        return False
    same_words = {cell.text for cell in block[head].values()} & {cell.text for cell in rest[other].values()}
    return head != other or max(block) != max(rest) or bool(same_words)


def _head(block: _Grid) -> int | None:
    """Returns the row that names the columns, if there are several and other rows below."""
    row = next((row for row, cells in sorted(block.items()) if len(cells) > 1), None)
    if row is None or row == max(block) or any(is_figure(cell.text) for cell in block[row].values()):
        return None
    return row


def _one_line(text: str) -> str:
    return " ".join(text.split())
