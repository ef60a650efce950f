"""Notion's rich text as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ingest.sources.markup import literal

_MARKS = (("bold", "**"), ("italic", "*"), ("strikethrough", "~~"))


def rich_text(pieces: Sequence[Mapping[str, Any]]) -> str:
    """Styled text with its links. Line breaks within it stay."""
    return "".join(_piece(piece) for piece in pieces)


def plain_text(pieces: Sequence[Mapping[str, Any]]) -> str:
    return "".join(str(piece.get("plain_text", "")) for piece in pieces)


def _piece(piece: Mapping[str, Any]) -> str:
    text = str(piece.get("plain_text", ""))
    if piece.get("type") == "equation":
        return f"${text}$"
    core = text.strip()
    if not core:
        return text
    lead, tail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    style = piece.get("annotations") or {}
    core = _code(core) if style.get("code") else _words(core)
    for name, mark in _MARKS:
        if style.get(name):
            core = f"{mark}{core}{mark}"
    href = piece.get("href")
    if href:
        address = f"https://www.notion.so{href}" if str(href).startswith("/") else str(href)
        core = f"[{core}]({address.replace(')', '%29')})"
    return f"{lead}{core}{tail}"


def _words(text: str) -> str:
    """A backtick alone is one that somebody wrote: it begins no code with one of another piece."""
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
