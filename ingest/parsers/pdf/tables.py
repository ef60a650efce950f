"""Tables of a PDF page by where its words stand: a word is of the row and the column that it stands in.

The converter finds tables by their rules and by columns that every row fills. Where cells are empty
it joins rows ("4 euros free"), or reads a table column by column, into the paragraph below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import NamedTuple

from ingest.parsers.grids import is_figure

GAP = 0.75
"""Heights of letters: a wider space between two words is one between cells. Spaces are 0.25 to 0.5."""
WRAPPED = 1.4
"""Heights of letters that lines of one cell are apart at most. They are set at 1.15 to 1.25."""
_APART = 3.5
"""Heights of letters that rows are apart at most."""
_SAME_LINE = 0.5
_NO_SPACE = 0.1
_FEWEST_ROWS = 3
_SHORT = 20
"""Characters that cells of a column have on average, in all columns but one: columns of prose have more."""
_NAME = 30
"""Characters of a column's name at most."""
_RULED = 0.6
"""Share of the table's width above which a line under a row parts it from the next one."""
_FULL = 0.85
"""Share of a column's width above which words may go on in the next line."""
_ROMAN = re.compile(r"[ivxlc]+")
"""A page of a table of contents."""
_LETTER = re.compile(r"[^\W\d_]")
_MARKER = re.compile(r"[^\w\s]{1,2}|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]|[o§]")
"""The mark of a list's item."""


class Word(NamedTuple):
    """Its place in points, from the left and upper ends of the page."""

    text: str
    left: float
    right: float
    top: float
    bottom: float


class Segment(NamedTuple):
    """Words of a line that stand together."""

    text: str
    left: float
    right: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """`middle`, `height`: of its letters, in points."""

    segments: Sequence[Segment]
    middle: float
    height: float


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacedTable:
    """`rows`: one line of text a cell, header first."""

    rows: Sequence[Sequence[str]]
    top: float
    bottom: float
    left: float
    right: float


class Rule(NamedTuple):
    """A horizontal line."""

    left: float
    right: float
    at: float


def placed_tables(words: Sequence[Word], rules: Sequence[Rule]) -> Iterator[PlacedTable]:
    """From the top down."""
    lines = text_lines(words)
    start = 0
    while start < len(lines):
        region = _region(lines, start) if _names_columns(lines[start]) else []
        made = _table(region, rules) if len(region) >= _FEWEST_ROWS else None
        if made is not None:
            yield made
            start += len(region)
        else:
            start += 1


def _names_columns(line: Line) -> bool:
    """In few words, none of them a number, the end of a sentence or what a form asks for."""
    return len(line.segments) > 1 and all(
        len(cell.text) <= _NAME
        and _LETTER.search(cell.text)
        and not _ROMAN.fullmatch(cell.text)
        and not cell.text.endswith((".", ":", ","))
        for cell in line.segments
    )


def text_lines(words: Sequence[Word]) -> list[Line]:
    """From the top down, each from left to right."""
    rows: list[list[Word]] = []
    for word in sorted(words, key=lambda one: (one.top + one.bottom, one.left)):
        last = rows[-1][0] if rows else None
        height = word.bottom - word.top
        if last and abs(last.top + last.bottom - word.top - word.bottom) / 2 < _SAME_LINE * min(
            height, last.bottom - last.top
        ):
            rows[-1].append(word)
        else:
            rows.append([word])
    return [_line(sorted(row, key=lambda one: one.left)) for row in rows]


def _line(words: Sequence[Word]) -> Line:
    height = sum(word.bottom - word.top for word in words) / len(words)
    groups: list[list[Word]] = []
    for word in words:
        if groups and word.left - groups[-1][-1].right <= GAP * height:
            groups[-1].append(word)
        else:
            groups.append([word])
    segments = [
        Segment(_joined_words(group), group[0].left, max(word.right for word in group)) for group in groups
    ]
    return Line(
        segments=segments,
        middle=sum(word.top + word.bottom for word in words) / 2 / len(words),
        height=height,
    )


def _joined_words(words: Sequence[Word]) -> str:
    """Joins words, with a space where there is one: a word may come in pieces."""
    text = words[0].text
    for before, word in pairwise(words):
        text += (" " if word.left - before.right > _NO_SPACE * (word.bottom - word.top) else "") + word.text
    return text


def _region(lines: Sequence[Line], start: int) -> list[Line]:
    """Lines from one on that share columns, of which it has two at least."""
    region: list[Line] = []
    columns: list[tuple[float, float]] = []
    for line in islice(lines, start, None):
        if region and line.middle - region[-1].middle > _APART * max(line.height, region[-1].height):
            break
        joined = _joined(columns, line)
        if joined is None:
            break
        region.append(line)
        columns = joined
    while (
        region
        and len(region[-1].segments) < 2
        and region[-1].segments[0].left < columns[0][1]
        and _is_below(region)
    ):
        region.pop()
    return region


def _is_below(region: Sequence[Line]) -> bool:
    """Whether the last line is text below a table: it stands in the first column alone, further away than rows do."""
    if len(region) < _FEWEST_ROWS:
        return False
    steps = [below.middle - above.middle for above, below in pairwise(region)]
    return steps[-1] > 1.2 * max(steps[:-1]) or region[-1].segments[0].right - region[-1].segments[
        0
    ].left > 2 * max(one.right - one.left for line in region[:-1] for one in line.segments[:1])


