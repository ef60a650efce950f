"""A sheet as the tables that a reader sees on it: cut at empty rows, without empty columns, titles above as text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_CELL_END = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"\|(?:\s*:?-+:?\s*\|)+\s*")

Row = list[str]


def tables_of_sheets(markdown: str) -> str:
    """Rewrites every Markdown table of a text whose tables are sheets; everything else stays."""
    lines: list[str] = []
    rows: list[Row] = []
    for line in [*markdown.split("\n"), ""]:
        if line.startswith("|"):
            if not (_RULE.fullmatch(line) and len(rows) == 1):
                rows.append([cell.strip() for cell in _CELL_END.split(line)[1:-1]])
            continue
        lines += _tables(rows)
        rows = []
        lines.append(line)
    return "\n".join(lines)


def table(rows: Sequence[Row]) -> str:
    """A Markdown table whose first row is the header, as Markdown has no table without one."""
    width = max(len(row) for row in rows)
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
    return "\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]])


def _tables(rows: Sequence[Row]) -> Iterator[str]:
    for region in _regions(rows):
        used = [at for at in range(max(map(len, region))) if any(at < len(row) and row[at] for row in region)]
        shown = [[row[at] if at < len(row) else "" for at in used] for row in region]
        while shown and len(used) > 1 and sum(map(bool, shown[0])) == 1:  # a title over the table
            yield f"\n{''.join(shown.pop(0))}\n"
        if len(used) == 1 and len(shown) == 1:
            yield f"\n{shown[0][0]}\n"
        elif shown:
            yield f"\n{table(shown)}\n"


def _regions(rows: Sequence[Row]) -> Iterator[list[Row]]:
    region: list[Row] = []
    for row in [*rows, []]:
        if any(row):
            region.append(row)
        elif region:
            yield region
            region = []
