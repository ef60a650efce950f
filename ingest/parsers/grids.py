"""Rows of cells as a Markdown table."""

from __future__ import annotations

from collections.abc import Sequence

Row = list[str]


def table(rows: Sequence[Row]) -> str:
    """A Markdown table whose first row is the header, as Markdown has no table without one."""
    width = max(len(row) for row in rows)
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
    return "\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]])
