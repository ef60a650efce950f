"""Defines Slack's rules for the elements of blocks: buttons, menus, inputs, feedback."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bot.playground.block_rules import (
    Check,
    anything,
    choice,
    items,
    number,
    plain,
    problem,
    record,
    string,
    text,
)
from bot.playground.controls import CHOICES_OF, initial_field, offered_options


def image_has_source(image: dict[str, Any], pointer: str) -> Iterator[str]:
    if "slack_file" not in image and image.get("image_url") is None:
        yield problem("missing required field", f"{pointer}/image_url")


def _menu_has_options(menu: dict[str, Any], pointer: str) -> Iterator[str]:
    if "options" not in menu and "option_groups" not in menu:
        yield problem("missing required field", f"{pointer}/options")


def _initial_is_offered(menu: dict[str, Any], pointer: str) -> Iterator[str]:
    """Requires that what is chosen at first is among the options, letter by letter."""
    name = initial_field(menu["type"])
    initial = menu.get(name)
    if initial is None or initial == []:
        return
    options = offered_options(menu)
    if any(option not in options for option in (initial if isinstance(initial, list) else [initial])):
        yield problem(f"{name} is not one of the options", f"{pointer}/{name}")


def _positive(value: Any, pointer: str) -> Iterator[str]:
    if value < 1:
        yield problem("must be greater than 0", pointer)


def _element(
    required: Mapping[str, Check], optional: Mapping[str, Check], *also: Check, closed: bool = True
) -> Check:
    return record(
        {"type": anything, **required}, {"action_id": string(255), **optional}, *also, closed=closed
    )


def _options(most: int, *kinds: str) -> Check:
    described = text(75, *kinds)
    option = record({"text": described, "value": string(150)}, {"description": described, "url": anything})
    return items(option, most=most)


def _menu(kind: str, required: Mapping[str, Check], optional: Mapping[str, Check], *also: Check) -> Check:
    several = kind in CHOICES_OF
    return _element(
        required,
        {
            "confirm": _CONFIRM,
            "focus_on_load": anything,
            initial_field(kind): items(anything, most=100) if several else anything,
            **optional,
        },
        *also,
    )


def _selects(kind: str, optional: Mapping[str, Check], *also: Check) -> dict[str, Check]:
    """Returns the rules of a menu that takes one choice, and of its twin that takes several."""
    fields = {"placeholder": plain(150), **optional}
    several = fields | {"max_selected_items": _positive}
    return {
        kind: _menu(kind, {}, fields, *also),
        f"multi_{kind}": _menu(f"multi_{kind}", {}, several, *also),
    }


_CONFIRM = record(
    {"title": plain(100), "text": text(300), "confirm": plain(30), "deny": plain(30)},
    {"style": choice("primary", "danger")},
)

_ACCESSIBLE = {"accessibility_label": string(75)}
_BUTTON_TEXT = plain(75)
IMAGE_SOURCE = {"image_url": string(3000), "slack_file": anything}
_IMAGE = _element({"alt_text": string(2000)}, IMAGE_SOURCE, image_has_source)
_FEEDBACK = record({"text": _BUTTON_TEXT, "value": string(2000)}, _ACCESSIBLE)
_GROUPS = items(record({"label": plain(75), "options": _options(100, "plain_text")}), most=100)
_ANY_ELEMENT = _element({}, {}, closed=False)
_RESPONSE = {"response_url_enabled": anything}

_SELECTS = {
    **_selects(
        "static_select",
        {"options": _options(100, "plain_text"), "option_groups": _GROUPS},
        _menu_has_options,
        _initial_is_offered,
    ),
    **_selects("external_select", {"min_query_length": anything}),
    **_selects("users_select", {}),
    **_selects("channels_select", _RESPONSE),
    **_selects(
        "conversations_select",
        {**_RESPONSE, "filter": anything, "default_to_current_conversation": anything},
    ),
}
_MENUS = {
    **_SELECTS,
    **{
        kind: _menu(kind, {"options": _options(10)}, {}, _initial_is_offered)
        for kind in ("radio_buttons", "checkboxes")
    },
    "datepicker": _ANY_ELEMENT,
    "timepicker": _ANY_ELEMENT,
}
_BUTTONS = {
    "button": _element(
        {"text": _BUTTON_TEXT},
        {
            "value": string(2000, least=0),
            "url": string(3000),
            "style": choice("primary", "danger"),
            "confirm": _CONFIRM,
            **_ACCESSIBLE,
        },
    ),
    "overflow": _element({"options": _options(5, "plain_text")}, {}, closed=False),
}
IN_ACTIONS = (
    _BUTTONS
    | {"workflow_button": _ANY_ELEMENT}
    | {kind: rule for kind, rule in _MENUS.items() if not kind.startswith("multi_")}
)
IN_SECTION = _BUTTONS | _MENUS | {"image": _IMAGE}
IN_INPUT = _MENUS | {
    "plain_text_input": _element(
        {},
        {
            "placeholder": plain(150),
            "initial_value": string(3000),
            "min_length": number(0, 3000),
            "max_length": number(1, 3000),
            "multiline": anything,
            "dispatch_action_config": anything,
            "focus_on_load": anything,
        },
    ),
    **{f"{kind}_input": _ANY_ELEMENT for kind in ("number", "email_text", "url_text", "rich_text")},
}
IN_CONTEXT_ACTIONS = {
    "feedback_buttons": _element({"positive_button": _FEEDBACK, "negative_button": _FEEDBACK}, {}),
    "icon_button": _element({"icon": choice("trash"), "text": _BUTTON_TEXT}, {}, closed=False),
}
IN_CONTEXT = {"image": _IMAGE, "mrkdwn": text(3000), "plain_text": text(3000)}
