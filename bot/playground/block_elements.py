"""Slack's rules for the elements inside blocks: buttons, menus, inputs, feedback."""

from __future__ import annotations

from typing import Any

from bot.playground.block_rules import BUTTON_TEXT, BUTTON_VALUE, MAX_ACTION_ID, MAX_URL, Problems

MENUS = {
    "checkboxes",
    "conversations_select",
    "channels_select",
    "datepicker",
    "external_select",
    "multi_static_select",
    "multi_users_select",
    "radio_buttons",
    "static_select",
    "timepicker",
    "users_select",
}
IN_ACTIONS = {"button", "overflow", "workflow_button", *MENUS}
IN_SECTION = {"button", "image", "overflow", *MENUS}
IN_INPUT = {
    "plain_text_input",
    "number_input",
    "email_text_input",
    "url_text_input",
    "rich_text_input",
    *MENUS,
}
IN_CONTEXT_ACTIONS = {"feedback_buttons", "icon_button"}


def check_elements(problems: Problems, elements: list[Any], pointer: str, allowed: set[str]) -> None:
    """Elements of one block; their action ids must differ."""
    used: set[str] = set()
    for number, element in enumerate(elements):
        place = f"{pointer}/{number}"
        check_element(problems, element, place, allowed)
        action_id = element.get("action_id") if isinstance(element, dict) else None
        if action_id is not None and action_id in used:
            problems.add(f"`action_id` {action_id!r} already exists in this block", f"{place}/action_id")
        used.add(str(action_id))


def check_element(problems: Problems, element: Any, pointer: str, allowed: set[str]) -> None:
    if not isinstance(element, dict):
        problems.add("must be an object", pointer)
        return
    kind = element.get("type")
    if kind not in allowed:
        problems.add(f"unsupported type: {kind}", f"{pointer}/type")
        return
    problems.string(element.get("action_id"), f"{pointer}/action_id", most=MAX_ACTION_ID, required=False)
    if kind == "button":
        _button(problems, element, pointer)
    elif kind == "feedback_buttons":
        _feedback(problems, element, pointer)
    elif kind == "icon_button":
        problems.choice(element.get("icon", ""), f"{pointer}/icon", ("trash",))
        problems.plain(element.get("text"), f"{pointer}/text", most=BUTTON_TEXT)
    elif kind == "overflow":
        _options(problems, element, pointer, most=5)
    elif kind in ("static_select", "multi_static_select", "radio_buttons", "checkboxes"):
        _options(problems, element, pointer, most=100 if kind.endswith("select") else 10)
    elif kind == "image":
        image(problems, element, pointer)
    elif kind == "plain_text_input":
        problems.plain(element.get("placeholder"), f"{pointer}/placeholder", most=150, required=False)
        problems.string(element.get("initial_value"), f"{pointer}/initial_value", most=3000, required=False)


def image(problems: Problems, element: dict[str, Any], pointer: str) -> None:
    if "slack_file" not in element:
        problems.string(element.get("image_url"), f"{pointer}/image_url", most=MAX_URL)
    problems.string(element.get("alt_text"), f"{pointer}/alt_text", most=2000)


def _button(problems: Problems, element: dict[str, Any], pointer: str) -> None:
    known = {"type", "text", "action_id", "url", "value", "style", "confirm", "accessibility_label"}
    problems.keys(element, pointer, known)
    problems.plain(element.get("text"), f"{pointer}/text", most=BUTTON_TEXT)
    problems.string(element.get("value"), f"{pointer}/value", most=BUTTON_VALUE, least=0, required=False)
    problems.string(element.get("url"), f"{pointer}/url", most=MAX_URL, required=False)
    label = element.get("accessibility_label")
    problems.string(label, f"{pointer}/accessibility_label", most=75, required=False)
    problems.choice(element.get("style"), f"{pointer}/style", ("primary", "danger"))
    confirm = element.get("confirm")
    if isinstance(confirm, dict):
        problems.plain(confirm.get("title"), f"{pointer}/confirm/title", most=100)
        problems.text(confirm.get("text"), f"{pointer}/confirm/text", most=300)
        problems.plain(confirm.get("confirm"), f"{pointer}/confirm/confirm", most=30)
        problems.plain(confirm.get("deny"), f"{pointer}/confirm/deny", most=30)


def _feedback(problems: Problems, element: dict[str, Any], pointer: str) -> None:
    problems.keys(element, pointer, {"type", "action_id", "positive_button", "negative_button"})
    for name in ("positive_button", "negative_button"):
        button = element.get(name)
        place = f"{pointer}/{name}"
        if not isinstance(button, dict):
            problems.add("missing required field", place)
            continue
        problems.keys(button, place, {"text", "value", "accessibility_label"})
        problems.plain(button.get("text"), f"{place}/text", most=BUTTON_TEXT)
        problems.string(button.get("value"), f"{place}/value", most=BUTTON_VALUE)
        label = button.get("accessibility_label")
        problems.string(label, f"{place}/accessibility_label", most=75, required=False)


def _options(problems: Problems, element: dict[str, Any], pointer: str, *, most: int) -> None:
    if "option_groups" in element:
        return
    for number, option in enumerate(problems.items(element.get("options"), f"{pointer}/options", most=most)):
        place = f"{pointer}/options/{number}"
        if not isinstance(option, dict):
            problems.add("must be an object", place)
            continue
        problems.text(option.get("text"), f"{place}/text", most=75)
        problems.string(option.get("value"), f"{place}/value", most=150)
