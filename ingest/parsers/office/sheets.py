"""A sheet as the tables that a reader sees on it: cut at empty rows and between tables that stand side by side, titles
above as text, every cell under its own header.

A merged cell stands in every row and column that it covers, but for one over the whole width: a title, or a label among
the rows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from ingest.page import Block
from ingest.parsers.grids import is_figure, table
from ingest.parsers.plain import escaped_text
from ingest.parsers.text import cleaned

_MAX_HEADER_ROWS = 4
_BRIDGED = 200
"""Rows that a merged cell covers and nothing else fills, over which a table goes on."""
_JOINT = " › "
"""Between a header and the one below it, as in tables of HTML."""


class Span(NamedTuple):
    """A merged cell: its first row and column, its last."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(kw_only=True, slots=True)
class Sheet:
    """Cells as they are shown, by row and column. What is hidden is still here: visible cells may be merged with it."""

    name: str = ""
    rows: dict[int, dict[int, str]] = field(default_factory=dict)
    merged: list[Span] = field(default_factory=list)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    beside: list[str] = field(default_factory=list)
    """What stands in text boxes over the cells."""


def sheet_blocks(sheet: Sheet) -> tuple[Block, ...]:
    """Tables, and the lines beside them; nothing of a sheet without text."""
    blocks = [block for part in _parts(_grid(sheet)) for block in _shown(part)]
    return (*blocks, *(_prose(text) for text in sheet.beside))


class _Cell(NamedTuple):
    text: str
    own: bool = True
    """False: a merged cell, repeated."""
    left: int = -1
    right: int = -1
    """Columns of a merged cell that is wider than one."""


_Row: TypeAlias = dict[int, _Cell]
_Grid: TypeAlias = dict[int, _Row]


def _grid(sheet: Sheet) -> _Grid:
    """The visible cells, moved together where hidden rows and columns were: a gap would end a table."""
    hidden_rows, hidden_columns = sorted(sheet.hidden_rows), sorted(sheet.hidden_columns)
    grid: _Grid = {}
    known: dict[str, _Cell | None] = {}
    for row, cells in sheet.rows.items():
        if row in sheet.hidden_rows:
            continue
        shown = {
            at - bisect_left(hidden_columns, at): cell
            for at, written in cells.items()
            if at not in sheet.hidden_columns and (cell := _cell(written, known))
        }
        if shown:
            grid[row - bisect_left(hidden_rows, row)] = shown
    occupied = sorted({at for cells in grid.values() for at in cells})
    for span in sheet.merged:
        text = _one_line(sheet.rows.get(span.top, {}).get(span.left, ""))
        top, bottom = _without(hidden_rows, span.top, span.bottom)
        left, right = _without(hidden_columns, span.left, span.right)
        if text and top <= bottom and left <= right:
            _fill(grid, Span(top, left, bottom, right), text, occupied)
    return grid


def _cell(written: str, known: dict[str, _Cell | None]) -> _Cell | None:
    """What is shown of a value; None: nothing. Sheets of a hundred thousand rows say the same things often: `known`."""
    cell = known.get(written)
    if cell is None and (text := _one_line(written)):
        known[written] = cell = _Cell(text)
    return cell


def _without(hidden: Sequence[int], first: int, last: int) -> tuple[int, int]:
    """Where a stretch comes to stand; the first behind the last where all of it is hidden."""
    return first - bisect_left(hidden, first), last - bisect_left(hidden, last + 1)


def _fill(grid: _Grid, span: Span, text: str, occupied: Sequence[int]) -> None:
    """Repeats a merged cell in the columns that others fill as well, and in rows down to the last one."""
    across = [span.left, *(at for at in occupied if span.left < at <= span.right)]
    wide = (span.left, span.right) if span.right > span.left else (-1, -1)
    last = min(span.bottom, max(grid, default=span.top))
    down = list(range(span.top, min(last, span.top + _BRIDGED) + 1))
    down += [row for row in grid if down[-1] < row <= last]
    for row in down:
        cells = grid.setdefault(row, {})
        for at in across:
            cells[at] = _Cell(text, row == span.top and at == span.left, *wide)


def _parts(grid: _Grid) -> list[_Grid]:
    """The grid cut at empty rows, but for one that stands within a table."""
    parts: list[_Grid] = []
    for row in sorted(grid):
        if not parts or row - 1 not in parts[-1]:
            parts.append({})
        parts[-1][row] = grid[row]
    joined: list[_Grid] = []
    for part in parts:
        if joined and _goes_on(joined[-1], part):
            joined[-1] |= part
        else:
            joined.append(part)
    return joined


def _goes_on(above: _Grid, below: _Grid) -> bool:
    """Whether figures go on below an empty row, where there are figures
    above it or nothing but the names of columns.
    """
    rows = [cells for _, cells in sorted(above.items())]
    while rows and len(rows[0]) < 2:
        rows.pop(0)
    first = below[min(below)]
    figures = {at for at, cell in first.items() if is_figure(cell.text)}
    named = {at for cells in rows for at in cells}
    in_figures = {at for cells in rows for at, cell in cells.items() if is_figure(cell.text)}
    if len(first) < 2 or not figures or not named.issuperset(_used(below.values())):
        return False
    if in_figures:
        return figures <= in_figures
    return len(rows) == 1 or (
        len(rows) <= _MAX_HEADER_ROWS and all(len(cells) < len(named) for cells in rows)
    )


