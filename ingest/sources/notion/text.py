"""Notion's rich text as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from ingest.sources.markup import around, linked, literal

_PAIRED = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
"""Words in backticks."""
_BEFORE_BAR = re.compile(r"(\\+)(?=\|)")
_MARKS = (("bold", "**"), ("italic", "*"), ("strikethrough", "~~"))


def rich_text(pieces: Sequence[Mapping[str, Any]]) -> str:
    """Writes styled text with its links. Line breaks within it stay."""
    return "".join(map(_piece, _with_whole_code(pieces)))


def plain_text(pieces: Sequence[Mapping[str, Any]]) -> str:
    return "".join(str(piece.get("plain_text", "")) for piece in pieces)


def _with_whole_code(pieces: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Joins code that Notion tells in several pieces: the backticks between two of them would mean something else."""
    for style, group in groupby(pieces, lambda piece: (piece.get("annotations") or {}, piece.get("href"))):
        if style[0].get("code"):
            first, *rest = group
            yield {**first, "plain_text": plain_text([first, *rest])}
        else:
            yield from group


def _piece(piece: Mapping[str, Any]) -> str:
    text = str(piece.get("plain_text", ""))
    if piece.get("type") == "equation":
        return f"${text}$"
    return around(text, lambda words: _styled(words, piece.get("annotations") or {}, piece.get("href")))


def _styled(words: str, style: Mapping[str, Any], href: object) -> str:
    words = _code(words) if style.get("code") else _words(words)
    for name, mark in _MARKS:
        if style.get(name):
            words = f"{mark}{words}{mark}"
    if not href:
        return words
    return linked(words, f"https://www.notion.so{href}" if str(href).startswith("/") else str(href))


def _words(text: str) -> str:
    """Writes words. A backtick without its like is one that somebody wrote: it begins no code with another piece's.

    A backslash before a bar is a word as well; in a table it would be taken for what keeps the bar within its cell.
    """
    text = _BEFORE_BAR.sub(r"\1\1", text)
    return literal(text.replace("`", "\\`") if "`" in _PAIRED.sub("", text) else text)


def _code(words: str) -> str:
    """Writes code, each of its lines by itself: an empty one would end the paragraph, and the code with it."""
    return "\n".join(_line_of_code(line) if line.strip() else line for line in words.split("\n"))


def _line_of_code(words: str) -> str:
    mark = "``" if "`" in words else "`"
    pad = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{mark}{pad}{words}{pad}{mark}"


def title_of(page: Mapping[str, Any]) -> str:
    for value in (page.get("properties") or {}).values():
        if value.get("type") == "title":
            return " ".join(plain_text(value.get("title") or []).split()) or "Untitled"
    return " ".join(plain_text(page.get("title") or []).split()) or "Untitled"
