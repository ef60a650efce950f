"""Extracts the text of Slack's blocks as lines of mrkdwn, without buttons, inputs and pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bot.rendering.mrkdwn import escape, unescape

_SPOKEN = frozenset({"header", "section", "context", "markdown", "video", "alert"})


def block_lines(block: Mapping[str, Any]) -> list[str]:
    """Extracts the lines of one block; [] for one that says nothing, or that has not the form that we know."""
    kind = block.get("type")
    if kind == "rich_text":
        lines = list(_rich_lines(block))
    elif kind == "table":
        lines = [" | ".join(map(_cell, _dicts(row))) for row in _lists(block.get("rows"))]
    elif kind in _SPOKEN:
        lines = [
            *_texts(block),
            *(text for element in _dicts(block.get("elements")) for text in _texts(element)),
        ]
    else:
        lines = []
    return [line for text in lines for line in text.splitlines() if line.strip()]


def _texts(block: Mapping[str, Any]) -> Iterator[str]:
    """Yields a text object's text, a block's text and its fields."""
    for part in (block.get("title"), block.get("text"), *_list(block.get("fields"))):
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str):
            yield text


def _rich_lines(block: Mapping[str, Any]) -> Iterator[str]:
    for element in _dicts(block.get("elements")):
        if element.get("type") == "rich_text_list":
            yield from map(_rich_text, _dicts(element.get("elements")))
        else:
            yield _rich_text(element)


def _cell(cell: Mapping[str, Any]) -> str:
    if cell.get("type") == "rich_text":
        return " ".join(_rich_lines(cell))
    text = cell.get("text")
    return _escaped(text) if isinstance(text, str) else ""


def _rich_text(section: Mapping[str, Any]) -> str:
    return "".join(map(_leaf, _dicts(section.get("elements"))))


def _leaf(leaf: Mapping[str, Any]) -> str:
    """Writes a leaf as Slack does in a message's text."""
    match leaf.get("type"):
        case "link":
            url, label = str(leaf.get("url", "")), leaf.get("text")
            return f"<{url}|{_escaped(str(label))}>" if label else f"<{url}>"
        case "user":
            return f"<@{leaf.get('user_id', '')}>"
        case "usergroup":
            return f"<!subteam^{leaf.get('usergroup_id', '')}>"
        case "channel":
            return f"<#{leaf.get('channel_id', '')}>"
        case "broadcast":
            return f"<!{leaf.get('range', '')}>"
        case "emoji":
            return f":{leaf.get('name', '')}:"
        case "date":
            return _escaped(str(leaf.get("fallback") or ""))
        case _:
            text = leaf.get("text")
            return _escaped(text) if isinstance(text, str) else ""


def _escaped(text: str) -> str:
    """Escapes a leaf's text, which Slack shows both ways, escaped and not."""
    return escape(unescape(text))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _lists(value: Any) -> list[list[Any]]:
    return [item for item in _list(value) if isinstance(item, list)]


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in _list(value) if isinstance(item, dict)]
