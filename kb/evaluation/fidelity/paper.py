"""Text on paper: what stands around every page of a PDF."""

from __future__ import annotations

import re
from collections import Counter

_EDGE = 3
"""Lines at the top and the bottom of a page that may be a header or a footer."""
_PAGE = re.compile(r"\W*(?:page|pagina|seite|s\.|p\.)?\s*0(?:\s*(?:of|van|von|/|-)\s*0)?\W*")


def without_furniture(pages: list[str]) -> tuple[str, str]:
    """The text, and lines at the edges of pages that are a page's number or stand on several: headers and footers."""
    lines = [[line for line in page.splitlines() if line.strip()] for page in pages]
    edges = Counter(
        key for page in lines for key in {_unnumbered(line) for line in (*page[:_EDGE], *page[-_EDGE:])}
    )
    text: list[str] = []
    furniture: list[str] = []
    for page in lines:
        for place, line in enumerate(page):
            is_edge = place < _EDGE or place >= len(page) - _EDGE
            key = _unnumbered(line)
            (furniture if is_edge and (edges[key] > 1 or _PAGE.fullmatch(key)) else text).append(line)
    return "\n".join(text), "\n".join(furniture)


def _unnumbered(line: str) -> str:
    return re.sub(r"\d+|\b[ivxlc]+\b", "0", line.strip().casefold())
