"""Macros whose text is itself a page: HTML, or Markdown, that a reader sees rendered."""

from __future__ import annotations

import lxml.etree
import lxml.html
from lxml.etree import _Element as Element

from ingest.parsers.markup.hidden_html import is_hidden
from ingest.parsers.outline import block_parser

RENDERED = frozenset({"html", "markdown", "md", "markdown-macro"})
_NO_WORDS = ("script", "style", "template", "noscript", "iframe", "svg", "head")


def rendered(html: str) -> Element:
    """Parses HTML under one element, without what no reader sees."""
    try:
        root = lxml.html.fragment_fromstring(html, create_parent="div")
    except (lxml.etree.ParserError, ValueError):
        return lxml.html.Element("div")
    hidden = [element for element in root.iter() if isinstance(element.tag, str) and _is_hidden(element)]
    for element in (*hidden, *root.xpath("//comment()")):
        if element.getparent() is not None:
            element.drop_tree()
    return root


def _is_hidden(element: Element) -> bool:
    attributes = {str(name): str(value) for name, value in element.attrib.items()}
    return element.tag in _NO_WORDS or is_hidden(attributes)


def closed(markdown: str) -> str:
    """Ends Markdown where its macro ends: a fence that its author left open would take the rest of the page."""
    text = markdown.strip("\n")
    fences = [token for token in block_parser().parse(text) if token.type == "fence" and token.level == 0]
    if fences and fences[-1].map and fences[-1].map[1] >= len(text.split("\n")):
        last = text.split("\n")[-1].strip()
        if not last.startswith(fences[-1].markup):
            return f"{text}\n{fences[-1].markup}"
    return text
