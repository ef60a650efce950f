"""Rows of cells as a Markdown table."""

from __future__ import annotations

import re
from collections.abc import Sequence

Row = list[str]
_FIGURE = re.compile(r"[\W\d]*\d[\W\d]*")
_YEAR = re.compile(r"(?:19|20)\d\d")


def table(rows: Sequence[Row]) -> str:
    """A Markdown table whose first row is the header, as Markdown has no table without one."""
    width = max(len(row) for row in rows)
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
    return "\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]])


def is_figure(text: str) -> bool:
    """A number with its signs, a date in digits, a time: nothing that names a column. A year may."""
    return bool(_FIGURE.fullmatch(text)) and not _YEAR.fullmatch(text)
