"""Notion's rich text as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ingest.sources.markup import around, linked, literal

_MARKS = (("bold", "**"), ("italic", "*"), ("strikethrough", "~~"))


def rich_text(pieces: Sequence[Mapping[str, Any]]) -> str:
    """Writes styled text with its links. Line breaks within it stay."""
    return "".join(_piece(piece) for piece in pieces)


def plain_text(pieces: Sequence[Mapping[str, Any]]) -> str:
    return "".join(str(piece.get("plain_text", "")) for piece in pieces)


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
    """Writes words. A backtick alone is one that somebody wrote: it begins no code with one of another piece."""
    return literal(text.replace("`", "\\`") if text.count("`") % 2 else text)


def _code(words: str) -> str:
    mark = "``" if "`" in words else "`"
    pad = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{mark}{pad}{words}{pad}{mark}"


def title_of(page: Mapping[str, Any]) -> str:
    for value in (page.get("properties") or {}).values():
        if value.get("type") == "title":
            return " ".join(plain_text(value.get("title") or []).split()) or "Untitled"
    return " ".join(plain_text(page.get("title") or []).split()) or "Untitled"
