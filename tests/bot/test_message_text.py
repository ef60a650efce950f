"""What a message says, in the shapes in which Slack sends messages."""

from __future__ import annotations

from typing import Any

import pytest

from bot.slack.events import Message
from bot.slack.message_text import LONGEST_QUESTION, MessageText, message_text, shortened
from bot.slack.people import Me

ME = Me(user_id="U0BOT", bot_id="B0BOT", team_id="T1")
QUESTION = "How many weeks of parental leave does a father get?"


def said(text: str = "", **given: Any) -> MessageText:
    return message_text(Message.model_validate({"ts": "1.1", "user": "U1", "text": text, **given}), ME)


def rich(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": list(elements)}]}


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def test_text_and_its_rich_text_are_read_once() -> None:
    blocks = [
        rich(
            {"type": "user", "user_id": "U0BOT"},
            text(" does "),
            {"type": "user", "user_id": "U2"},
            text(" own R&D's "),
            {"type": "link", "url": "https://kb.example/a?b=1&c=2", "text": "page"},
            text("? "),
            {"type": "emoji", "name": "pray"},
        )
    ]
    told = said(
        "<@U0BOT> does <@U2|bram> own R&amp;D's <https://kb.example/a?b=1&amp;c=2|page>? :pray:",
        blocks=blocks,
    )
    assert told.text == "does <@U2|bram> own R&amp;D's <https://kb.example/a?b=1&amp;c=2|page>? :pray:"


def test_lists_and_styles_are_read_once() -> None:
    blocks = [
        {
            "type": "rich_text",
            "elements": [
                {"type": "rich_text_section", "elements": [text("Which of "), text("these")]},
                {
                    "type": "rich_text_list",
                    "style": "ordered",
                    "elements": [
                        {"type": "rich_text_section", "elements": [text("the VPN")]},
                        {"type": "rich_text_section", "elements": [text("the proxy")]},
                    ],
                },
            ],
        }
    ]
    told = said("Which of *these*\n1. the VPN\n2. the proxy", blocks=blocks)
    assert told.text == "Which of *these*\n1. the VPN\n2. the proxy"


@pytest.mark.parametrize(
    "block",
    [
        rich(text(QUESTION)),
        {"type": "section", "text": {"type": "mrkdwn", "text": QUESTION}},
        {"type": "section", "fields": [{"type": "mrkdwn", "text": QUESTION}]},
        {"type": "header", "text": {"type": "plain_text", "text": QUESTION}},
        {"type": "context", "elements": [{"type": "mrkdwn", "text": QUESTION}]},
        {"type": "markdown", "text": QUESTION},
        {"type": "table", "rows": [[{"type": "raw_text", "text": QUESTION}]]},
    ],
)
def test_a_block_says_what_the_text_does_not(block: dict[str, Any]) -> None:
    assert said("", blocks=[block]).text == QUESTION
    assert said("New request", blocks=[block]).text == f"New request\n{QUESTION}"
    assert said(f"New request: {QUESTION}", blocks=[block]).text == f"New request: {QUESTION}"


def test_buttons_and_fields_to_fill_in_say_nothing() -> None:
    button = {"type": "button", "text": {"type": "plain_text", "text": "Approve"}, "action_id": "a"}
    blocks = [
        {"type": "actions", "elements": [button]},
        {"type": "input", "label": {"type": "plain_text", "text": "Your name"}},
        {"type": "divider"},
        {"type": "image", "alt_text": "a cat"},
    ]
    assert said("How long?", blocks=blocks).text == "How long?"


FORWARDED = [
    {"is_share": True, "author_name": "Bram", "text": QUESTION, "fallback": f"[Nov 1] bram: {QUESTION}"},
    {"is_share": True, "is_msg_unfurl": True, "from_url": "https://x.slack.com/archives/C1/p1", "text": QUESTION},
    {
        "is_share": True,
        "text": QUESTION,
        "message_blocks": [{"team": "T1", "channel": "C1", "message": {"blocks": [rich(text(QUESTION))]}}],
    },
    {"is_share": True, "text": "", "message_blocks": [{"message": {"blocks": [rich(text(QUESTION))]}}]},
    {"is_share": True, "attachments": [{"is_share": True, "text": QUESTION}]},
    {"fallback": QUESTION},
    {"pretext": None, "title": "", "text": QUESTION, "fallback": "[no preview available]"},
    {"blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": QUESTION}}], "fallback": "x"},
]  # fmt: skip


@pytest.mark.parametrize("attachment", FORWARDED)
def test_what_is_forwarded_is_part_of_what_is_said(attachment: dict[str, Any]) -> None:
    told = said("<@U0BOT> what is the answer to this?", attachments=[attachment])
    assert told.text == f"what is the answer to this?\n\n{QUESTION}"
    assert (told.own, told.added) == ("what is the answer to this?", QUESTION)
    assert said("", attachments=[attachment]).text == QUESTION
    assert said(QUESTION, attachments=[attachment]).text == QUESTION


