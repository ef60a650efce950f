"""Writes rows of cells as a Markdown table."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.spelled_out import UNESCAPED_BAR

Row = list[str]
_FIGURE = re.compile(r"[\W\d]*\d[\W\d]*")
YEAR = re.compile(r"(?:19|20)\d\d")
_JOINT = " › "
"""Between a header and the one below it."""


def table(rows: Sequence[Row]) -> str:
    """Writes a Markdown table. The first row is the header, as Markdown has no table without one."""
    width = max(len(row) for row in rows)
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
    return "\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]])


def with_merged_cells(rows: Sequence[str]) -> list[str]:
    """Repeats the cell above where a row of Markdown says `^^`, as MultiMarkdown and Obsidian merge cells."""
    if not any("^^" in row for row in rows):
        return list(rows)
    written: list[str] = []
    above: list[str] = []
    for row in rows:
        cells = [
            above[index] if cell.strip() == "^^" and index < len(above) else cell
            for index, cell in enumerate(UNESCAPED_BAR.split(row))
        ]
        written.append("|".join(cells))
        above = cells
    return written


def is_figure(text: str) -> bool:
    """Whether it is a number with its signs, a date in digits or a time, none of which names a column. A year may."""
    return bool(_FIGURE.fullmatch(text)) and not YEAR.fullmatch(text)


def joined_headers(rows: Sequence[Sequence[str]]) -> Row:
    """Makes several rows of headers one ("Fee › Express"). A repeated or empty cell adds nothing."""
    return [_JOINT.join(dict.fromkeys(filter(None, column))) for column in zip(*rows, strict=True)]
