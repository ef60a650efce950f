"""Bytes to text, and text without what is no part of it: front matter, headers and footers."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import yaml
from charset_normalizer import from_bytes

_FRONT = re.compile(
    r"\A\s*(?:---[ \t]*\n(.*?)^(?:---|\.\.\.)|\+\+\+[ \t]*\n(.*?)^\+\+\+)[ \t]*(?:\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
_EDGE = 3
"""Lines at the top and the bottom of a page that may be a header or a footer."""
_PAGE = re.compile(r"\W*(?:page|pagina|seite|s\.|p\.)?\s*0(?:\s*(?:of|van|von|/|-)\s*0)?\W*")


def decoded(content: bytes) -> str:
    """Decodes UTF-8, or UTF-16 with its mark; anything else is guessed from the letters."""
    if not content.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            text = content.decode("utf-8-sig")
            if "\0" not in text:  # every second byte of UTF-16 without its mark
                return text
        except UnicodeDecodeError:
            pass
    best = from_bytes(content).best()
    return str(best) if best is not None else content.decode("cp1252", "replace")


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Returns front matter, and the text below it; a note between two rulers is text."""
    found = _FRONT.match(text)
    if found is None:
        return {}, text
    if found[2] is not None:
        return {"toml": found[2]}, text[found.end() :]
    try:
        front = yaml.safe_load(found[1])
    except yaml.YAMLError:
        front = dict(re.findall(r"^([\w-]+):(.*)$", found[1], re.MULTILINE)) or None
    return (front or {}, text[found.end() :]) if isinstance(front, dict | None) else ({}, text)


def without_furniture(pages: list[str]) -> tuple[str, str]:
    """Returns the text of a PDF's pages, and the lines at their edges that are page numbers or on several pages."""
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
