"""Renders tables of pages, with the links in their cells: as Slack's table block and as columns of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markdown_it.tree import SyntaxTreeNode

from bot.rendering.links import link_parts
from bot.rendering.markdown import link_of, plain_text


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """Pairs of text and address, unescaped; the address is "" for plain text."""

    parts: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.parts)

    @property
    def size(self) -> int:
        """In characters, addresses included."""
        return sum(len(text) + len(url) for text, url in self.parts)


Rows = Sequence[Sequence[Cell]]


def table_rows(table: SyntaxTreeNode) -> tuple[tuple[Cell, ...], ...]:
    """Returns the cells of a table, the header first; every row has the same length."""
    found = [
        tuple(Cell(parts=tuple(_parts(cell))) for cell in row.children)
        for part in table.children
        for row in part.children
    ]
    width = max(len(row) for row in found)
    return tuple(row + (Cell(),) * (width - len(row)) for row in found)


def size_of(rows: Rows) -> int:
    return sum(cell.size for row in rows for cell in row)


def aligned(rows: Rows) -> str:
    """Returns a table as columns of text, for a fixed-width font."""
    texts = [[cell.text for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in texts) for column in range(len(texts[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in texts
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def table_block(rows: Rows) -> dict[str, Any]:
    return {"type": "table", "rows": [[_cell_block(cell) for cell in row] for row in rows]}


def _cell_block(cell: Cell) -> dict[str, Any]:
    if not any(url for _, url in cell.parts):
        # An empty cell is refused by Slack; a no-break space is drawn as nothing.
        return {"type": "raw_text", "text": cell.text or "\u00a0"}
    elements = [
        {"type": "link", "url": url, "text": text} if url else {"type": "text", "text": text}
        for text, url in cell.parts
        if text
    ]
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}


def _parts(node: SyntaxTreeNode) -> Iterator[tuple[str, str]]:
    for child in node.children:
        if child.type in {"link", "image"}:
            yield from ((text or target, target) for text, target in link_parts(*link_of(child)))
        elif child.children:
            yield from _parts(child)
        else:
            yield plain_text(child), ""
