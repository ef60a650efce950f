"""Spells out the rows of tables with the names of their columns: "Name: Ghent; Floors: 3".

Embedders are trained on sentences: a row between bars, with its header far above, tells them little.
"""

from __future__ import annotations

import re

_RULE = re.compile(r"[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?)?[ \t]*$")
"""The line below a table's header."""
UNESCAPED_BAR = re.compile(r"(?<!\\)\|")
"""The end of a cell in a row of a Markdown table."""


def spelled_out(markdown: str) -> str:
    """Replaces the tables of a Markdown text by their rows, a line each; empty cells are left out.

    A header without rows stays.
    """
    if "|" not in markdown:
        return markdown
    written: list[str] = []
    names: list[str] | None = None
    lines = markdown.split("\n")
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if "|" not in line:
            names = None
        elif names is not None:
            line = _row(names, _cells(line))
        elif written and "|" in written[-1] and "|" in following and _RULE.match(line):
            names = _cells(written.pop())
            continue
        written.append(line)
    return "\n".join(written)


def _row(names: list[str], cells: list[str]) -> str:
    named = zip([*names, *[""] * (len(cells) - len(names))], cells, strict=False)
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell)


def _cells(row: str) -> list[str]:
    cells = [cell.strip() for cell in UNESCAPED_BAR.split(row.strip())]
    return cells[not cells[0] : len(cells) - (not cells[-1])]
