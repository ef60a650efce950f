"""Notion's rich text and property values as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_MARKS = (("code", "`"), ("bold", "**"), ("italic", "*"), ("strikethrough", "~~"))


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
    if not style.get("code"):
        core = core.replace("<", "&lt;")
    for name, mark in _MARKS:
        if style.get(name):
            core = f"{mark}{core}{mark}"
    href = piece.get("href")
    if href:
        address = f"https://www.notion.so{href}" if str(href).startswith("/") else str(href)
        core = f"[{core}]({address.replace(')', '%29')})"
    return f"{lead}{core}{tail}"


def title_of(page: Mapping[str, Any]) -> str:
    for value in (page.get("properties") or {}).values():
        if value.get("type") == "title":
            return " ".join(plain_text(value.get("title") or []).split()) or "Untitled"
    return " ".join(plain_text(page.get("title") or []).split()) or "Untitled"


def property_text(value: Mapping[str, Any]) -> str:
    """A database row's value for reading; empty for none, and for ids that say nothing to a reader."""
    kind = str(value.get("type", ""))
    held = value.get(kind)
    match kind:
        case "rich_text":
            return rich_text(held or [])
        case "select" | "status":
            return str((held or {}).get("name", ""))
        case "multi_select" | "people" | "files":
            return ", ".join(str(one["name"]) for one in held or [] if one.get("name"))
        case "number" | "url" | "email" | "phone_number":
            return "" if held is None else str(held)
        case "checkbox":
            return "yes" if held else "no"
        case "date":
            return " to ".join(str(held[end]) for end in ("start", "end") if held and held.get(end))
        case "unique_id":
            return "-".join(
                str(part)
                for part in ((held or {}).get("prefix"), (held or {}).get("number"))
                if part is not None
            )
        case "formula":
            return property_text(held) if held and held.get("type") in ("number", "date") else _scalar(held)
        case "rollup":
            entries = (held or {}).get("array") if held and held.get("type") == "array" else None
            return ", ".join(filter(None, map(property_text, entries))) if entries else _scalar(held)
        case _:
            return ""


def _scalar(held: Mapping[str, Any] | None) -> str:
    value = (held or {}).get(str((held or {}).get("type", "")))
    return str(value) if isinstance(value, str | int | float) else ""
