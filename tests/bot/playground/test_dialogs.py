"""Menus, boxes and fields of a dialog: what Slack refuses, and what it tells the app that a person chose."""

from __future__ import annotations

from typing import Any

import pytest

from bot.playground.block_kit import check_message_blocks, check_view
from bot.playground.controls import acted, view_state
from bot.playground.refusal import PlaygroundError, Refused


def plain(text: str = "text") -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def option(value: str, text: str | None = None) -> dict[str, Any]:
    return {"text": plain(text or value), "value": value}


ONE, TWO, THREE = option("1"), option("2"), option("3")


def element(kind: str, **more: Any) -> dict[str, Any]:
    options = {} if kind.endswith("_input") or "options" in more else {"options": [ONE, TWO, THREE]}
    return {"type": kind, "action_id": "it", **options, **more}


def field(held: dict[str, Any], block_id: str = "b") -> dict[str, Any]:
    return {"type": "input", "block_id": block_id, "label": plain(), "element": held}


def modal(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"type": "modal", "title": plain(), "submit": plain(), "blocks": list(blocks)}


@pytest.mark.parametrize(
    "held",
    [
        element("static_select", placeholder=plain("x" * 150), initial_option=TWO),
        element("static_select", options=[option(str(number)) for number in range(100)]),
        {
            "type": "static_select",
            "action_id": "it",
            "option_groups": [{"label": plain(), "options": [ONE]}],
            "initial_option": ONE,
        },
        element("multi_static_select", initial_options=[ONE, THREE], max_selected_items=2),
        element("radio_buttons", initial_option=ONE, focus_on_load=True),
        element("checkboxes", initial_options=[ONE]),
        element("checkboxes", options=[{"text": {"type": "mrkdwn", "text": "*a*"}, "value": "a"}]),
        element("radio_buttons", options=[option("a") | {"description": plain("more")}]),
        element("plain_text_input", multiline=True, min_length=0, max_length=3000, initial_value="x"),
        {"type": "conversations_select", "action_id": "it", "default_to_current_conversation": True},
        {"type": "users_select", "action_id": "it", "initial_user": "U0ALICE"},
    ],
)
def test_what_slack_takes_is_taken(held: dict[str, Any]) -> None:
    check_view(modal(field(held)), kinds=("modal",))


@pytest.mark.parametrize(
    ("held", "pointer"),
    [
        (element("static_select", options=[]), "/options"),
        (element("static_select", options=[ONE] * 101), "/options"),
        (element("radio_buttons", options=[option(str(number)) for number in range(11)]), "/options"),
        (element("checkboxes", options=[option(str(number)) for number in range(11)]), "/options"),
        (element("static_select", options=[option("v", "x" * 76)]), "/options/0/text/text"),
        (element("static_select", options=[option("x" * 151, "a")]), "/options/0/value"),
        (
            element("static_select", options=[{"text": {"type": "mrkdwn", "text": "a"}, "value": "a"}]),
            "/options/0/text/type",
        ),
        (
            element("checkboxes", options=[option("a") | {"description": plain("x" * 76)}]),
            "/options/0/description/text",
        ),
        (element("static_select", initial_option=option("1", "other words")), "/initial_option"),
        (element("multi_static_select", initial_options=[]), "/initial_options"),
        (element("multi_static_select", initial_options=[option("4")]), "/initial_options"),
        (element("multi_static_select", max_selected_items=0), "/max_selected_items"),
        (element("static_select", max_selected_items=2), ""),
        (element("radio_buttons", placeholder=plain()), ""),
        (element("static_select", placeholder=plain("x" * 151)), "/placeholder/text"),
        (element("plain_text_input", max_length=3001), "/max_length"),
        (element("plain_text_input", max_lenght=5), ""),
    ],
)
def test_what_slack_refuses_is_refused(held: dict[str, Any], pointer: str) -> None:
    with pytest.raises(Refused) as caught:
        check_view(modal(field(held)), kinds=("modal",))
    (problem,) = caught.value.details["response_metadata"]["messages"]
    assert problem.endswith(f"[json-pointer:/view/blocks/0/element{pointer}]")


def test_only_one_field_takes_the_focus_and_menus_of_several_stay_out_of_rows_of_buttons() -> None:
    focused = element("plain_text_input", focus_on_load=True)
    with pytest.raises(Refused):
        check_view(modal(field(focused, "a"), field(focused, "b")), kinds=("modal",))
    with pytest.raises(Refused):
        check_message_blocks([{"type": "actions", "elements": [element("multi_static_select")]}])


@pytest.mark.parametrize(
    ("held", "typed", "told"),
    [
        (element("static_select"), None, {"selected_option": None}),
        (element("static_select", initial_option=TWO), "initially", {"selected_option": TWO}),
        (element("static_select", initial_option=TWO), "3", {"selected_option": THREE}),
        (element("static_select", initial_option=TWO), None, {"selected_option": None}),
        (element("radio_buttons"), "1", {"selected_option": ONE}),
        (element("multi_static_select"), "initially", {"selected_options": []}),
        (
            element("multi_static_select", initial_options=[ONE]),
            "initially",
            {"selected_options": [ONE]},
        ),
        (element("multi_static_select", initial_options=[ONE]), [], {"selected_options": []}),
        (element("checkboxes"), ["3", "1"], {"selected_options": [THREE, ONE]}),
        (element("plain_text_input", initial_value="was"), "initially", {"value": "was"}),
        (element("plain_text_input", initial_value="was"), None, {"value": None}),
        ({"type": "users_select", "action_id": "it"}, "U0ALICE", {"selected_user": "U0ALICE"}),
        (
            {"type": "conversations_select", "action_id": "it"},
            "C0GENERAL",
            {"selected_conversation": "C0GENERAL"},
        ),
    ],
)
def test_the_state_of_a_view_is_what_each_field_holds(
    held: dict[str, Any], typed: Any, told: dict[str, Any]
) -> None:
    values = {} if typed == "initially" else {"b": {"it": typed}}
    state = view_state([field(held)], values)
    assert state == {"values": {"b": {"it": {"type": held["type"], **told}}}}


def test_menus_beside_a_text_and_in_a_row_hold_something_too_and_buttons_do_not() -> None:
    beside = {"type": "section", "block_id": "s", "text": plain(), "accessory": element("static_select")}
    button = {"type": "button", "action_id": "go", "text": plain()}
    row = {"type": "actions", "block_id": "r", "elements": [button, element("radio_buttons")]}
    state = view_state([beside, row], {"r": {"it": "2"}})["values"]
    assert state["s"]["it"]["selected_option"] is None
    assert state["r"] == {"it": {"type": "radio_buttons", "selected_option": TWO}}


def test_what_cannot_be_chosen_is_said() -> None:
    with pytest.raises(PlaygroundError, match="no option '9'"):
        view_state([field(element("static_select"))], {"b": {"it": "9"}})
    held = element("multi_static_select", max_selected_items=1)
    with pytest.raises(PlaygroundError, match="no more than 1"):
        view_state([field(held)], {"b": {"it": ["1", "2"]}})


def test_an_action_tells_what_was_chosen() -> None:
    boxes = acted({"block_id": "b"}, element("checkboxes"), ["1", "2"], action_ts="1.000000")
    assert boxes["selected_options"] == [ONE, TWO]
    menu = acted({"block_id": "b"}, element("overflow"), "2", action_ts="1.000000")
    assert menu["selected_option"] == TWO
