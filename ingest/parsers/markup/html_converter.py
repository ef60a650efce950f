"""Converts the elements of a page to Markdown by markdownify; tables, code and some others by rules of our own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from bs4 import Tag
from markdownify import MarkdownConverter

from ingest.parsers.markup.html import checkbox, shown_as_code
from ingest.parsers.markup.html_tables import (
    Cell,
    GroupKind,
    cell_text,
    in_groups,
    inline_table,
    markdown_table,
    span,
)
from ingest.parsers.markup.numbered_code import code_text, enclosing, own_rows, without_line_numbers
from ingest.parsers.markup.permalinks import without_permalinks
from ingest.parsers.pictures import description
from ingest.parsers.superscripts import lowered, raised

_OPTIONS: Any = {
    "heading_style": "ATX",
    "bullets": "-",
    "table_infer_header": True,
    "escape_asterisks": False,
    "escape_underscores": False,
    "autolinks": False,
}
_GROUPS: dict[str, GroupKind] = {"thead": "thead", "tfoot": "tfoot"}
_MARKUP_START = re.compile(r"^(\s*)(?=#{1,6}(?:\s|$)|`{3}|~{3})")
"""Matches the start of a paragraph that would open a heading, or a fence that never closes."""
_CHOMPED = frozenset({"a", "b", "strong", "i", "em", "del", "s", "code", "kbd", "samp", "sup", "sub"})
"""Elements at whose edges markdownify keeps a space, but no line break."""
_EDGES = re.compile(r"\A\s*\n\s*|\s*\n\s*\Z")
_MAX_DEPTH = 120
_TICKS = re.compile(r"`+")
_HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
_SCRIPT_LINK = re.compile(r"\s*(?:javascript|data|vbscript):", re.IGNORECASE)


def converted(content: Tag, *, as_page: bool = False) -> str:
    """Converts an element to Markdown; changes `content`. Headings have their anchor behind them: `## Fees {#fees}`.

    `as_page`: the result is parsed as a page of Markdown, in which a `<b>` that a reader sees would be mark-up.
    """
    for link in content.find_all("a", title=True):
        del link["title"]  # shown while a mouse rests on it, so unseen by most readers
    _flatten(content)
    without_permalinks(content)
    without_line_numbers(content)
    _write_checkboxes(content)
    for table in content.find_all("table"):
        if _is_layout(table):
            _dissolve(table)
    return str(_Converter(as_page=as_page).convert_soup(content))


def _flatten(content: Tag) -> None:
    """Reduces elements to their text that are nested too deeply for markdownify, which calls itself for each level."""
    depths = {id(content): 0}
    for element in content.find_all(True):
        depth = depths.get(id(element.parent), 0) + 1
        depths[id(element)] = depth
        if depth > _MAX_DEPTH:
            element.insert_before(" ")
            element.insert_after(" ")
            element.unwrap()


def _write_checkboxes(content: Tag) -> None:
    """Writes boxes to tick of items and cells as text; elsewhere they are switches of the page itself."""
    for box in content.select("li input, li .checkbox, td input, td .checkbox"):
        attributes = {name: " ".join(box.get_attribute_list(name)) for name in box.attrs}
        if mark := checkbox(box.name, attributes):
            box.insert_before(f"{mark} ")
            box.unwrap()


def _is_layout(table: Tag) -> bool:
    """Whether a table is a mere frame: around tables and no grid itself; or of a single row or column, without headers,
    that holds blocks.
    """
    rows = own_rows(table)
    heads = any(cell.name == "th" for row in rows for cell in row)
    if table.find("table") is not None:
        return not heads or sum(len(row) > 1 for row in rows) < 2
    holds_blocks = table.find(["p", "br", "ul", "ol", "div", "pre", "h1", "h2", "h3"]) is not None
    return not heads and holds_blocks and (len(rows) <= 1 or max(map(len, rows)) <= 1)


def _dissolve(table: Tag) -> None:
    for element in table.find_all(["thead", "tbody", "tfoot", "tr", "td", "th", "caption"]):
        if enclosing(element, "table") is table:
            element.name = "div"
    table.name = "div"


class _Converter(MarkdownConverter):
    def __init__(self, *, as_page: bool) -> None:
        super().__init__(**_OPTIONS)
        self._as_page = as_page
        self._cells: dict[int, str] = {}
        """The Markdown of a table's cells, by their identity, until the table itself is written."""

    def escape(self, text: str, parent_tags: Any) -> str:  # noqa: ARG002
        return shown_as_code(text) if self._as_page else text

    def process_text(self, el: Any, parent_tags: Any = None) -> str:
        text = str(super().process_text(el, parent_tags))  # type: ignore[misc]
        if el.parent is not None and el.parent.name in _CHOMPED and "pre" not in (parent_tags or ()):
            return _EDGES.sub(" ", text)
        return text

    def convert_p(self, el: Any, text: str, parent_tags: Any) -> str:
        if "_inline" not in parent_tags:
            text = _MARKUP_START.sub(r"\1\\", text)
        return str(super().convert_p(el, text, parent_tags))  # type: ignore[misc]

    def convert_td(self, el: Any, text: str, parent_tags: Any) -> str:
        if enclosing(el, "table") is None:
            return self._block(text, parent_tags)
        self._cells[id(el)] = cell_text(text)
        return ""

    convert_th = convert_td

    def convert_tr(self, el: Any, text: str, parent_tags: Any) -> str:  # noqa: ARG002
        return text

    def convert_table(self, el: Any, text: str, parent_tags: Any) -> str:
        """Writes a table. `text`: the words in no cell, such as a caption."""
        groups = in_groups(
            (
                group or el,
                _GROUPS.get(group.name if group else "", "tbody"),
                [self._cell(cell) for cell in cells],
            )
            for group, cells in _rows(el)
        )
        if "_inline" in parent_tags:
            return f" {text.strip()} {inline_table(groups)} "
        return f"\n\n{text.strip()}\n\n{markdown_table(groups)}\n\n"

    def _cell(self, cell: Tag) -> Cell:
        return Cell(
            text=self._cells.pop(id(cell), ""),
            across=span(str(cell.get("colspan", ""))),
            down=span(str(cell.get("rowspan", "")), down=True),
            head=cell.name == "th",
        )

    def convert_img(self, el: Any, text: str, parent_tags: Any) -> str:  # noqa: ARG002
        words = description(str(el.attrs.get("alt") or ""))
        return f"{words} " if words else ""  # two pictures side by side are two descriptions

    def convert_a(self, el: Any, text: str, parent_tags: Any) -> str:
        href = str(el.attrs.get("href") or "")
        if "\n\n" in text.strip() or _SCRIPT_LINK.match(href):  # a link around blocks, or to nowhere
            return text
        link = str(super().convert_a(el, text, parent_tags))  # type: ignore[misc]
        return f"{link} " if _touches_a_link(el) else link

    def convert_hN(self, n: int, el: Any, text: str, parent_tags: Any) -> str:  # noqa: N802 (its name there)
        if "summary" in parent_tags or "button" in parent_tags:
            parent_tags = parent_tags - {"_inline"}
        heading = str(super().convert_hN(n, el, text.strip(), parent_tags))  # type: ignore[misc]
        anchor = _anchor(el)
        if not anchor or "_inline" in parent_tags or not text.strip():
            if "_inline" not in parent_tags:
                heading = heading.replace("{#", "\\{#")  # a word, no anchor
            return heading if text.strip() else ""
        return f"{heading.rstrip()} {{#{anchor}}}\n\n"

    def convert_ul(self, el: Any, text: str, parent_tags: Any) -> str:
        written = str(super().convert_list(el, text, parent_tags))  # type: ignore[misc]
        # An item may continue after a list in it.
        return f"{written.rstrip()}\n" if "li" in parent_tags else written

    convert_ol = convert_ul

    def convert_hr(self, el: Any, text: str, parent_tags: Any) -> str:
        return " " if "_inline" in parent_tags else str(super().convert_hr(el, text, parent_tags))  # type: ignore[misc]

    def convert_pre(self, el: Any, text: str, parent_tags: Any) -> str:  # noqa: ARG002
        code = code_text(el)
        if not code.strip():
            return ""
        if "_inline" in parent_tags:  # in a cell, which has one line
            return " " + " ".join(_code_span(line) for line in code.split("\n") if line.strip()) + " "
        fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(code)), default=0))
        return f"\n\n{fence}\n{code}\n{fence}\n\n"

    def convert_summary(self, el: Any, text: str, parent_tags: Any) -> str:  # noqa: ARG002
        if "_inline" in parent_tags or _HEADING.search(text):
            return self._block(text, parent_tags)
        words = " ".join(text.split())
        return f"\n\n**{words.replace('**', '')}**\n\n" if words else ""

    def convert_dd(self, el: Any, text: str, parent_tags: Any) -> str:
        if "_inline" in parent_tags or "\n\n" in text.strip() or "```" in text:
            return self._block(text, parent_tags)
        return str(super().convert_dd(el, text, parent_tags))  # type: ignore[misc]

    def convert_sup(self, el: Any, text: str, parent_tags: Any) -> str:  # noqa: ARG002
        return raised(text, before=_text_before(el))

    def convert_sub(self, el: Any, text: str, parent_tags: Any) -> str:  # noqa: ARG002
        return lowered(text, before=_text_before(el))

    def convert_option(self, el: Any, text: str, parent_tags: Any) -> str:  # noqa: ARG002
        return f" {text.strip()} " if text.strip() else ""

    convert_button = convert_label = convert_option  # boxes of their own, with no space between them

    def _block(self, text: str, parent_tags: Any) -> str:
        if "_inline" in parent_tags:
            return f" {text.strip()} "
        return f"\n\n{text.strip()}\n\n" if text.strip() else ""

    def _as_block(self, el: Any, text: str, parent_tags: Any) -> str:  # noqa: ARG002
        return self._block(text, parent_tags)

    convert_aside = convert_details = convert_figure = convert_header = convert_footer = convert_main = (
        _as_block
    )
    convert_address = convert_fieldset = convert_legend = convert_form = convert_center = convert_hgroup = (
        _as_block
    )
    convert_optgroup = convert_menu = convert_search = _as_block


