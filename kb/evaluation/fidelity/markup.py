"""HTML to a reading, on lxml alone; and the index's Markdown, rendered as a reader sees it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from lxml import html
from lxml.etree import ParserError, _Element
from lxml.html import defs
from markdown_it import MarkdownIt
from markdown_it.token import Token

from kb.evaluation.fidelity.reading import Cell, Reading, cell_text, reading_of, words_of

_NOT_SHOWN = frozenset((
    "script", "style", "template", "noscript", "head", "svg", "iframe", "object", "colgroup", "datalist",
))  # fmt: skip
_BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "body", "br", "button", "caption", "center", "dd", "details",
    "dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4",
    "h5", "h6", "header", "hr", "legend", "li", "main", "nav", "ol", "option", "p", "pre", "section", "select",
    "summary", "table", "tbody", "td", "textarea", "tfoot", "th", "thead", "tr", "ul",
))  # fmt: skip
_HIDDEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?![.\d])|font-size\s*:\s*0(?![.\d])"
    r"|(?:left|top|text-indent)\s*:\s*-\d{3,}"
    r"|\A(?!.*background).*?(?<![-\w])color\s*:\s*(?:white|#fff(?:fff)?)\b",
    re.IGNORECASE | re.DOTALL,
)
_FOOTNOTE_LINKS = frozenset(("footnote-ref", "footnote-back", "footnote-backref"))
_FURNITURE = frozenset(("navigation", "banner", "contentinfo", "search", "menu", "menubar", "toolbar"))
_SET_APART = frozenset(("math", "sr-only", "visually-hidden", "skip-link", "mw-jump-link", "noprint"))
"""Classes: formulas, which two converters never write alike, and what is for screen readers or not for paper."""
_FILE_NAME = re.compile(r"\.\w{3,4}$")
_DEEPEST = 200
"""Levels of nesting that are walked; below that the text counts without its form."""
_MOST_SPANNED = 100
"""Columns or rows of one cell: a span of 65534 is some program's word for "all"."""
CODE = re.compile(r"(<pre>.*?</pre>|<code\b.*?</code>)", re.DOTALL)
_DEFINED = re.compile(r"^([ >]*)\[\^[^\]\s]+\]:", re.MULTILINE)
_MARKS = re.compile(r"&lt;br\s*/?&gt;|\[\^[^\]\s]+\]|(?<=<li>)(?:\s*<p>)?\[[ x]\] ", re.IGNORECASE)
"""What of the index's Markdown a renderer of CommonMark does not know: line ends in cells, footnotes, task boxes."""
_NUMBER = "data-number"


def _numbered_item(_: object, tokens: Sequence[Token], index: int, *__: object) -> str:
    """Renders a list item with its number as written: HTML would count on from the first."""
    return f'<li {_NUMBER}="{tokens[index].info}">' if tokens[index].info else "<li>"


_RENDERER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_RENDERER.add_render_rule("list_item_open", _numbered_item)


def read_html(content: str | bytes, *, apart: str = "") -> Reading:
    """Returns the reading of a page. `apart`: more text that may be left out."""
    try:
        root = html.document_fromstring(content)
    except (ParserError, ValueError):  # nothing but white space or comments
        return reading_of("", apart=apart)
    walker = _Walker()
    walker.walk(root, 0)
    return reading_of(
        "".join(walker.text),
        cells=walker.cells,
        heads=walker.heads,
        marks=walker.marks,
        code=walker.code,
        apart=" ".join((apart, *walker.apart)),
        repeated=" ".join(walker.repeated),
    )


def read_markdown(text: str) -> Reading:
    """Returns the reading of a page or passage of the index. HTML in it is text: so its readers see it when quoted."""
    parts = CODE.split(_RENDERER.render(_DEFINED.sub(r"\1", text)))
    parts[::2] = [_MARKS.sub(" ", part) for part in parts[::2]]
    return read_html(f"<body>{''.join(parts)}</body>")


class _Head(str):
    """A header."""


class _Again(str):
    """The text of a cell, in a place that it covers beside its first."""


