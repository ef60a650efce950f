"""A whole HTML page, from a folder or made by another converter, by Beautiful Soup and markdownify.

Menus, scripts, hidden elements and layout tables go; headings keep their `id` as anchor. (HTML inside Markdown is another
matter: see `html.py`. Pages fetched from a website have their main content found by trafilatura before they get here.)
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection
from typing import Any

from bs4 import BeautifulSoup, Comment, Tag, XMLParsedAsHTMLWarning
from markdownify import MarkdownConverter

from ingest.dates import UnreadableDateError, parse_date
from ingest.errors import PageError
from ingest.front_matter import FrontMatter
from ingest.parsers.outline import Outline, Part, block_parser, parsed_page
from ingest.parsers.page import ParsedPage
from ingest.parsers.pictures import description
from ingest.parsers.text import cleaned, title_from
from ingest.parsers.unseen import is_unseen
from kb.models import PageDates

_DROPPED = "script, style, template, noscript, svg, iframe, object, embed, canvas, form button, nav, dialog"
_EDITED = (
    "article:modified_time",
    "og:updated_time",
    "dcterms.modified",
    "last-modified",
    "article:published_time",
)
_MAX_SPAN = 100
_OPTIONS: Any = {
    "heading_style": "ATX",
    "bullets": "-",
    "table_infer_header": True,
    "escape_asterisks": False,
    "escape_underscores": False,
    "autolinks": False,
}


def parse_html(content: bytes | str, *, path: str) -> ParsedPage:
    """
    Raises:
        PageError: it has no text.
    """
    soup = _soup(content)
    root = soup.find("html")
    language = root.get("lang") if isinstance(root, Tag) else None
    named = soup.title.get_text() if soup.title else ""
    heading = soup.find("h1")
    title = " ".join((heading.get_text() if heading else named).split()) or title_from(path)
    front = FrontMatter(language=_code(language), dates=PageDates(edited=_edited(soup)))
    outline = Outline([Part(text=html_markdown(soup))], block_parser())
    return parsed_page(title, outline, front)


def html_markdown(soup: BeautifulSoup) -> str:
    """The page's Markdown; `soup` is used up."""
    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    if soup.head:
        soup.head.decompose()
    controlled = {
        one for button in soup.select("[aria-controls]") for one in str(button["aria-controls"]).split()
    }
    for element in soup.select(_DROPPED):
        element.decompose()
    for element in soup.find_all(lambda element: _is_unseen(element, controlled)):
        element.decompose()
    for link in soup.select("a[title]"):
        del link["title"]  # shown while a mouse rests on it, so unseen by most readers
    content = _main(soup)
    for table in content.find_all("table"):
        _straighten(table)
    return cleaned(str(_Converter(**_OPTIONS).convert_soup(content)))


def _soup(content: bytes | str) -> BeautifulSoup:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        soup = BeautifulSoup(content, "lxml")
    if soup.find() is None and not soup.get_text(strip=True):
        raise PageError("it has no text", withdraw=True)
    return soup


def _is_unseen(element: Tag, controlled: Collection[str]) -> bool:
    around = (_attributes(one) for one in (element, *element.parents))
    return is_unseen(element.name, _attributes(element), controlled=controlled, around=around)


def _attributes(element: Tag) -> dict[str, str]:
    return {name: str(value) for name, value in element.attrs.items()}


def _main(soup: BeautifulSoup) -> Tag:
    """What the page marks as its main content, else all of it. The frame around it goes only where there is a main."""
    main = soup.find("main") or soup.find(None, {"role": "main"})
    if isinstance(main, Tag) and main.get_text(strip=True):
        return main
    return soup


def _straighten(table: Tag) -> None:
    """Lay-out tables become blocks. Cells over several rows are repeated in each."""
    if _is_layout(table):
        inner = table.find_all(["tbody", "thead", "tr", "td", "th"])
        for element in [table, *(one for one in inner if one.find_parent("table") is table)]:
            element.name = "div"
        return
    held: dict[int, tuple[int, Tag]] = {}
    for row in table.find_all("tr"):
        column, cells = 0, list(row.find_all(["td", "th"], recursive=False))
        while cells or column in held:
            if column in held:
                left, cell = held.pop(column)
                again = BeautifulSoup(str(cell), "lxml").find(cell.name)
                if isinstance(again, Tag):
                    (cells[0].insert_before if cells else row.append)(again)
                if left > 1:
                    held[column] = (left - 1, cell)
                column += _span(cell, "colspan")
                continue
            cell = cells.pop(0)
            down = _span(cell, "rowspan")
            del cell["rowspan"]
            if down > 1:
                held[column] = (down - 1, cell)
            column += _span(cell, "colspan")


def _is_layout(table: Tag) -> bool:
    """A table around tables; or one of a single row or column, without header cells, that holds paragraphs."""
    if table.find("table") is not None:
        return True
    rows = [len(row.find_all("td")) for row in table.find_all("tr")]
    holds_text = table.find(["p", "br", "ul", "ol", "div", "h1", "h2", "h3"]) is not None
    return table.find("th") is None and holds_text and (len(rows) <= 1 or max(rows) <= 1)


def _span(cell: Tag, name: str) -> int:
    written = str(cell.get(name, "1"))
    return min(max(int(written), 1), _MAX_SPAN) if written.isdecimal() else 1


class _Converter(MarkdownConverter):
    def convert_img(self, el: Any, text: str, parent_tags: Any) -> str:  # noqa: ARG002
        told = description(str(el.attrs.get("alt") or ""))
        return f"{told} " if told else ""  # two pictures side by side are two descriptions

    def convert_hN(self, n: int, el: Any, text: str, parent_tags: Any) -> str:  # noqa: N802 (its name there)
        heading = str(super().convert_hN(n, el, text, parent_tags))  # type: ignore[misc]
        anchor = el.attrs.get("id")
        if not anchor or "_inline" in parent_tags or not heading.strip():
            return heading
        return f"{heading.rstrip()} {{#{anchor}}}\n\n"


def _code(language: Any) -> str | None:
    found = re.match(r"([a-z]{2,3})\b", language.lower()) if isinstance(language, str) else None
    return found[1] if found else None


def _edited(soup: BeautifulSoup) -> Any:
    for name in _EDITED:
        mark = soup.find("meta", attrs={"property": name}) or soup.find("meta", attrs={"name": name})
        if isinstance(mark, Tag):
            try:
                return parse_date(str(mark.get("content", "")))
            except UnreadableDateError:
                continue
    return None