def _rows(table: Tag) -> Iterator[tuple[Tag | None, Sequence[Tag]]]:
    """Yields the table's own rows, also those without cells, with their group: `thead`, `tbody` or `tfoot`."""
    row: Tag | None = None
    cells: list[Tag] = []
    for element in table.find_all(["tr", "td", "th"]):
        if enclosing(element, "table") is not table:
            continue
        if element.name == "tr":
            if row is not None or cells:
                yield _group(row or cells[0]), cells
            row, cells = element, []
        else:
            cells.append(element)
    if row is not None or cells:
        yield _group(row or cells[0]), cells


def _group(inner: Tag) -> Tag | None:
    group = enclosing(inner, "thead", "tbody", "tfoot", "table")
    return None if group is None or group.name == "table" else group


def _anchor(heading: Tag) -> str | None:
    """Returns a heading's own anchor, that of an empty link in it, or that of the section that it opens."""
    inner = heading.find(lambda element: element.get("id") or element.get("name"))
    section = heading.parent
    opens = section is not None and section.name == "section" and section.find(True) is heading
    for element in (heading, inner, section if opens else None):
        if isinstance(element, Tag) and (named := element.get("id") or element.get("name")):
            return str(named) if not re.search(r"[\s{}]", str(named)) else None
    return None


def _text_before(element: Any) -> str:
    before = element.previous_sibling
    return "" if before is None else str(before.get_text())


def _code_span(code: str) -> str:
    ticks = "`" * (1 + max(map(len, _TICKS.findall(code)), default=0))
    return f"{ticks} {code.strip()} {ticks}" if len(ticks) > 1 else f"`{code.strip()}`"


def _touches_a_link(el: Any) -> bool:
    """Whether another link's word follows at once: on the page, styles set the two apart."""
    following = el.next_sibling
    if getattr(following, "name", None) != "a" or following.get("href") in (None, el.get("href")):
        return False
    return bool(el.get_text()[-1:].isalnum() and following.get_text()[:1].isalnum())
