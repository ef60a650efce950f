"""Headers of Word's tables that stand over several columns: the
converter repeats a merged cell, and takes one row for all.

"Days | Days" over "Full time | Part time" become "Days › Full time |
Days › Part time"; one cell over the whole table is its title.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ingest.parsers.grids import Row, is_figure, table

_TABLE = re.compile(r"(?:^\|.*\|[ ]*(?:\n|$)){3,}", re.MULTILINE)
_RULE = re.compile(r"\|(?:\s*:?-+:?\s*\|)+\s*")
_CELL_END = re.compile(r"(?<!\\)\|")
_JOINT = " › "


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
    header = [_JOINT.join(dict.fromkeys(filter(None, column))) for column in zip(*rows[:heads], strict=True)]
    return "\n".join([*titles, table([header, *rows[heads:]]), *([""] if written.endswith("\n") else [])])


def _names_columns(above: Row, below: Row) -> bool:
    """Whether a row has the names of columns under a merged header, and nothing of its own under the others."""
    if len(above) != len(below):
        return False
    merged = set(_merged(above))
    names = [below[at] for at in merged]
    others = [at for at in range(len(above)) if at not in merged]
    own = [at for at in others if above[at] and below[at] not in ("", above[at])]
    are_names = len(set(names)) == len(names) and all(names) and not any(map(is_figure, names))
    return bool(merged) and bool(others) and are_names and not own


def _merged(row: Sequence[str]) -> Iterator[int]:
    for at, cell in enumerate(row):
        if cell and cell in (row[at - 1] if at else None, row[at + 1] if at + 1 < len(row) else None):
            yield at
