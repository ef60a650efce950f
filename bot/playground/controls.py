"""Finds controls inside blocks, and builds what Slack sends the app when a person uses one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bot.playground.refusal import PlaygroundError

Block = dict[str, Any]

CHOICE_OF = {
    "static_select": "selected_option",
    "external_select": "selected_option",
    "radio_buttons": "selected_option",
    "overflow": "selected_option",
    "users_select": "selected_user",
    "channels_select": "selected_channel",
    "conversations_select": "selected_conversation",
    "datepicker": "selected_date",
    "timepicker": "selected_time",
}
"""The field in which Slack sends what was chosen, where it is one thing."""
CHOICES_OF = {
    "multi_static_select": "selected_options",
    "multi_external_select": "selected_options",
    "checkboxes": "selected_options",
    "multi_users_select": "selected_users",
    "multi_channels_select": "selected_channels",
    "multi_conversations_select": "selected_conversations",
}
TYPED = {"plain_text_input", "number_input", "email_text_input", "url_text_input"}
_INITIAL = {
    "selected_option": "initial_option",
    "selected_options": "initial_options",
    "selected_user": "initial_user",
    "selected_users": "initial_users",
    "selected_channel": "initial_channel",
    "selected_channels": "initial_channels",
    "selected_conversation": "initial_conversation",
    "selected_conversations": "initial_conversations",
    "selected_date": "initial_date",
    "selected_time": "initial_time",
}


def find_element(blocks: list[Block], action_id: str) -> tuple[Block, dict[str, Any]]:
    """The block and the element with this action id.

    Raises:
        PlaygroundError: there is none; the message names those that there are.
    """
    known: list[str] = []
    for block in blocks:
        for element in elements_of(block):
            if element.get("action_id") == action_id:
                return block, element
            known.append(str(element.get("action_id")))
    raise PlaygroundError(f"there is no control {action_id!r} here; there are: {', '.join(known) or 'none'}")


def acted(
    block: Block, element: dict[str, Any], value: str | list[str] | None, *, action_ts: str
) -> dict[str, Any]:
    """An entry of `actions` in a block_actions payload."""
    action: dict[str, Any] = {
        "type": element["type"],
        "action_id": element["action_id"],
        "block_id": block["block_id"],
        "action_ts": action_ts,
    }
    if element["type"] == "feedback_buttons":
        chosen = _feedback(element, value)
        return action | {"text": chosen["text"], "value": chosen["value"]}
    if element["type"] in CHOICE_OF or element["type"] in CHOICES_OF:
        return action | _held(element, value)
    for name in ("text", "value", "style", "url"):
        if name in element:
            action[name] = element[name]
    if value is not None and element["type"] != "button":
        action["value"] = value
    return action


def view_state(blocks: list[Block], values: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """`view.state`: what each control holds, typed or initial. `values`: block_id -> action_id -> value or values."""
    state: dict[str, dict[str, Any]] = {}
    for block in blocks:
        for element in elements_of(block):
            if not _holds(element):
                continue
            given = values.get(block["block_id"], {})
            typed = given.get(element["action_id"]) if element["action_id"] in given else _INITIALLY
            state.setdefault(block["block_id"], {})[element["action_id"]] = _held(element, typed)
    return {"values": state}


def elements_of(block: Block) -> Iterator[dict[str, Any]]:
    for one in (block.get("accessory"), block.get("element"), *block.get("elements", [])):
        if isinstance(one, dict) and "action_id" in one:
            yield one


_INITIALLY = object()
"""Nobody has touched the control."""


def _holds(element: dict[str, Any]) -> bool:
    kind = element["type"]
    return kind in TYPED or kind in CHOICES_OF or (kind in CHOICE_OF and kind != "overflow")


def _held(element: dict[str, Any], given: Any) -> dict[str, Any]:
    kind = element["type"]
    name = CHOICE_OF.get(kind) or CHOICES_OF.get(kind) or "value"
    told = {"type": kind}
    if given is _INITIALLY:
        empty: Any = [] if kind in CHOICES_OF else None
        return told | {name: element.get(_INITIAL.get(name, "initial_value"), empty)}
    if kind in CHOICES_OF:
        wanted = [str(one) for one in (given if isinstance(given, list) else [given] if given else [])]
        most = element.get("max_selected_items")
        if most is not None and len(wanted) > most:
            raise PlaygroundError(f"no more than {most} can be chosen here")
        return told | {
            name: [_option(element, one) for one in wanted] if name.endswith("options") else wanted
        }
    if kind in CHOICE_OF:
        if given in (None, "") and kind != "overflow":
            return told | {name: None}
        return told | {name: _option(element, given) if name == "selected_option" else given}
    return told | {name: given}


def _feedback(element: dict[str, Any], value: str | list[str] | None) -> dict[str, Any]:
    buttons: list[dict[str, Any]] = [element["positive_button"], element["negative_button"]]
    for button in buttons:
        if button["value"] == value:
            return button
    raise PlaygroundError(f"feedback is one of {buttons[0]['value']!r} and {buttons[1]['value']!r}")


def _option(element: dict[str, Any], value: str | list[str] | None) -> dict[str, Any]:
    groups = element.get("option_groups", [])
    options: list[dict[str, Any]] = [
        *element.get("options", []),
        *(option for group in groups for option in group["options"]),
    ]
    for option in options:
        if option["value"] == value:
            return option
    raise PlaygroundError(f"there is no option {value!r}")
