"""Slack's blocks as its mrkdwn: what a reader of a message sees in them, without buttons and fields to fill in."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import Any

from ingest.parsers.grids import table
from ingest.parsers.pictures import description
from ingest.sources.markup import around

_STYLES = (("strike", "~"), ("italic", "_"), ("bold", "*"))


def blocks_text(blocks: Any) -> str:
    """Writes the blocks as mrkdwn, one below the other. Blocks of an unknown form say nothing."""
    return "\n\n".join(text for block in dicts(blocks) for text in _block(block) if text.strip())


def _block(block: Mapping[str, Any]) -> Iterator[str]:
    match block.get("type"):
        case "rich_text":
            yield _rich_text(block)
        case "table":
            rows = block.get("rows")
            cells = [[_cell(cell) for cell in dicts(row)] for row in (rows if isinstance(rows, list) else [])]
            yield table(cells) if cells else ""
        case "header" | "section" | "context" | "markdown" | "video" | "alert" | "card":
            texts = [
                *_texts(block),
                *(text for element in dicts(block.get("elements")) for text in _texts(element)),
            ]
            yield "\n".join(texts)
        case "image":
            title = " ".join(_texts({"title": block.get("title")}))
            yield title or description(str(block.get("alt_text") or ""))
        case _:
            return


def _texts(block: Mapping[str, Any]) -> Iterator[str]:
    """Yields a text object's text, a block's text and its fields."""
    fields = block.get("fields")
    for part in (block.get("title"), block.get("text"), *(fields if isinstance(fields, list) else [])):
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str) and text.strip():
            yield text


def _rich_text(block: Mapping[str, Any]) -> str:
    """Writes the elements below each other; the items of lists that follow each other are one list."""
    written, was_list = "", False
    for element in dicts(block.get("elements")):
        is_list = element.get("type") == "rich_text_list"
        text = _element(element)
        if text.strip():
            written += ("\n" if is_list and was_list else "\n\n" if written else "") + text
            was_list = is_list
    return written


def _element(element: Mapping[str, Any]) -> str:
    match element.get("type"):
        case "rich_text_list":
            return "\n".join(_items(element))
        case "rich_text_quote":
            return "\n".join(f"&gt; {line}" for line in _leaves(element).split("\n"))
        case "rich_text_preformatted":
            return f"```{''.join(map(_code, dicts(element.get('elements'))))}```"
        case _:
            return _leaves(element)


def _items(found: Mapping[str, Any]) -> Iterator[str]:
    indent = found.get("indent")
    pad = "    " * (indent if isinstance(indent, int) else 0)
    offset = found.get("offset")
    first = 1 + (offset if isinstance(offset, int) else 0)
    for number, item in enumerate(dicts(found.get("elements")), first):
        mark = f"{number}." if found.get("style") == "ordered" else "•"
        yield f"{pad}{mark} {_leaves(item)}"


def _cell(cell: Mapping[str, Any]) -> str:
    text = cell.get("text")
    written = _rich_text(cell) if cell.get("type") == "rich_text" else _escaped(str(text or ""))
    return " ".join(written.split()).replace("|", "\\|")


def _leaves(section: Mapping[str, Any]) -> str:
    return "".join(_styled(leaf) for leaf in dicts(section.get("elements")))


def _styled(leaf: Mapping[str, Any]) -> str:
    text, style = _leaf(leaf), leaf.get("style")
    if not isinstance(style, dict) or "\n" in text.strip():
        return text
    marks = "`" if style.get("code") else "".join(mark for name, mark in _STYLES if style.get(name))
    return around(text, lambda words: f"{marks[::-1]}{words}{marks}")


def _leaf(leaf: Mapping[str, Any]) -> str:
    match leaf.get("type"):
        case "link":
            url, label = str(leaf.get("url", "")), leaf.get("text")
            return f"<{_escaped(url)}|{_escaped(str(label))}>" if label else f"<{_escaped(url)}>"
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
            return _escaped(str(leaf.get("text") or ""))


def _code(leaf: Mapping[str, Any]) -> str:
    text = leaf.get("text") or leaf.get("url")
    return _escaped(str(text)) if text else _leaf(leaf)


def _escaped(text: str) -> str:
    """Escapes a text as in a message. Slack shows leaves both ways, escaped and not."""
    return html.escape(html.unescape(text), quote=False)


def dicts(value: Any) -> list[dict[str, Any]]:
    """Returns the objects of a list of an export; none of what is no list."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
