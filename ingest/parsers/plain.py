"""Parses plain text in any encoding: paragraphs between empty lines, and headings where they are underlined."""

from __future__ import annotations

import re

from ingest.page import ParsedPage
from ingest.parsers.outline import Outline, Part, parsed_page
from ingest.parsers.text import decoded, title_from

_BLOCK_MARK = re.compile(
    r"^([ \t]*)(#{1,6}(?=\s)|>|={3,}$|-{3,}$|`{3,}|~{3,}|<(?=[A-Za-z!/?]))", re.MULTILINE
)
_INDENT = re.compile(r"^[ \t]+(?![-*+] |\d+[.)] )", re.MULTILINE)
_UNDERLINED = re.compile(
    r"^(?P<heading>[^\s=\-#|].{0,99})\n(?:(?P<first_level>={3,})|-{3,})[ \t]*$", re.MULTILINE
)


def parse_plain(content: bytes, *, path: str) -> ParsedPage:
    """Parses a text.

    Raises:
        PageError: it is not text, or has none.
    """
    text = decoded(content)
    pieces, position = [], 0
    for found in _UNDERLINED.finditer(text):
        pieces += [escaped_text(text[position : found.start()])]
        pieces += [f"\n\n{'#' if found['first_level'] else '##'} {found['heading'].strip()}\n\n"]
        position = found.end()
    outline = Outline(Part(text="".join([*pieces, escaped_text(text[position:])])))
    return parsed_page(outline.first_title or title_from(path), outline)


def escaped_text(text: str) -> str:
    """Escapes text for Markdown: lists stay lists, an indented or marked line becomes no code or heading."""
    return _BLOCK_MARK.sub(r"\1\\\2", _INDENT.sub("", text))
