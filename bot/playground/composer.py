"""Composes a message from typed text as Slack does: mentions, channel links, addresses, escapes."""

from __future__ import annotations

import re
from typing import Any

from bot.playground.workspace import Workspace
from bot.rendering.mrkdwn import escape, unescape

_ADDRESS = r"https?://[^\s<>|]+[^\s<>|.,;:!?)\]'\"]"
_READY = r"<(?:@[UW][A-Z0-9]+|#[CG][A-Z0-9]+(?:\|[^>]*)?|![a-z]+|https?://[^<>\s|]+(?:\|[^<>]*)?)>"
_ENTITY = re.compile(r"(<[^>|]+(?:\|[^>]*)?>)")


def compose(typed: str, workspace: Workspace, channels: dict[str, str]) -> str:
    """Returns the `text` of a message from what was typed. `channels`: name -> id.

    `@alice`, `@Alice Anderson` and `@footnote` become `<@ID>`, `#general` becomes `<#ID>`, `@here` `<!here>`, a bare
    address `<address>`; entities that are already written out stay. Everything else is escaped.
    """
    names = _names(workspace, channels)
    ordered = sorted(names, key=len, reverse=True)
    name = r"(?<![\w@#.])(?:" + "|".join(map(re.escape, ordered)) + r")(?![\w-])"
    token = re.compile(f"({_READY}|{_ADDRESS}|{name})", re.IGNORECASE)

    def spelled(part: str) -> str:
        if part.startswith("<"):
            return part
        return names.get(part.lower()) or f"<{part.replace('&', '&amp;')}>"

    parts = token.split(typed)  # odd places are tokens, even ones text
    return "".join(spelled(part) if number % 2 else escape(part) for number, part in enumerate(parts))


def rich_text(text: str) -> dict[str, Any]:
    """Returns the rich_text block that Slack's client sends along with a typed message."""
    elements = [_element(part) for part in _ENTITY.split(text) if part]
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


def _element(part: str) -> dict[str, Any]:
    if not _ENTITY.fullmatch(part):
        return {"type": "text", "text": unescape(part)}
    body = part[1:-1].partition("|")[0]
    if body.startswith("@"):
        return {"type": "user", "user_id": body[1:]}
    if body.startswith("#"):
        return {"type": "channel", "channel_id": body[1:]}
    if body.startswith("!"):
        return {"type": "broadcast", "range": body[1:]}
    return {"type": "link", "url": unescape(body)}