class _Walker:
    """Collects a tree's text (a line's end at the edges of blocks), its tables' cells and its code."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.apart: list[str] = []
        self.cells: list[Cell] = []
        self.code: list[str] = []
        self.heads: list[str] = []
        self.marks: list[str] = []
        self.repeated: list[str] = []

    def walk(self, element: _Element, depth: int) -> None:
        tag = element.tag
        if not isinstance(tag, str) or tag in _NOT_SHOWN:  # comments have no text that anybody sees
            return
        if _is_hidden(element):
            self.apart.append(" ".join(element.itertext()))
            return
        if tag == "img":
            self._picture(element.get("alt") or "")
            return
        if _FOOTNOTE_LINKS.intersection((element.get("class") or "").split()):
            return
        if tag not in defs.tags:  # `<name>` in a sentence: browsers show none of it, and the index may
            self.apart += [tag, *element.attrib]
        edge = "\n" if tag in _BLOCKS else ""
        self.text.append(edge)
        if number := element.get(_NUMBER):
            self.marks.append(number)
        if tag == "pre":
            self.code.append(_plain(element))
        if tag == "table":
            for cell in _cells(_rows(element)):
                if isinstance(cell, Cell):
                    self.cells.append(cell)
                else:
                    (self.heads if isinstance(cell, _Head) else self.repeated).append(cell)
        self.text.append(element.text or "")
        for child in element:
            if depth < _DEEPEST:
                self.walk(child, depth + 1)
            else:
                self.text.append(" ".join(child.itertext()))
            self.text.append(child.tail or "")
        self.text.append(edge)

    def _picture(self, alternative: str) -> None:
        """Counts the alternative text as text where it says more than that there is a picture."""
        says = len(words_of(alternative)) >= 3 and not _FILE_NAME.search(alternative)
        (self.text if says else self.apart).append(f" {alternative} ")


def _is_hidden(element: _Element) -> bool:
    """Tells whether an element hides itself, is a formula, or stands around all pages of a site.

    Style sheets are not known.
    """
    classes = set((element.get("class") or "").split())
    return (
        element.tag == "nav"
        or "hidden" in element.attrib
        or element.get("aria-hidden") == "true"
        or element.get("role") in _FURNITURE
        or _HIDDEN_STYLE.search(element.get("style") or "") is not None
        or not classes.isdisjoint(_SET_APART)
        or (
            element.tag in ("header", "footer")
            and next(element.iterancestors("article", "main", "section"), None) is None
        )
    )


def _plain(element: _Element) -> str:
    walker = _Walker()
    walker.text.append(element.text or "")
    for child in element:
        walker.walk(child, 0)
        walker.text.append(child.tail or "")
    return "".join(walker.text)


def _rows(table: _Element) -> list[_Element]:
    return [row for row in table.iter("tr") if next(row.iterancestors("table")) is table]


def _cells(rows: list[_Element]) -> Iterator[Cell | _Head | _Again]:
    """Yields a table's headers and the cells below them, and a cell's text once more for each further place it covers.

    A cell over several columns is asked for under the headers of its first one only.
    """
    grid = _grid(rows)
    if len(grid) < 2 or max(map(len, grid)) < 2 or any(row.find(".//table") is not None for row in rows):
        return  # it lays out a page
    heads = len(list(takewhile(_is_header, rows)))
    for number, row in enumerate(grid):
        for column, (text, is_first) in row.items():
            if not is_first:
                yield _Again(text)
            elif text and number < heads:
                yield _Head(text)
            elif text:
                above = [grid[head].get(column, ("", True))[0] for head in range(heads)]
                distinct = list(dict.fromkeys(filter(None, above)))
                headers = frozenset((*distinct, " ".join(distinct))) if heads else frozenset()
                yield Cell(headers=headers, value=text)


def _is_header(row: _Element) -> bool:
    parent = row.getparent()
    cells = [cell for cell in row if cell.tag in ("td", "th")]
    return (parent is not None and parent.tag == "thead") or (
        bool(cells) and all(cell.tag == "th" for cell in cells)
    )


def _grid(rows: list[_Element]) -> list[dict[int, tuple[str, bool]]]:
    """Maps each row's columns to the text of the cell that covers it, and whether the cell begins there."""
    grid: list[dict[int, tuple[str, bool]]] = [{} for _ in rows]
    for number, row in enumerate(rows):
        column = 0
        for cell in row:
            if cell.tag not in ("td", "th"):
                continue
            while column in grid[number]:
                column += 1
            text = cell_text(_plain(cell))
            for down in range(min(_span(cell, "rowspan"), len(rows) - number)):
                for right in range(_span(cell, "colspan")):
                    grid[number + down][column + right] = (text, not down and not right)
            column += _span(cell, "colspan")
    return grid


def _span(cell: _Element, name: str) -> int:
    written = (cell.get(name) or "1").strip()
    return min(max(int(written), 1), _MOST_SPANNED) if written.isdecimal() else 1
