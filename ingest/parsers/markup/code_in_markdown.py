"""Simplifies a highlighter's HTML in a page of Markdown to blocks of the code alone, see `numbered_code.py`."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BLOCK_TAG = re.compile(r"<(/?)(pre|table)\b[^<>]*>", re.IGNORECASE)
_SHOWN_BY_LINE = re.compile(
    r"<(?:pre|table|td|span|div|a|figure)\b[^<>]*\bclass\s*=\s*[\"'][^\"'<>]*"
    r"(?:linenos|lineno|linenodiv|gutter|lntable|\blnt?\b|hljs-ln|line-?numbers?|token-line|ec-line|crayon-num|blob-num)"
    r"|<pre\b[^<>]*>(?:(?!</pre)[^<]|<(?!/pre|pre))*?<(?:br|li)\b",
    re.IGNORECASE,
)
"""Marks code whose lines are elements of their own, or have their numbers beside them."""


def plain_code(text: str) -> str:
    """Makes each block of HTML that shows code line by line a `<pre>` of the code alone."""
    if not _SHOWN_BY_LINE.search(text):
        return text
    # Few pages of Markdown need the parser of HTML.
    from bs4 import BeautifulSoup

    from ingest.parsers.markup.numbered_code import code_text, without_line_numbers

    pieces = []
    position = 0
    for start, end in _blocks(text):
        html = text[start:end]
        pieces.append(text[position:start])
        position = end
        if _SHOWN_BY_LINE.search(html):
            soup = BeautifulSoup(html, "lxml")
            without_line_numbers(soup)
            for pre in soup.find_all("pre"):
                pre.string = code_text(pre)
            body = soup.body or soup
            html = "".join(str(child) for child in body.children)
        pieces.append(html)
    return "".join([*pieces, text[position:]])


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yields the start and end of outermost code and tables that have an end."""
    opened: list[tuple[str, int]] = []
    found: list[tuple[int, int]] = []
    for tag in _BLOCK_TAG.finditer(text):
        name = tag[2].lower()
        if not tag[1]:
            opened.append((name, tag.start()))
            continue
        while opened and opened[-1][0] != name:
            opened.pop()
        if opened:
            start = opened.pop()[1]
            while found and found[-1][0] > start:
                found.pop()
            found.append((start, tag.end()))
    yield from found
