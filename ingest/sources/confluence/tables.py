"""Tables of storage format as their rows and cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lxml.etree import _Element as Element

from ingest.parsers.markup.html_tables import Cell, GroupKind, RowGroup, cell_text, in_groups, span
from ingest.sources.confluence.elements import name_of

_GROUPS: dict[str, GroupKind] = {"thead": "thead", "tbody": "tbody", "tfoot": "tfoot"}


def row_groups(table: Element, write: Callable[[Element], str]) -> list[RowGroup]:
    """The table's own rows, not those of tables within its cells. `write`: a cell's Markdown in one line."""
    return in_groups(
        (part, kind, [_cell(cell, write) for cell in row if name_of(cell) in ("td", "th")])
        for part, kind, row in _rows(table)
    )


def _rows(table: Element) -> Iterator[tuple[Element, GroupKind, Element]]:
    for part in table:
        if name_of(part) == "tr":
            yield table, "tbody", part
        elif kind := _GROUPS.get(name_of(part)):
            for row in part:
                if name_of(row) == "tr":
                    yield part, kind, row


def _cell(cell: Element, write: Callable[[Element], str]) -> Cell:
    return Cell(
        text=cell_text(write(cell)),
        across=span(str(cell.get("colspan", ""))),
        down=span(str(cell.get("rowspan", "")), down=True),
        head=name_of(cell) == "th",
    )
