"""Builds modals and their input blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bot.messages.catalog import Messages
from bot.rendering.layout import Block, label, shorten

TITLE_CHARACTERS = 24
OPTION_CHARACTERS = 75


def modal(
    title: str,
    blocks: Sequence[Block],
    messages: Messages,
    *,
    callback: str = "",
    metadata: str = "",
    submit: str = "",
) -> dict[str, Any]:
    """Returns a dialog. `submit`: the label of the button that sends it; "" for one that is only read."""
    sent = {"callback_id": callback, "private_metadata": metadata, "submit": label(submit)} if submit else {}
    return {
        "type": "modal",
        "title": label(shorten(title, TITLE_CHARACTERS)),
        "close": label(messages.close),
        "blocks": list(blocks),
        **sent,
    }


def field(
    name: str, wording: str, element: dict[str, Any], *, hint: str = "", optional: bool = False
) -> Block:
    """Returns an input block and its element, both called `name`."""
    return {
        "type": "input",
        "block_id": name,
        "label": label(wording),
        "element": {"action_id": name, **element},
        **({"hint": label(hint)} if hint else {}),
        **({"optional": True} if optional else {}),
    }


def text_input(most: int, *, initial: str = "") -> dict[str, Any]:
    """Returns an element of several lines and at most `most` characters."""
    element = {"type": "plain_text_input", "multiline": True, "max_length": most}
    return element | {"initial_value": initial[:most]} if initial else element


def choice(choices: Mapping[str, str], *, initial: str | None = None, menu: bool = False) -> dict[str, Any]:
    """Returns an element that takes one of the choices (value -> label), as radio buttons or as a menu."""
    element = {"type": "static_select" if menu else "radio_buttons", "options": options(choices)}
    if initial is None:
        return element
    return element | {"initial_option": options({initial: choices[initial]})[0]}


def options(choices: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {"text": label(shorten(text, OPTION_CHARACTERS)), "value": value} for value, text in choices.items()
    ]