def _joined(columns: Sequence[tuple[float, float]], line: Line) -> list[tuple[float, float]] | None:
    """The columns with the line's cells in them; None where a cell stands in two of them, or two in one."""
    made = list(columns)
    used: set[int] = set()
    for cell in line.segments:
        over = [at for at, (left, right) in enumerate(made) if cell.left < right and cell.right > left]
        if len(over) > 1 or used.intersection(over):
            return None
        if over:
            left, right = made[over[0]]
            made[over[0]] = (min(left, cell.left), max(right, cell.right))
            used.add(over[0])
        else:
            made.append((cell.left, cell.right))
            used.add(len(made) - 1)
    ordered = sorted(made)
    return made if all(one[1] <= other[0] for one, other in pairwise(ordered)) else None


def _table(region: Sequence[Line], rules: Sequence[Rule]) -> PlacedTable | None:
    columns: list[tuple[float, float]] = []
    for line in region:
        columns = _joined(columns, line) or columns
    columns.sort()
    grid = [[_cell(line, column) for column in columns] for line in region]
    if not _is_table(grid):
        return None
    rows: list[list[str]] = []
    for cells, is_new in zip(grid, _begins(region, grid, columns, rules), strict=True):
        if is_new:
            rows.append(list(cells))
        else:
            rows[-1] = [" ".join(filter(None, both)) for both in zip(rows[-1], cells, strict=True)]
    if len(rows) < 2:
        return None
    half = region[0].height / 2
    return PlacedTable(
        rows=rows,
        top=region[0].middle - half,
        bottom=region[-1].middle + half,
        left=columns[0][0],
        right=columns[-1][1],
    )


def _cell(line: Line, column: tuple[float, float]) -> str:
    return next((one.text for one in line.segments if one.left < column[1] and one.right > column[0]), "")


def _is_table(grid: Sequence[Sequence[str]]) -> bool:
    """Not prose in columns, or a list with its marks. Its first line names every column."""
    filled = [[cell for cell in column if cell] for column in zip(*grid, strict=True)]
    if len(filled) < 2 or not all(grid[0]) or all(_MARKER.fullmatch(cell) for cell in filled[0]):
        return False
    short = sum(sum(map(len, cells)) <= _SHORT * len(cells) for cells in filled)
    several = sum(len([cell for cell in row if cell]) > 1 for row in grid)
    return (
        short >= len(filled) - (len(filled) > 2) and several >= _FEWEST_ROWS - 1 and 2 * several > len(grid)
    )


def _begins(
    region: Sequence[Line], grid: Sequence[Sequence[str]], columns: Sequence[tuple[float, float]],
    rules: Sequence[Rule],
) -> Iterator[bool]:  # fmt: skip
    """Tells of each line whether a row begins with it."""
    width = columns[-1][1] - columns[0][0]
    long = [
        at
        for left, right, at in rules
        if right - left >= _RULED * width and left < columns[-1][1] and right > columns[0][0]
    ]
    steps = [below.middle - above.middle for above, below in pairwise(region)]
    ruled = [any(above.middle < at < below.middle for at in long) for above, below in pairwise(region)]
    close = [step <= WRAPPED * line.height for step, line in zip(steps, region, strict=False)]
    wide = [has_rule or not near for has_rule, near in zip(ruled, close, strict=True)]
    by_rules = sum(ruled) > 1 and sum(ruled) >= 0.7 * sum(wide)
    starts = [0]
    for at, (has_rule, near) in enumerate(zip(ruled, close, strict=True), 1):
        if has_rule or (not near and not by_rules):
            starts.append(at)
    for start, end in pairwise([*starts, len(region)]):
        yield True
        for at in range(start + 1, end):
            if len(starts) > 1:
                yield _is_row(grid[start:at], grid[at])
            else:
                yield not _goes_on(region, grid, columns, at)


def _is_row(above: Sequence[Sequence[str]], cells: Sequence[str]) -> bool:
    """Whether a line that is close to those above, or not ruled off from them, is a row all the same.

    It fills the first column again, or has figures beside other cells as
    a line above it has; and no cell goes on in it.
    """
    if sum(map(bool, cells)) < 2 or any(cell[:1].islower() for cell in cells):
        return False
    again = bool(cells[0]) and any(one[0] and sum(map(bool, one)) > 1 for one in above)
    return again or (any(map(is_figure, cells)) and any(is_figure(cell) for one in above for cell in one))


def _goes_on(
    region: Sequence[Line], grid: Sequence[Sequence[str]], columns: Sequence[tuple[float, float]], at: int
) -> bool:
    """Whether one of two lines, set as close as rows are, is nothing but a part of a cell that goes on in the other."""
    if min(sum(map(bool, grid[at - 1])), sum(map(bool, grid[at]))) != 1:
        return False
    for place, (above, below) in enumerate(zip(grid[at - 1], grid[at], strict=True)):
        left, right = columns[place]
        if above and below[:1].islower():
            ends = max(one.right for one in region[at - 1].segments if one.left < right and one.right > left)
            return ends - left >= _FULL * (right - left)
    return False
