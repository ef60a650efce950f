"""Blocks and views that Slack refuses are refused, with the failing path."""

from __future__ import annotations

from typing import Any

import pytest

from bot.playground.block_kit import check_message_blocks, check_view
from bot.playground.refusal import Refused


def mrkdwn(text: str = "text") -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text}


def plain(text: str = "text") -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def a_section(text: str = "text", **more: Any) -> dict[str, Any]:
    return {"type": "section", "text": mrkdwn(text), **more}


def a_button(action_id: str = "go", **more: Any) -> dict[str, Any]:
    return {"type": "button", "action_id": action_id, "text": plain("Go"), **more}


def actions(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "actions", "elements": list(elements)}


def feedback(**more: Any) -> dict[str, Any]:
    button = {"text": plain("Good"), "value": "good"}
    element = {"type": "feedback_buttons", "action_id": "fb", "positive_button": button}
    element |= {"negative_button": {"text": plain("Bad"), "value": "bad"}, **more}
    return {"type": "context_actions", "elements": [element]}


def a_table(rows: int = 2, columns: int = 2, text: str = "x") -> dict[str, Any]:
    return {"type": "table", "rows": [[{"type": "raw_text", "text": text}] * columns] * rows}


GOOD = [
    a_section("x" * 3000),
    {"type": "section", "fields": [mrkdwn("x" * 2000)] * 5},
    a_section(accessory=a_button("other")),
    {"type": "context", "elements": [mrkdwn()] * 10},
    {"type": "header", "text": plain("x" * 150)},
    {"type": "divider"},
    {"type": "markdown", "text": "x" * 12_000},
    {"type": "image", "image_url": "https://x.example/a.png", "alt_text": "a"},
    {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": []}]},
    actions(*[a_button(f"b{number}") for number in range(25)]),
    actions(a_button(text=plain("x" * 75), value="x" * 2000)),
    feedback(),
    a_table(rows=100, columns=20),
]


@pytest.mark.parametrize("block", GOOD, ids=lambda block: block["type"])
def test_a_block_at_its_limit_is_taken(block: dict[str, Any]) -> None:
    check_message_blocks([block])


def rich_list(**given: Any) -> dict[str, Any]:
    made = {"type": "rich_text_list", "style": "bullet", "elements": [], **given}
    return {"type": "rich_text", "elements": [made]}


BAD = [
    ([rich_list(border=3)], "/blocks/0/elements/0/border", "must be one of: 0, 1"),
    ([rich_list(style="dashed")], "/blocks/0/elements/0/style", "must be one of: bullet, ordered"),
    (
        [rich_list(type="rich_text_quote", elements=[{"type": "text", "text": ""}])],
        "/blocks/0/elements/0/elements/0/text",
        "more than 0",
    ),
    ([a_section("x" * 3001)], "/blocks/0/text/text", "less than 3001"),
    ([a_section("")], "/blocks/0/text/text", "more than 0"),
    ([{"type": "section"}], "/blocks/0", "missing required field"),
    ([{"type": "section", "fields": [mrkdwn()] * 11}], "/blocks/0/fields", "no more than 10"),
    ([{"type": "section", "fields": [mrkdwn("x" * 2001)]}], "/blocks/0/fields/0/text", "less than 2001"),
    ([{"type": "header", "text": plain("x" * 151)}], "/blocks/0/text/text", "less than 151"),
    ([{"type": "header", "text": mrkdwn()}], "/blocks/0/text/type", "must be one of"),
    ([{"type": "context", "elements": [mrkdwn()] * 11}], "/blocks/0/elements", "no more than 10"),
    ([{"type": "context", "elements": []}], "/blocks/0/elements", "at least 1"),
    ([actions(*[a_button(f"b{n}") for n in range(26)])], "/blocks/0/elements", "no more than 25"),
    ([actions(a_button(text=plain("x" * 76)))], "/blocks/0/elements/0/text/text", "less than 76"),
    ([actions(a_button(value="x" * 2001))], "/blocks/0/elements/0/value", "less than 2001"),
    ([actions(a_button(style="warning"))], "/blocks/0/elements/0/style", "must be one of"),
    ([actions(a_button(), a_button())], "/blocks/0/elements/1/action_id", "already exists"),
    ([actions({"type": "marquee"})], "/blocks/0/elements/0/type", "unsupported type"),
    ([feedback(positive_button=None)], "/blocks/0/elements/0/positive_button", "missing"),
    ([a_section(block_id="same"), a_section(block_id="same")], "/blocks/1/block_id", "already exists"),
    ([{"type": "blink", "text": "x"}], "/blocks/0/type", "unsupported type: blink"),
    ([a_section(colour="red")], "/blocks/0", "additional property: colour"),
    ([a_section()] * 51, "/blocks", "no more than 50"),
    ([{"type": "markdown", "text": "x" * 6001}] * 2, "/blocks/1/text", "less than 12001"),
    ([{"type": "image", "image_url": "https://x.example/a.png"}], "/blocks/0/alt_text", "missing"),
    ([a_table(rows=101)], "/blocks/0/rows", "no more than 100"),
    ([a_table(columns=21)], "/blocks/0/rows/0", "no more than 20"),
    ([a_table(text="")], "/blocks/0/rows/0/0/text", "more than 0"),
    ([a_table(), a_table()], "/blocks", "only one table"),
]


@pytest.mark.parametrize(("blocks", "path", "words"), BAD, ids=[f"{path} {words}" for _, path, words in BAD])
def test_a_block_over_its_limit_is_refused_with_its_path(blocks: list[Any], path: str, words: str) -> None:
    with pytest.raises(Refused) as refusal:
        check_message_blocks(blocks)
    assert refusal.value.code == "invalid_blocks"
    messages = refusal.value.details["response_metadata"]["messages"]
    assert any(words in message and message.endswith(f"[json-pointer:{path}]") for message in messages), (
        messages
    )


def test_all_blocks_together_may_hold_about_13200_characters() -> None:
    check_message_blocks([a_section("x" * 2640)] * 5)
    with pytest.raises(Refused, match="msg_blocks_too_long"):
        check_message_blocks([a_section("x" * 2641)] * 5)


def test_blocks_that_are_not_a_list_are_refused() -> None:
    with pytest.raises(Refused, match="invalid_blocks_format"):
        check_message_blocks({"type": "section"})


def a_modal(**more: Any) -> dict[str, Any]:
    return {"type": "modal", "title": plain("Why this answer?"), "blocks": [a_section()], **more}


AN_INPUT = {
    "type": "input",
    "block_id": "comment",
    "label": plain("Comment"),
    "element": {"type": "plain_text_input", "action_id": "text"},
}


def test_a_view_takes_a_hundred_blocks_and_an_input_with_a_submit_button() -> None:
    check_view(a_modal(blocks=[a_section()] * 100), kinds=("modal",))
    check_view(a_modal(blocks=[AN_INPUT], submit=plain("Send")), kinds=("modal",))


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (a_modal(blocks=[a_section()] * 101), "no more than 100"),
        (a_modal(title=plain("x" * 25)), "less than 25"),
        (a_modal(private_metadata="x" * 3001), "less than 3001"),
        (a_modal(blocks=[{"type": "markdown", "text": "x"}]), "unsupported type: markdown"),
        (a_modal(blocks=[a_table()]), "unsupported type: table"),
        (a_modal(blocks=[feedback()]), "unsupported type: context_actions"),
        (a_modal(blocks=[AN_INPUT]), "submit"),
        (a_modal(type="home"), "must be one of: modal"),
        ("not a view", "missing required field: view"),
    ],
)
def test_a_view_that_slack_refuses_is_refused(view: Any, words: str) -> None:
    with pytest.raises(Refused) as refusal:
        check_view(view, kinds=("modal",))
    assert refusal.value.code == "invalid_arguments"
    assert any(words in message for message in refusal.value.details["response_metadata"]["messages"])
