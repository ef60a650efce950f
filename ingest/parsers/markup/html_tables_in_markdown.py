"""Rewrites tables of HTML within a page of Markdown as tables of Markdown. Reads tag by tag, as `html.py` does: an HTML
parser would change the Markdown in the cells.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ingest.parsers.markup.hidden_html import is_hidden
from ingest.parsers.markup.html_tables import (
    Cell,
    GroupKind,
    RowGroup,
    cell_text,
    in_groups,
    inline_table,
    markdown_table,
    span,
)

_VALUE = r"(?:\"[^\"]*\"|'[^']*'|\{[^{}]*\}|[^\s\"'=<>`{]+)"
TAG = re.compile(rf"<(/?)([A-Za-z][\w.-]*)((?:\s+[\w:@#.*(\[][^\s\"'<>/={{]*(?:\s*=\s*{_VALUE})?)*)\s*(/?)>")
"""Groups: "/" of an end tag, name, attributes, "/" of an empty element. `a<b && c>d` is a comparison."""
_ATTRIBUTE = re.compile(rf"([^\s\"'<>/=]+)(?:\s*=\s*({_VALUE}))?")
_GROUPS: dict[str, GroupKind] = {"thead": "thead", "tbody": "tbody", "tfoot": "tfoot"}
_PARTS = frozenset({"table", "caption", "tr", "td", "th", *_GROUPS})
_BLOCK = re.compile(r"\n[ \t]*\n[ \t]*(?:[\ue000\ufdd0]\d+[\ue001\ufdd1][ \t]*(?:\n|\Z)|#{1,6} |[-*+] )")
"""A block of Markdown in a cell: masked code (see `code_masking.py`), a heading or a list after an empty line."""

Rewrite = Callable[[str], str]


def attributes_of(tag: re.Match[str]) -> dict[str, str]:
    """Returns the attributes of a tag found by `TAG`, by their names in lower case."""
    return {name.lower(): html.unescape(value.strip("\"'{}")) for name, value in _ATTRIBUTE.findall(tag[3])}


def with_tables(text: str, rewrite: Rewrite) -> str:
    """Rewrites the tables of a text. `rewrite`: does the same for the other HTML in a cell.

    The tags of a table that never ends stay, so that it does not swallow the page.
    """
    tags = [tag for tag in TAG.finditer(text) if tag[2].lower() in _PARTS]
    ended = _ended(tags)
    out: list[str] = []
    opened: list[_Table] = []
    position = 0
    for tag in tags:
        name = tag[2].lower()
        if not opened and (name != "table" or tag.start() not in ended):
            continue
        before = text[position : tag.start()]
        position = tag.end()
        if not opened:
            out.append(before)
        else:
            opened[-1].add(before)
        if name != "table":
            opened[-1].turn(name, attributes_of(tag) if not tag[1] else None)
        elif tag.start() not in ended:
            continue
        elif not tag[1]:
            opened.append(_Table(rewrite=rewrite, hidden={"table": is_hidden(attributes_of(tag))}))
        else:
            inner = opened.pop()
            if opened:
                opened[-1].add_table(inner.in_a_line())
            else:
                out.append(inner.as_blocks())
    return "".join([*out, text[position:]])


def _ended(tags: Sequence[re.Match[str]]) -> set[int]:
    """Returns where the tags of tables start that have both a start and an end."""
    ended: set[int] = set()
    starts: list[int] = []
    for tag in tags:
        if tag[2].lower() == "table":
            if not tag[1]:
                starts.append(tag.start())
            elif starts:
                ended |= {starts.pop(), tag.start()}
    return ended


@dataclass(kw_only=True, slots=True)
class _Table:
    """A table while its tags are read. `hidden`: whether the table, its open group, row and cell are hidden."""

    rewrite: Rewrite
    hidden: dict[str, bool]
    rows: list[tuple[object, GroupKind, list[Cell]]] = field(default_factory=list)
    group: tuple[object, GroupKind] = field(default_factory=lambda: (object(), "tbody"))
    in_row: bool = False
    cell: Cell | None = None
    written: list[str] = field(default_factory=list)
    """The open cell's Markdown and HTML."""
    beside: list[str] = field(default_factory=list)
    """Text in no cell, such as a caption."""
    holds_blocks: bool = False

    def add(self, text: str) -> None:
        if not any(self.hidden.values()):
            (self.beside if self.cell is None else self.written).append(text)

    def add_table(self, line: str) -> None:
        self.add(f" {line} ")

    def turn(self, name: str, attributes: dict[str, str] | None) -> None:
        """Reads a tag other than `<table>`; `attributes`: None for an end tag."""
        if name in ("td", "th"):
            self._end_cell()
            if attributes is not None:
                self.hidden["cell"] = is_hidden(attributes)
                self.cell = Cell(
                    text="",
                    across=span(attributes.get("colspan", "")),
                    down=span(attributes.get("rowspan", ""), down=True),
                    head=name == "th",
                )
        elif name == "caption":
            self.hidden["caption"] = attributes is not None and is_hidden(attributes)
            self.beside.append("\n\n")
        else:
            self._end_cell()
            self.in_row = False
            self.hidden["row"] = name == "tr" and attributes is not None and is_hidden(attributes)
            if name == "tr" and attributes is not None and not any(self.hidden.values()):
                self._start_row()
            if name in _GROUPS:
                self.group = (object(), _GROUPS[name] if attributes is not None else "tbody")
                self.hidden["group"] = attributes is not None and is_hidden(attributes)

    def as_blocks(self) -> str:
        self._end_cell()
        beside = self.rewrite("".join(self.beside)).strip()
        if self.holds_blocks:
            return f"\n\n{beside}\n\n{self._dissolved()}\n\n"
        return f"\n\n{beside}\n\n{markdown_table(self._groups())}\n\n"

    def in_a_line(self) -> str:
        self._end_cell()
        return f"{' '.join(''.join(self.beside).split())} {inline_table(self._groups())}".strip()

    def _groups(self) -> list[RowGroup]:
        return in_groups(
            (owner, kind, [replace(cell, text=cell_text(cell.text)) for cell in cells])
            for owner, kind, cells in self.rows
        )

    def _dissolved(self) -> str:
        """Writes cells as blocks, each under its column's header: a cell of a Markdown table holds one line."""
        heads, *others = [cells for _, _, cells in self.rows if cells]
        named = bool(others) and all(cell.head for cell in heads)
        blocks = []
        for cells in others if named else [heads, *others]:
            for column, cell in enumerate(cells):
                if named and column < len(heads) and heads[column].text.strip():
                    blocks.append(f"**{cell_text(heads[column].text)}**")
                blocks.append(cell.text.strip())
        return "\n\n".join(filter(None, blocks))

    def _end_cell(self) -> None:
        cell, self.cell = self.cell, None
        written, self.written = "".join(self.written), []
        hidden = any(self.hidden.values())
        self.hidden["cell"] = False
        if cell is None or hidden:
            return
        self.holds_blocks = self.holds_blocks or _BLOCK.search(written) is not None
        if not self.in_row:
            self._start_row()
        self.rows[-1][2].append(replace(cell, text=self.rewrite(written)))

    def _start_row(self) -> None:
        """Starts a row, also one without cells, which those from above may fill."""
        self.rows.append((*self.group, []))
        self.in_row = True
