"""Parses a whole HTML page, from a folder or another converter, by Beautiful Soup and markdownify.

Drops menus, scripts, hidden elements and layout tables; headings keep their `id` as anchor. (`html.py` reads HTML
inside Markdown. Pages fetched from a website have their main content found by trafilatura before they get here.)
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection
from typing import Any

from bs4 import BeautifulSoup, Comment, Tag, XMLParsedAsHTMLWarning

from ingest.errors import PageError
from ingest.front_matter.front_matter import FrontMatter
from ingest.page import ParsedPage
from ingest.parsers.markup.folds import hidden_panels, keep_labels
from ingest.parsers.markup.hidden_html import opened_by, stays_hidden
from ingest.parsers.markup.html_converter import converted
from ingest.parsers.outline import Outline, Part, parsed_page
from ingest.parsers.text import cleaned, own_date, title_from
from kb.models import PageDates

_DROPPED = [
    "script", "style", "template", "noscript", "svg", "iframe", "object", "embed", "canvas", "nav", "dialog",
    "datalist",
]  # fmt: skip
_HIDING = frozenset({"style", "hidden", "color"})
_OPENING = frozenset(
    {"aria-controls", "data-target", "data-bs-target", "role", "data-toggle", "data-bs-toggle"}
)
_EDITED = (
    "article:modified_time", "og:updated_time", "dcterms.modified", "last-modified", "article:published_time",
)  # fmt: skip


def parse_html(content: bytes | str, *, path: str) -> ParsedPage:
    """Parses a page.

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
    outline = Outline(Part(text=html_markdown(soup)), own_anchors=True)
    return parsed_page(title, outline, front)


def html_markdown(soup: BeautifulSoup) -> str:
    """Converts a page to Markdown; changes `soup`."""
    drop_unread(soup)
    keep_labels(soup, every_button=True)
    return cleaned(converted(_main(soup)))


def drop_unread(soup: BeautifulSoup) -> None:
    """Drops elements that hold no text, and those that no reader sees."""
    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    if soup.head:
        soup.head.decompose()
    for element in soup.find_all(_DROPPED):
        if element.name != "nav" or element.find(True, {"role": "tab"}) is None:
            element.decompose()
    controlled = {
        ident
        for element in soup.find_all(lambda element: not _OPENING.isdisjoint(element.attrs))
        for ident in opened_by(_attributes(element))
    }
    hidden = soup.find_all(
        lambda element: not _HIDING.isdisjoint(element.attrs) and _is_hidden(element, controlled)
    )
    opened = {id(panel) for panel in hidden_panels(soup)} if hidden else set()
    for element in hidden:
        if id(element) not in opened:
            element.decompose()


def _soup(content: bytes | str) -> BeautifulSoup:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        soup = BeautifulSoup(_decoded(content) if isinstance(content, bytes) else content, "lxml")
    if soup.find() is None and not soup.get_text(strip=True):
        raise PageError("it has no text", withdraw=True)
    return soup


def _decoded(content: bytes) -> bytes | str:
    """Decodes valid UTF-8, whatever the page claims; leaves other bytes to Beautiful Soup.

    That would guess first, and takes a page in several scripts for one of an encoding that has them all as letters.
    """
    if b"\x1b" in content or b"\0" in content:  # ISO-2022-JP and UTF-16 may be valid by chance
        return content
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content


def _is_hidden(element: Tag, controlled: Collection[str]) -> bool:
    around = map(_attributes, (element, *element.parents))
    return stays_hidden(element.name, _attributes(element), controlled=controlled, around=around)


def _attributes(element: Tag) -> dict[str, str]:
    return {name: str(value) for name, value in element.attrs.items()}


def _main(soup: BeautifulSoup) -> Tag:
    """Returns what the page marks as its main content, else all of it."""
    main = soup.find("main") or soup.find(None, {"role": "main"})
    if isinstance(main, Tag) and main.get_text(strip=True):
        return main
    return soup


def _code(language: Any) -> str | None:
    found = re.match(r"([a-z]{2,3})\b", language.lower()) if isinstance(language, str) else None
    return found[1] if found else None


def _edited(soup: BeautifulSoup) -> Any:
    for name in _EDITED:
        mark = soup.find("meta", attrs={"property": name}) or soup.find("meta", attrs={"name": name})
        if isinstance(mark, Tag) and (edited := own_date(str(mark.get("content", "")))):
            return edited
    return None
