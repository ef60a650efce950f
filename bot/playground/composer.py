"""Composes a message from typed text as Slack does: mentions, channel links, addresses, escapes."""

from __future__ import annotations

import re
from typing import Any

from bot.playground.workspace import Workspace
from bot.rendering.mrkdwn import escape, unescape

_ADDRESS = re.compile(r"https?://[^\s<>|]+[^\s<>|.,;:!?)\]'\"]")
_READY = re.compile(
    r"<(?:@[UW][A-Z0-9]+|#[CG][A-Z0-9]+(?:\|[^>]*)?|![a-z]+|https?://[^<>\s|]+(?:\|[^<>]*)?)>"
)
_ENTITY = re.compile(r"<([@#!]?)([^>|]+)(?:\|([^>]*))?>")


def compose(typed: str, workspace: Workspace, channels: dict[str, str]) -> str:
    """Returns the `text` of a message from what was typed. `channels`: name -> id.

    `@alice`, `@Alice Anderson` and `@footnote` become `<@ID>`, `#general` becomes `<#ID>`, `@here` `<!here>`, a bare
    address `<address>`; entities that are already written out stay. Everything else is escaped.
    """
    names = _names(workspace, channels)
    ordered = sorted(names, key=len, reverse=True)
    name = r"(?<![\w@#.])(?:" + "|".join(map(re.escape, ordered)) + r")(?![\w-])"
    token = re.compile(
        f"(?P<ready>{_READY.pattern})|(?P<address>{_ADDRESS.pattern})|(?P<name>{name})", re.IGNORECASE
    )
    parts: list[str] = []
    position = 0
    for found in token.finditer(typed):
        parts.append(escape(typed[position : found.start()]))
        if found["ready"]:
            parts.append(found["ready"])
        elif found["address"]:
            parts.append(f"<{found['address'].replace('&', '&amp;')}>")
        else:
            parts.append(names[found["name"].lower()])
        position = found.end()
    parts.append(escape(typed[position:]))
    return "".join(parts)


def rich_text(text: str) -> dict[str, Any]:
    """Returns the rich_text block that Slack's client sends along with a typed message."""
    elements: list[dict[str, Any]] = []
    position = 0
    for found in _ENTITY.finditer(text):
        if found.start() > position:
            elements.append({"type": "text", "text": unescape(text[position : found.start()])})
        elements.append(_element(found[1], found[2]))
        position = found.end()
    if position < len(text):
        elements.append({"type": "text", "text": unescape(text[position:])})
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}


def mentions(text: str, user_id: str) -> bool:
    return re.search(rf"<@{re.escape(user_id)}(?:\|[^>]*)?>", text) is not None


def _names(workspace: Workspace, channels: dict[str, str]) -> dict[str, str]:
    names = {f"@{word}": f"<!{word}>" for word in ("here", "channel", "everyone")}
    for person in workspace.everyone():
        names[f"@{person.name}".lower()] = f"<@{person.id}>"
        names[f"@{person.real_name}".lower()] = f"<@{person.id}>"
    for name, channel_id in channels.items():
        names[f"#{name}".lower()] = f"<#{channel_id}>"
    return names


def _element(sigil: str, body: str) -> dict[str, Any]:
    if sigil == "@":
        return {"type": "user", "user_id": body}
    if sigil == "#":
        return {"type": "channel", "channel_id": body}
    if sigil == "!":
        return {"type": "broadcast", "range": body}
    return {"type": "link", "url": unescape(body)}
