"""Finds the tables of a PDF page by the positions of its words: a word belongs to the row and the column that it is in.

The converter finds tables by their rules and by columns that every row fills. Where cells are empty it joins rows
("4 euros free"), or reads a table column by column, into the paragraph below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from operator import attrgetter
from typing import NamedTuple

from ingest.parsers.grids import YEAR, is_figure

GAP = 0.75
"""Space between two words, in heights of letters, above which they are in two cells. Spaces are 0.25 to 0.5."""
WRAPPED = 1.4
"""Maximum distance of lines of one cell, in heights of letters. They are set at 1.15 to 1.25."""
_APART = 3.5
"""Maximum distance of rows, in heights of letters."""
_SAME_LINE = 0.5
_NO_SPACE = 0.1
_FEWEST_ROWS = 3
_SHORT = 20
"""Maximum average of characters in the cells of a column, in all columns but one: columns of prose have more."""
_NAME = 30
"""Maximum characters of a column's name."""
_RULED = 0.6
"""Share of the table's width above which a line under a row separates it from the next one."""
_FULL = 0.85
"""Share of a column's width above which words may continue in the next line."""
_ROMAN = re.compile(r"[ivxlc]+")
"""A page of a table of contents."""
_LETTER = re.compile(r"[^\W\d_]")
_MARKER = re.compile(r"[^\w\s]{1,2}|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]|[o§]")
"""The mark of a list's item."""


class Word(NamedTuple):
    """A word and its position in points, from the left and upper ends of the page."""

    text: str
    left: float
    right: float
    top: float
    bottom: float

    @property
    def center(self) -> float:
        return (self.left + self.right) / 2

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    @property
    def height(self) -> float:
        return self.bottom - self.top


class Segment(NamedTuple):
    """Words of a line that are set together."""

    text: str
    left: float
    right: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A line of text. `middle`, `height`: of its letters, in points."""

    segments: Sequence[Segment]
    middle: float
    height: float


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacedTable:
    """A table and its position. `rows`: one line of text for each cell, header first."""

    rows: Sequence[Sequence[str]]
    top: float
    bottom: float
    left: float
    right: float


class Rule(NamedTuple):
    """A horizontal line. `middle`: from the upper end of the page."""

    left: float
    right: float
    middle: float


def placed_tables(words: Sequence[Word], rules: Sequence[Rule]) -> Iterator[PlacedTable]:
    """Yields tables from the top down."""
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
    """Whether each cell is a few words or a year, and no number, end of a sentence or label of a form."""
    texts = [cell.text for cell in line.segments]
    return (
        len(texts) > 1
        and any(map(_LETTER.search, texts))
        and all(
            len(cell.text) <= _NAME
            and (_LETTER.search(cell.text) or YEAR.fullmatch(cell.text))
            and not _ROMAN.fullmatch(cell.text)
            and not cell.text.endswith((".", ":", ","))
            for cell in line.segments
        )
    )


def text_lines(words: Sequence[Word]) -> list[Line]:
    """Returns lines from the top down, each from left to right."""
    rows: list[list[Word]] = []
    for word in sorted(words, key=lambda word: (word.top + word.bottom, word.left)):
        last = rows[-1][0] if rows else None
        if last and abs(last.middle - word.middle) < _SAME_LINE * min(word.height, last.height):
            rows[-1].append(word)
        else:
            rows.append([word])
    return [_line(sorted(row, key=attrgetter("left"))) for row in rows]


def _line(words: Sequence[Word]) -> Line:
    height = sum(word.height for word in words) / len(words)
    groups: list[list[Word]] = []
    for word in words:
        if groups and word.left - groups[-1][-1].right <= GAP * height:
            groups[-1].append(word)
        else:
            groups.append([word])
    segments = [
        Segment(_joined_words(group), group[0].left, max(word.right for word in group)) for group in groups
    ]
    return Line(segments=segments, middle=sum(word.middle for word in words) / len(words), height=height)


def _joined_words(words: Sequence[Word]) -> str:
    """Joins words, with a space where there is one: a word may be in pieces."""
    text = words[0].text
    for before, word in pairwise(words):
        text += (" " if word.left - before.right > _NO_SPACE * word.height else "") + word.text
    return text


def _region(lines: Sequence[Line], start: int) -> list[Line]:
    """Returns the lines from a line of several columns on that share them."""
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
    """Whether the last line, in the first column, is text below a table: further away or wider than its rows."""
    if len(region) < _FEWEST_ROWS:
        return False
    steps = _steps(region)
    *above, width = (line.segments[0].right - line.segments[0].left for line in region)
    return steps[-1] > 1.2 * max(steps[:-1]) or width > 2 * max(above)


def _steps(lines: Sequence[Line]) -> list[float]:
    """Returns the distances between lines."""
    return [below.middle - above.middle for above, below in pairwise(lines)]


def _joined(columns: Sequence[tuple[float, float]], line: Line) -> list[tuple[float, float]] | None:
    """Extends the columns by a line's cells; None where a cell is in two columns, or two cells in one."""
    made = list(columns)
    used: set[int] = set()
    for cell in line.segments:
        over = [i for i, (left, right) in enumerate(made) if cell.left < right and cell.right > left]
        if len(over) > 1 or used.intersection(over):
            return None
        if over:
            left, right = made[over[0]]
            made[over[0]] = (min(left, cell.left), max(right, cell.right))
            used.add(over[0])
        else:
            made.append((cell.left, cell.right))
            used.add(len(made) - 1)
    return made if all(right <= left for (_, right), (left, _) in pairwise(sorted(made))) else None