def _shown(part: _Grid) -> Iterator[Block]:
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
    """Columns in which a cell begins."""
    return sorted({at for cells in rows for at, cell in cells.items() if cell.own})


def _is_title(cells: _Row, used: Sequence[int]) -> bool:
    """One cell over several columns, unless it is merged over the later ones, which it then heads."""
    own = [cell for cell in cells.values() if cell.own]
    heads_some = own[0].right > own[0].left > used[0]
    return len(used) > 1 and len(own) == 1 and not heads_some


def _apart(part: _Grid, rows: _Grid) -> int:
    """How many rows of names an empty row keeps apart from the figures; 0 where none does."""
    gap = next((row for row in range(min(rows), max(rows)) if row not in part), max(rows) + 1)
    above = [cells for row, cells in rows.items() if row < gap]
    named = all(not is_figure(cell.text) for cells in above for cell in cells.values())
    return len(above) if named and len(above) < len(rows) else 0


def _table(rows: Sequence[_Row], used: Sequence[int], apart: int) -> Block:
    heads = apart or _header_rows(rows, used)
    columns = zip(*([_text(cells, at, used) for at in used] for cells in rows[:heads]), strict=True)
    header = [_JOINT.join(dict.fromkeys(filter(None, column))) for column in columns]
    lead = table([list(map(_cell_text, header))])
    body = (
        f"| {' | '.join([_cell_text(_text(cells, at, used)) for at in used])} |" for cells in rows[heads:]
    )
    return Block(kind="table", parts=tuple(body), lead=lead)


def _prose(text: str) -> Block:
    return Block(kind="prose", parts=(escaped_text(cleaned(text)),))


def _cell_text(text: str) -> str:
    plain = text.isascii() and text.isprintable()  # which leaves nothing to clean, and is what most cells are
    return (text if plain else cleaned(text)).replace("|", "\\|")


def _text(cells: _Row, at: int, used: Sequence[int]) -> str:
    cell = cells.get(at)
    if cell is None or (not cell.own and cell.left <= used[0] and cell.right >= used[-1]):
        return ""
    return cell.text


def _header_rows(rows: Sequence[_Row], used: Sequence[int]) -> int:
    """One, and those below it that name the columns under a header that is merged over several of them."""
    heads = 1
    while heads < min(_MAX_HEADER_ROWS, len(rows) - 1) and _names_columns(rows, heads, used):
        heads += 1
    return heads


def _names_columns(rows: Sequence[_Row], at: int, used: Sequence[int]) -> bool:
    above, below, next_row = rows[at - 1], rows[at], rows[at + 1]
    names = [cell.text for cell in below.values() if cell.own]
    if any(map(is_figure, names)):
        return False
    grouped = {one for one in used if one in above and above[one].right > above[one].left}
    reaching_down = any(
        not cell.own and above.get(one, cell)[0::2] == cell[0::2] for one, cell in below.items()
    )
    if reaching_down or not grouped:
        return reaching_down
    beside = [one for one in used if one not in grouped and one in above]
    if beside:
        return not any(one in below for one in beside)
    values = [next_row[one].text for one in grouped if one in next_row]
    return len(set(names)) < len(names) or any(map(is_figure, values)) or len(grouped) < len(used)


def _side_by_side(part: _Grid) -> list[_Grid]:
    """The tables that stand beside each other. An empty column alone may as well be for looks, in one table."""
    filled = sorted({at for cells in part.values() for at in cells})
    if filled[-1] - filled[0] == len(filled) - 1:
        return [part]
    blocks: list[_Grid] = []
    first = filled[0]
    for one, following in pairwise([*filled, filled[-1] + 2]):
        if following == one + 1:
            continue
        block = _between(part, first, one)
        rest = _between(part, following, filled[-1])
        if not rest or _are_apart(block, rest):
            blocks.append(block)
            first = following
    return blocks


def _between(part: _Grid, first: int, last: int) -> _Grid:
    cut = {
        row: {at: cell for at, cell in cells.items() if first <= at <= last} for row, cells in part.items()
    }
    return {row: cells for row, cells in cut.items() if cells}


def _are_apart(block: _Grid, rest: _Grid) -> bool:
    """Whether both have a header of their own, and it or the end is in another row, or the same words head both."""
    one, other = _head(block), _head(rest)
    if one is None or other is None:
        return False
    same_words = {cell.text for cell in block[one].values()} & {cell.text for cell in rest[other].values()}
    return one != other or max(block) != max(rest) or bool(same_words)


def _head(block: _Grid) -> int | None:
    """The row that names the columns, if there are several and something stands below."""
    row = next((row for row, cells in sorted(block.items()) if len(cells) > 1), None)
    if row is None or row == max(block) or any(is_figure(cell.text) for cell in block[row].values()):
        return None
    return row


def _one_line(text: str) -> str:
    return " ".join(text.split())
