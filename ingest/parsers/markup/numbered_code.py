"""Drops line numbers and copy buttons from the code blocks of web pages.

Highlighters write numbers as a table of two cells (Pygments, Rouge, Hexo, Hugo), a table with a row for each line
(highlight.js, GitHub) or an element before each line. Each becomes one `<pre>` of the code's own lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString

_GUTTER = re.compile(
    r"(?:rouge-|crayon-|token-)?(?:gutter|nums?)(?:-\w+)?|lin(?:e-?)?no(?:s|div)?|lineno\w*|linenumbers?|lnt|ln|blob-num|codelinenumber\w*"
    r"|(?:[\w-]*-)?line-?numbers?(?:-\w+)?|hljs-ln-(?:numbers|n)|code-line-number",
    re.IGNORECASE,
)
"""Class names of an element that holds line numbers. They count only for elements of nothing but numbers."""
_NUMBERS = re.compile(r"[\s\d]*")
_NAMED = frozenset({"filename", "caption", "code-block-caption"})
_BLOCKS = frozenset({"div", "p", "li", "tr", "ol", "ul", "table", "tbody", "figcaption", "pre"})
_LINES = frozenset({"line", "token-line", "code-line", "ec-line", "react-code-line"})


def without_line_numbers(content: Tag) -> None:
    """Changes the tree: code in tables becomes `<pre>`, numbers and buttons within code go."""
    for table in content.find_all("table"):
        if table.parent is not None:
            _unfold(table)
    for element in content.find_all(_is_gutter):
        if element.name not in ("td", "th", "table", "body"):
            element.decompose()
    for pre in content.find_all("pre"):
        for button in pre.find_all("button"):
            button.decompose()


def enclosing(element: Tag, *names: str) -> Tag | None:
    """Returns the nearest element of these names around it. (Beautiful Soup's own search takes ten times as long.)"""
    around = element.parent
    while around is not None and around.name not in names:
        around = around.parent
    return around


def inner(element: Tag, *names: str) -> list[Tag]:
    """Returns the elements of these names within it. (Beautiful Soup's own search takes ten times as long.)"""
    return [child for child in element.descendants if isinstance(child, Tag) and child.name in names]


def own_rows(table: Tag) -> list[list[Tag]]:
    """Returns the cells of the table's rows, without those of tables in it."""
    return [
        [cell for cell in row.find_all(["td", "th"]) if enclosing(cell, "table") is table]
        for row in table.find_all("tr")
        if enclosing(row, "table") is table
    ]


def code_text(element: Tag) -> str:
    """Returns the text of code with the line breaks that a reader sees, without empty lines around it."""
    text = _Lines().read(element).rstrip()
    return re.sub(r"\A(?:[ \t]*\n)+", "", text)


def _unfold(table: Tag) -> None:
    """Replaces a table of code and its line numbers by a `<pre>`, under the code's title."""
    rows = list(filter(None, own_rows(table)))
    names = [row for row in rows if all(_classes(cell) & _NAMED for cell in row)]
    named = {id(row) for row in names}
    code = [[cell for cell in row if not _numbers_beside(cell, row)] for row in rows if id(row) not in named]
    numbered = sum(map(len, rows)) - sum(map(len, names)) - sum(map(len, code))
    if not code or not all(len(row) <= 1 for row in code) or not any(code):
        return
    if table.find_parent(["pre", "code"]) is None and numbered < len(code):
        return
    made = BeautifulSoup("", "lxml")
    pre = made.new_tag("pre")
    pre.string = "\n".join(code_text(cell) for row in code for cell in row)
    around = table.find_parent("pre")
    for row in names:
        title = made.new_tag("p")
        title.string = " ".join(row[0].get_text().split())
        (around or table).insert_before(title)
    if around is not None:
        table.replace_with(NavigableString(f"{pre.string}\n"))
    else:
        table.replace_with(pre)


def _numbers_beside(cell: Tag, row: Sequence[Tag]) -> bool:
    """Whether a cell numbers the lines of the code beside it."""
    if len(row) < 2 or cell is row[-1]:
        return False
    if not _NUMBERS.fullmatch(cell.get_text()):
        return False
    if cell.has_attr("data-line-number") or any(map(_is_gutter, (cell, *cell.find_all(True)))):
        return True
    code = row[-1].find("pre")
    numbers = [int(number) for number in cell.get_text(" ").split()]
    if not isinstance(code, Tag) or not numbers:
        return False
    counted = list(range(numbers[0], numbers[0] + len(numbers)))
    return numbers == counted and len(numbers) == len(code_text(code).split("\n"))


def _is_gutter(element: Tag) -> bool:
    return any(_GUTTER.fullmatch(name) for name in _classes(element)) and bool(
        _NUMBERS.fullmatch(element.get_text())
    )


def _classes(element: Tag) -> set[str]:
    return {str(name) for name in element.get_attribute_list("class")}


class _Lines:
    """Reads text so that an element that a page shows as a line becomes one, with or without a line break in it."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._ends = False

    def read(self, element: Tag) -> str:
        for event, node in _events(element):
            if isinstance(node, NavigableString):
                self._add(str(node))
            elif event == "start" and node.name == "br":
                self._ends = False
                self._pieces.append("\n")
            elif node.name in _BLOCKS or _classes(node) & _LINES:
                self._ends = bool(self._pieces) and not self._pieces[-1].endswith("\n")
        return "".join(self._pieces)

    def _add(self, text: str) -> None:
        if text:
            if self._ends and not text.startswith(("\n", "\r")):
                self._pieces.append("\n")
            self._ends = False
            self._pieces.append(text)


def _events(element: Tag) -> Iterator[tuple[str, Tag | NavigableString]]:
    """Yields starts, texts and ends in the page's order. Without recursion: authors nest deeply."""
    node = next(iter(element.children), None)
    while node is not None:
        if isinstance(node, Tag):
            yield "start", node
            first = next(iter(node.children), None)
            if first is not None:
                node = first
                continue
            yield "end", node
        elif type(node) is NavigableString:
            yield "text", node
        while node.next_sibling is None:
            parent = node.parent
            if parent is None or parent is element:
                return
            yield "end", parent
            node = parent
        node = node.next_sibling
