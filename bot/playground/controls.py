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
_FIELDS = CHOICE_OF | CHOICES_OF


def initial_field(kind: str) -> str:
    """Returns the field of a control that says what it holds before anybody touches it."""
    return _FIELDS[kind].replace("selected", "initial") if kind in _FIELDS else "initial_value"


def offered_options(element: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the options of a menu, whether they stand in groups or not."""
    groups = element.get("option_groups", [])
    return [option for group in (element, *groups) for option in group.get("options", [])]


def find_element(blocks: list[Block], action_id: str) -> tuple[Block, dict[str, Any]]:
    """Returns the block and the element with this action id.

    Raises:
        PlaygroundError: there is none; the message names those that there are.
    """
    action_ids: list[str] = []
    for block in blocks:
        for element in elements_of(block):
            if element.get("action_id") == action_id:
                return block, element
            action_ids.append(str(element.get("action_id")))
    raise PlaygroundError(
        f"there is no control {action_id!r} here; there are: {', '.join(action_ids) or 'none'}"
    )


def acted(
    block: Block, element: dict[str, Any], value: str | list[str] | None, *, action_ts: str
) -> dict[str, Any]:
    """Builds an entry of `actions` in a block_actions payload."""
    action: dict[str, Any] = {
        "type": element["type"],
        "action_id": element["action_id"],
        "block_id": block["block_id"],
        "action_ts": action_ts,
    }
    if element["type"] == "feedback_buttons":
        chosen = _feedback(element, value)
        return action | {"text": chosen["text"], "value": chosen["value"]}
    if element["type"] in _FIELDS:
        return action | _held(element, value)
    for name in ("text", "value", "style", "url"):
        if name in element:
            action[name] = element[name]
    if value is not None and element["type"] != "button":
        action["value"] = value
    return action


def view_state(blocks: list[Block], values: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Builds `view.state`: what each control holds. `values`: what was typed, by block_id and action_id."""
    state: dict[str, dict[str, Any]] = {}
    for block in blocks:
        for element in elements_of(block):
            if not _holds(element):
                continue
            block_id, action_id = block["block_id"], element["action_id"]
            given = values.get(block_id, {}).get(action_id, _INITIALLY)
            state.setdefault(block_id, {})[action_id] = _held(element, given)
    return {"values": state}


def elements_of(block: Block) -> Iterator[dict[str, Any]]:
    for element in (block.get("accessory"), block.get("element"), *block.get("elements", [])):
        if isinstance(element, dict) and "action_id" in element:
            yield element


_INITIALLY = object()
"""Stands for a control that nobody has touched."""


def _holds(element: dict[str, Any]) -> bool:
    kind = element["type"]
    return kind in TYPED or (kind in _FIELDS and kind != "overflow")


def _held(element: dict[str, Any], given: Any) -> dict[str, Any]:
    kind = element["type"]
    name = _FIELDS.get(kind, "value")
    if given is _INITIALLY:
        value = element.get(initial_field(kind), [] if kind in CHOICES_OF else None)
    elif kind in CHOICES_OF:
        value = _chosen(element, given, are_options=name == "selected_options")
    elif kind in CHOICE_OF and given in (None, "") and kind != "overflow":
        value = None
    else:
        value = _option(element, given) if name == "selected_option" else given
    return {"type": kind, name: value}


def _chosen(element: dict[str, Any], given: Any, *, are_options: bool) -> list[Any]:
    values = [str(value) for value in (given if isinstance(given, list) else [given] if given else [])]
    most = element.get("max_selected_items", len(values))
    if len(values) > most:
        raise PlaygroundError(f"no more than {most} can be chosen here")
    return [_option(element, value) for value in values] if are_options else values


def _feedback(element: dict[str, Any], value: str | list[str] | None) -> dict[str, Any]:
    buttons: list[dict[str, Any]] = [element["positive_button"], element["negative_button"]]
    for button in buttons:
        if button["value"] == value:
            return button
    raise PlaygroundError(f"feedback is one of {buttons[0]['value']!r} and {buttons[1]['value']!r}")


def _option(element: dict[str, Any], value: str | list[str] | None) -> dict[str, Any]:
    for option in offered_options(element):
        if option["value"] == value:
            return option
    raise PlaygroundError(f"there is no option {value!r}")
