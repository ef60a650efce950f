"""Controls inside blocks: finding one, and what Slack tells the app when a person has used it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bot.playground.refusal import PlaygroundError

Block = dict[str, Any]


def find_element(blocks: list[Block], action_id: str) -> tuple[Block, dict[str, Any]]:
    """The block and the element with this action id.

    Raises:
        PlaygroundError: there is none; the message names those that there are.
    """
    known: list[str] = []
    for block in blocks:
        for element in _elements(block):
            if element.get("action_id") == action_id:
                return block, element
            known.append(str(element.get("action_id")))
    raise PlaygroundError(f"there is no control {action_id!r} here; there are: {', '.join(known) or 'none'}")


def acted(block: Block, element: dict[str, Any], value: str | None, *, action_ts: str) -> dict[str, Any]:
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
    if "options" in element:
        return action | {"selected_option": _option(element, value)}
    for name in ("text", "value", "style", "url"):
        if name in element:
            action[name] = element[name]
    if value is not None and element["type"] != "button":
        action["value"] = value
    return action


def view_state(blocks: list[Block], values: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """`view.state` of a submission: what each input holds, typed or initial."""
    state: dict[str, dict[str, Any]] = {}
    for block in blocks:
        if block.get("type") != "input":
            continue
        element = block["element"]
        typed = values.get(block["block_id"], {}).get(element["action_id"])
        state[block["block_id"]] = {element["action_id"]: _held(element, typed)}
    return {"values": state}


def _held(element: dict[str, Any], typed: Any) -> dict[str, Any]:
    if "options" in element:
        chosen = _option(element, str(typed)) if typed is not None else element.get("initial_option")
        return {"type": element["type"], "selected_option": chosen}
    return {"type": element["type"], "value": element.get("initial_value") if typed is None else typed}


def _elements(block: Block) -> Iterator[dict[str, Any]]:
    for one in (block.get("accessory"), block.get("element"), *block.get("elements", [])):
        if isinstance(one, dict) and "action_id" in one:
            yield one


def _feedback(element: dict[str, Any], value: str | None) -> dict[str, Any]:
    buttons: list[dict[str, Any]] = [element["positive_button"], element["negative_button"]]
    for button in buttons:
        if button["value"] == value:
            return button
    raise PlaygroundError(f"feedback is one of {buttons[0]['value']!r} and {buttons[1]['value']!r}")


def _option(element: dict[str, Any], value: str | None) -> dict[str, Any]:
    options: list[dict[str, Any]] = element["options"]
    for option in options:
        if option["value"] == value:
            return option
    raise PlaygroundError(f"there is no option {value!r}")