@pytest.mark.parametrize(
    "attachment",
    [
        {"is_share": True, "text": f"<@U0BOT> {QUESTION}", "fallback": f"[Nov 1] bram: @footnote {QUESTION}"},
        {"is_share": True, "text": f"<@U0BOT|footnote>, {QUESTION}"},
        {"is_share": True, "message_blocks": [{"message": {"blocks": [
            rich({"type": "user", "user_id": "U0BOT"}, text(f" {QUESTION}"))]}}]},
        {"is_share": True, "attachments": [{"is_share": True, "text": f"<@U0BOT> {QUESTION}"}]},
        {"is_msg_unfurl": True, "from_url": "https://x.slack.com/archives/C1/p1", "text": f"<@U0BOT> {QUESTION}"},
        {"pretext": "<@U0BOT>", "text": QUESTION},
    ],
)  # fmt: skip
def test_who_was_called_in_a_forwarded_message_is_no_part_of_what_it_asks(attachment: dict[str, Any]) -> None:
    told = said("<@U0BOT> do you know?", attachments=[attachment])
    assert told.text == f"do you know?\n\n{QUESTION}"
    assert said(f"<@U0BOT> {QUESTION}", attachments=[attachment]).text == QUESTION


def test_the_preview_of_a_link_is_not_what_the_person_said() -> None:
    preview = {
        "from_url": "https://kb.example",
        "original_url": "https://kb.example",
        "title": "Home",
        "text": "Hi",
    }
    assert said("see <https://kb.example>", attachments=[preview]).text == "see <https://kb.example>"


def test_a_linked_message_is_read_and_told_apart_because_it_comes_later() -> None:
    told = said("can you answer <https://x>?", attachments=[{"is_msg_unfurl": True, "text": QUESTION}])
    assert told.text.endswith(QUESTION)
    assert (told.added, told.shown) == ("", QUESTION)


def test_the_fields_of_an_apps_attachment_are_read() -> None:
    attachment = {"title": "Form", "fields": [{"title": "Topic", "value": "Leave"}, {"value": QUESTION}]}
    assert said("", attachments=[attachment]).text == f"Form\nTopic: Leave\n{QUESTION}"


def test_a_snippet_is_read_and_another_file_is_named() -> None:
    files = [
        {"name": "error.txt", "mode": "snippet", "preview": "if a < b:\n  raise"},
        {"name": "mail.eml", "mode": "email", "plain_text": "Dear all"},
        {"name": "scan.pdf", "mode": "hosted", "preview": None},
        {"title": "Photo", "mode": "hosted"},
        {"id": "F1", "mode": "tombstone"},
    ]
    told = said("<@U0BOT> what is this?", subtype="file_share", files=files)
    assert told.text == "what is this?\n\nif a &lt; b:\n  raise\nDear all"
    assert told.unread == ("scan.pdf", "Photo")
    shared = said("", attachments=[{"is_share": True, "text": "", "files": [{"name": "a.pdf"}]}])
    assert (shared.text, shared.unread) == ("", ("a.pdf",))


@pytest.mark.parametrize(
    "odd",
    [
        {"attachments": None, "blocks": None, "files": None, "text": None},
        {"attachments": ["x", None], "blocks": [7], "files": "none"},
        {"attachments": [{"text": {"no": "text"}, "fields": {}, "blocks": [{"type": None, "text": 3}]}]},
        {"blocks": [{"type": "rich_text", "elements": [{"elements": [None, {"type": "link"}]}]}]},
        {"blocks": [{"type": "table", "rows": [None, [1]]}, {"type": "section", "fields": "x"}, {}]},
    ],
)
def test_a_form_that_we_do_not_know_loses_no_message(odd: dict[str, Any]) -> None:
    message = Message.model_validate({"ts": "1.1", "user": "U1", "text": "How long?"} | odd)
    assert message_text(message, ME).unread == ()


def test_a_bare_mention_and_a_sign_say_what_they_say() -> None:
    assert said("<@U0BOT>", blocks=[rich({"type": "user", "user_id": "U0BOT"})]).text == ""
    assert (
        said("<@U0BOT> :point_up:", blocks=[rich({"type": "emoji", "name": "point_up"})]).text == ":point_up:"
    )
    assert said("<@U0BOT> ^^", blocks=[rich(text("^^"))]).text == "^^"


def test_a_long_message_keeps_its_beginning_and_its_end() -> None:
    long = f"About the tender of May. {'Lorem ipsum dolor. ' * 400}So: which form do I need?"
    told = said(long)
    assert told.is_cut
    assert len(told.text) <= LONGEST_QUESTION
    assert told.text.startswith("About the tender of May.")
    assert told.text.endswith("So: which form do I need?")
    assert shortened("short") == "short"
    assert len(shortened("x" * 9000)) <= LONGEST_QUESTION


def test_a_form_is_told_from_people_and_from_apps_that_converse() -> None:
    form = {"ts": "1.1", "bot_id": "B9"}
    assert Message.model_validate(form).by_a_form
    assert Message.model_validate({**form, "subtype": "bot_message"}).by_a_form
    assert Message.model_validate({**form, "user": "U9", "bot_profile": {"is_workflow_bot": True}}).by_a_form
    assert not Message.model_validate({**form, "user": "U9"}).by_a_form

    assert not Message.model_validate({"ts": "1.1", "user": "U1"}).by_a_form
