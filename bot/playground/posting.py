"""Posts the app's messages, whether by the Web API, a response_url or the answer to a command."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from bot.playground.arguments import Arguments
from bot.playground.block_kit import check_message_blocks, texts
from bot.playground.refusal import Refused, invalid
from bot.playground.slack import Slack
from bot.playground.state import Message, Room
from bot.playground.surfaces import name_blocks

TEXT_CHARACTERS = 40_000
"""Slack documents that it cuts a posted text here, and refuses an update; the playground refuses both."""


def content(args: Arguments) -> dict[str, Any]:
    """Returns the `text` and `blocks` of a message, checked.

    Raises:
        Refused: `no_text`, `msg_too_long`, or what `check_message_blocks` says.
    """
    blocks = args.structure("blocks", refusal="invalid_blocks_format")
    text = args.text("text")
    if blocks is not None:
        check_message_blocks(blocks)
    if not text.strip() and not blocks:
        raise Refused("no_text")
    if len(text) > TEXT_CHARACTERS:
        raise Refused("msg_too_long")
    given: dict[str, Any] = {}
    if text or (blocks and "text" in args):
        given["text"] = text
    if blocks is not None:
        given["blocks"] = deepcopy(blocks)
        name_blocks(given["blocks"])
    return given


def metadata(args: Arguments) -> dict[str, Any] | None:
    """Returns a message's metadata, checked; None where it has none.

    Raises:
        Refused: `invalid_metadata_format` or `invalid_metadata_schema`.
    """
    value = args.structure("metadata", refusal="invalid_metadata_format")
    if value is None:
        return None
    if not isinstance(value, dict):
        raise Refused("invalid_metadata_format")
    if not isinstance(value.get("event_type"), str) or not isinstance(value.get("event_payload"), dict):
        raise invalid("invalid_metadata_schema", "[ERROR] event_type and event_payload are required")
    return deepcopy(value)


def post(
    slack: Slack,
    room: Room,
    body: dict[str, Any],
    *,
    thread_ts: str | None = None,
    with_metadata: dict[str, Any] | None = None,
) -> Message:
    """Posts as the bot, and lets the app hear its own message, as Slack does."""
    message = bot_message(slack, body)
    if thread_ts:
        message["thread_ts"] = thread_ts
    if with_metadata:
        message["metadata"] = with_metadata
    slack.state.add(room, message)
    slack.events.message_posted(room, message)
    return message


def post_ephemeral(
    slack: Slack,
    room: Room,
    user: str,
    body: dict[str, Any],
    *,
    thread_ts: str | None = None,
    system: bool = False,
) -> Message:
    """Shows a message to one person. `system`: it comes from Slack itself, not from the app."""
    message = bot_message(slack, body)
    if system:
        message = {name: message[name] for name in ("type", "ts", "text")}
        message |= {"user": "USLACKBOT", "username": "Slackbot"}
    message |= {"channel": room.id, "to": user, "is_ephemeral": True}
    if thread_ts:
        message["thread_ts"] = thread_ts
    slack.state.add_ephemeral(message)
    return message


def bot_message(slack: Slack, body: dict[str, Any]) -> Message:
    workspace = slack.workspace
    return {
        "type": "message",
        "user": workspace.bot_user_id,
        "ts": slack.state.next_ts(),
        "bot_id": workspace.bot_id,
        "app_id": workspace.app_id,
        "team": workspace.team_id,
        "text": fallback_text(body),
        "bot_profile": {
            "id": workspace.bot_id,
            "app_id": workspace.app_id,
            "name": workspace.bot_name,
            "icons": {},
            "deleted": False,
            "updated": 0,
            "team_id": workspace.team_id,
        },
        **{name: value for name, value in body.items() if name != "text"},
    }


def fallback_text(body: dict[str, Any]) -> str:
    """Returns the text given, else one made of the blocks, as Slack makes it for notifications."""
    text = body.get("text")
    return text or " ".join(texts(body.get("blocks", [])))[:3000]
