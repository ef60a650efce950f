"""Joins headers of Word's tables that span several columns: the converter repeats a merged cell, and takes only the
first row for headers.

"Days | Days" over "Full time | Part time" become "Days › Full time | Days › Part time"; one cell over the whole table
is its title.
"""

from __future__ import annotations

import re

from ingest.parsers.grids import Row, is_figure, joined_headers, table

_TABLE = re.compile(r"(?:^\|.*\|[ ]*(?:\n|$)){3,}", re.MULTILINE)
_RULE = re.compile(r"\|(?:\s*:?-+:?\s*\|)+\s*")
_CELL_END = re.compile(r"(?<!\\)\|")


def with_joined_headers(markdown: str) -> str:
    """Rewrites the tables of a text that have such headers; everything else stays."""
    return _TABLE.sub(lambda found: _joined(found[0]), markdown)


def _joined(written: str) -> str:
    lines = written.rstrip("\n").split("\n")
    if not _RULE.fullmatch(lines[1]):
        return written
    rows = [[cell.strip() for cell in _CELL_END.split(line)[1:-1]] for line in (lines[0], *lines[2:])]
    titles: list[str] = []
    while len(rows) > 2 and len(rows[0]) > 1 and rows[0][0] and len(set(rows[0])) == 1:
        titles += [rows.pop(0)[0], ""]
    heads = 1
    while heads < len(rows) - 1 and _names_columns(rows[heads - 1], rows[heads]):
        heads += 1
    if not titles and heads == 1:
        return written
    joined = table([joined_headers(rows[:heads]), *rows[heads:]])
    return "\n".join([*titles, joined, *([""] if written.endswith("\n") else [])])


def _names_columns(above: Row, below: Row) -> bool:
    """Whether a row has the names of columns under a merged header, and nothing of its own under the others."""
    if len(above) != len(below):
        return False
    neighbours = zip([None, *above], above, [*above[1:], None], strict=False)
    is_merged = [bool(cell) and cell in (left, right) for left, cell, right in neighbours]
    names = [name for name, merged in zip(below, is_merged, strict=True) if merged]
    own = [
        name
        for head, name, merged in zip(above, below, is_merged, strict=True)
        if not merged and head and name not in ("", head)
    ]
    are_names = len(set(names)) == len(names) and all(names) and not any(map(is_figure, names))
    return any(is_merged) and not all(is_merged) and are_names and not own