def _table(region: Sequence[Line], rules: Sequence[Rule]) -> PlacedTable | None:
    columns: list[tuple[float, float]] = []
    for line in region:
        columns = _joined(columns, line) or columns
    columns.sort()
    grid = [[_cell(line, left, right) for left, right in columns] for line in region]
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


def _cell(line: Line, left: float, right: float) -> str:
    return next((cell.text for cell in line.segments if cell.left < right and cell.right > left), "")


def _is_table(grid: Sequence[Sequence[str]]) -> bool:
    """Whether the first line names every column, and it is no prose in columns, or list with its marks."""
    filled = [[cell for cell in column if cell] for column in zip(*grid, strict=True)]
    if len(filled) < 2 or not all(grid[0]) or all(_MARKER.fullmatch(cell) for cell in filled[0]):
        return False
    short = sum(sum(map(len, cells)) <= _SHORT * len(cells) for cells in filled)
    several = sum(len([cell for cell in row if cell]) > 1 for row in grid)
    many_columns = len(filled) > 2
    # Two columns with lines of one between them may be a letterhead.
    return (
        short >= len(filled) - many_columns
        and several >= _FEWEST_ROWS - 1
        and (many_columns or 2 * several > len(grid))
    )


def _begins(
    region: Sequence[Line], grid: Sequence[Sequence[str]], columns: Sequence[tuple[float, float]],
    rules: Sequence[Rule],
) -> Iterator[bool]:  # fmt: skip
    """Tells of each line whether a row begins with it."""
    table_left, table_right = columns[0][0], columns[-1][1]
    long = [
        middle
        for left, right, middle in rules
        if right - left >= _RULED * (table_right - table_left) and left < table_right and right > table_left
    ]
    ruled = [any(above.middle < rule < below.middle for rule in long) for above, below in pairwise(region)]
    close = [step <= WRAPPED * line.height for step, line in zip(_steps(region), region, strict=False)]
    wide = [has_rule or not near for has_rule, near in zip(ruled, close, strict=True)]
    by_rules = sum(ruled) > 1 and sum(ruled) >= 0.7 * sum(wide)
    starts = [0]
    for index, (has_rule, near) in enumerate(zip(ruled, close, strict=True), 1):
        if has_rule or (not near and not by_rules):
            starts.append(index)
    for start, end in pairwise([*starts, len(region)]):
        yield True
        for index in range(start + 1, end):
            if len(starts) > 1:
                yield _is_row(grid[start:index], grid[index])
            else:
                yield not _continues(region, grid, columns, index)


def _is_row(above: Sequence[Sequence[str]], cells: Sequence[str]) -> bool:
    """Whether a line that is close to those above, or not separated from them by a rule, is a row nevertheless.

    It fills the first column again, or has figures beside other cells as a line above it has; and no cell continues in
    it.
    """
    if sum(map(bool, cells)) < 2 or any(cell[:1].islower() for cell in cells):
        return False
    again = bool(cells[0]) and any(row[0] and sum(map(bool, row)) > 1 for row in above)
    return again or (any(map(is_figure, cells)) and any(is_figure(cell) for row in above for cell in row))


def _continues(
    region: Sequence[Line], grid: Sequence[Sequence[str]], columns: Sequence[tuple[float, float]], index: int
) -> bool:
    """Whether one of two lines, set as close as rows are, is only a part of a cell that continues in the other."""
    if min(sum(map(bool, grid[index - 1])), sum(map(bool, grid[index]))) != 1:
        return False
    for (left, right), above, below in zip(columns, grid[index - 1], grid[index], strict=True):
        if above and below[:1].islower():
            cells = region[index - 1].segments
            end = max(cell.right for cell in cells if cell.left < right and cell.right > left)
            return end - left >= _FULL * (right - left)
    return False
