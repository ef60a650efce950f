"""Checks the elements of blocks by Slack's rules: buttons, menus, inputs, feedback."""

from __future__ import annotations

from typing import Any

from bot.playground.block_rules import BUTTON_TEXT, BUTTON_VALUE, MAX_ACTION_ID, MAX_URL, Problems
from bot.playground.controls import CHOICE_OF, CHOICES_OF

SELECTS = {f"{kind}_select" for kind in ("static", "external", "users", "channels", "conversations")}
MULTI_SELECTS = {f"multi_{kind}" for kind in SELECTS}
BOXES = {"radio_buttons", "checkboxes"}
MENUS = {*SELECTS, *MULTI_SELECTS, *BOXES, "datepicker", "timepicker"}
IN_ACTIONS = {"button", "overflow", "workflow_button", *(MENUS - MULTI_SELECTS)}
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
    elif kind in BOXES:
        problems.keys(element, pointer, _BOX_KEYS | {_initial(element)})
        _options(problems, element, pointer, most=10, rich=True)
        _check_initial(problems, element, pointer)
    elif kind in SELECTS | MULTI_SELECTS:
        _select(problems, element, pointer)
    elif kind == "image":
        image(problems, element, pointer)
    elif kind == "plain_text_input":
        _plain_text_input(problems, element, pointer)


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


def _plain_text_input(problems: Problems, element: dict[str, Any], pointer: str) -> None:
    problems.keys(element, pointer, _TEXT_KEYS)
    problems.plain(element.get("placeholder"), f"{pointer}/placeholder", most=150, required=False)
    problems.string(element.get("initial_value"), f"{pointer}/initial_value", most=3000, required=False)
    for name, least in (("min_length", 0), ("max_length", 1)):
        if name in element and not least <= element[name] <= 3000:
            problems.add(f"must be between {least} and 3000", f"{pointer}/{name}")


def _select(problems: Problems, element: dict[str, Any], pointer: str) -> None:
    kind = str(element["type"])
    known = _SELECT_KEYS | {_initial(element)} | _MORE_KEYS.get(kind.removeprefix("multi_"), set())
    problems.keys(element, pointer, known | ({"max_selected_items"} if kind in MULTI_SELECTS else set()))
    problems.plain(element.get("placeholder"), f"{pointer}/placeholder", most=150, required=False)
    if element.get("max_selected_items", 1) < 1:
        problems.add("must be greater than 0", f"{pointer}/max_selected_items")
    if not kind.endswith("static_select"):
        return
    if "option_groups" in element:
        groups = problems.items(element["option_groups"], f"{pointer}/option_groups", most=100)
        for number, group in enumerate(groups):
            place = f"{pointer}/option_groups/{number}"
            problems.plain(group.get("label"), f"{place}/label", most=75)
            _options(problems, group, place, most=100)
    else:
        _options(problems, element, pointer, most=100)
    _check_initial(problems, element, pointer)


def _options(
    problems: Problems, element: dict[str, Any], pointer: str, *, most: int, rich: bool = False
) -> None:
    """`rich`: the texts may be mrkdwn, as beside a box to tick."""
    kinds = ("mrkdwn", "plain_text") if rich else ("plain_text",)
    for number, option in enumerate(problems.items(element.get("options"), f"{pointer}/options", most=most)):
        place = f"{pointer}/options/{number}"
        if not isinstance(option, dict):
            problems.add("must be an object", place)
            continue
        problems.keys(option, place, {"text", "value", "description", "url"})
        problems.text(option.get("text"), f"{place}/text", most=75, kinds=kinds)
        problems.string(option.get("value"), f"{place}/value", most=150)
        problems.text(option.get("description"), f"{place}/description", most=75, kinds=kinds, required=False)


def _check_initial(problems: Problems, element: dict[str, Any], pointer: str) -> None:
    """What is chosen at first must be among the options, letter by letter."""
    name = _initial(element)
    if name not in element:
        return
    groups = element.get("option_groups", [])
    options = [
        *element.get("options", []),
        *(option for group in groups for option in group.get("options", [])),
    ]
    chosen = element[name] if name.endswith("s") else [element[name]]
    if name.endswith("s") and not problems.items(chosen, f"{pointer}/{name}", most=100):
        return
    if any(one not in options for one in chosen):
        problems.add(f"{name} is not one of the options", f"{pointer}/{name}")


def _initial(element: dict[str, Any]) -> str:
    kind = str(element["type"])
    name = CHOICES_OF.get(kind) or CHOICE_OF.get(kind, "")
    return name.replace("selected", "initial")


_COMMON = {"type", "action_id", "confirm", "focus_on_load"}
_BOX_KEYS = _COMMON | {"options"}
_SELECT_KEYS = _COMMON | {"placeholder"}
_TEXT_KEYS = {
    "type",
    "action_id",
    "initial_value",
    "multiline",
    "min_length",
    "max_length",
    "dispatch_action_config",
    "focus_on_load",
    "placeholder",
}
_MORE_KEYS = {
    "static_select": {"options", "option_groups"},
    "external_select": {"min_query_length"},
    "users_select": set[str](),
    "channels_select": {"response_url_enabled"},
    "conversations_select": {"response_url_enabled", "filter", "default_to_current_conversation"},
}
