"""Streams a message that grows while it is written: chat.startStream, appendStream and stopStream.

Of what Slack takes, `markdown_text` alone: Footnote sends no chunks and no blocks.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from bot.playground.arguments import Arguments
from bot.playground.block_kit import MARKDOWN_CHARACTERS
from bot.playground.posting import metadata, post
from bot.playground.refusal import Refused
from bot.playground.slack import Method, Slack
from bot.playground.state import Message, Room
from bot.playground.surfaces import name_blocks


def start(slack: Slack, args: Arguments) -> dict[str, Any]:
    room = slack.joined_room(args.required("channel"))
    thread_ts = args.required("thread_ts")
    _check_recipient(slack, room, args)
    markdown = _markdown(args)
    body = {"text": "", "blocks": [], "streaming_state": "in_progress"}
    message = post(slack, room, body, thread_ts=thread_ts)
    _grow(slack, room, message, markdown)
    return {"channel": room.id, "ts": message["ts"]}


def append(slack: Slack, args: Arguments) -> dict[str, Any]:
    room, message = _streaming(slack, args)
    markdown = _markdown(args)
    if not markdown:
        raise Refused("no_text")
    _grow(slack, room, message, markdown)
    return {"channel": room.id, "ts": message["ts"]}


def stop(slack: Slack, args: Arguments) -> dict[str, Any]:
    room, message = _streaming(slack, args)
    markdown, extra = _markdown(args), metadata(args)
    previous = deepcopy(message)
    _grow(slack, room, message, markdown)
    if extra is not None:
        message["metadata"] = extra
    message["streaming_state"] = "completed"
    message.pop("stream_touched", None)
    slack.state.changed(room, message)
    slack.events.message_changed(room, message, previous)
    return {"channel": room.id, "ts": message["ts"], "message": deepcopy(message)}


def is_streaming(slack: Slack, message: Message) -> bool:
    """Returns whether the message still takes text; a stream ends by itself when nothing is added for a while."""
    idle = slack.state.now() - message.get("stream_touched", slack.state.now())
    if message.get("streaming_state") == "in_progress" and idle > slack.state.limits.stream_idle_s:
        message["streaming_state"] = "completed"
    return message.get("streaming_state") == "in_progress"


def _check_recipient(slack: Slack, room: Room, args: Arguments) -> None:
    """Requires that a stream in a channel names for whom it is; in a direct message it may."""
    team, user = args.text("recipient_team_id"), args.text("recipient_user_id")
    if not room.is_im and not team:
        raise Refused("missing_recipient_team_id")
    if not room.is_im and not user:
        raise Refused("missing_recipient_user_id")
    if team and team != slack.workspace.team_id:
        raise Refused("team_not_found")
    if user and all(person.id != user for person in slack.workspace.people):
        raise Refused("user_not_found")


def _streaming(slack: Slack, args: Arguments) -> tuple[Room, Message]:
    room = slack.joined_room(args.required("channel"))
    message = slack.message(room, args.required("ts"))
    if message.get("bot_id") != slack.workspace.bot_id:
        raise Refused("message_not_owned_by_app")
    if not is_streaming(slack, message):
        raise Refused("message_not_in_streaming_state")
    return room, message


def _markdown(args: Arguments) -> str:
    markdown = args.text("markdown_text")
    if len(markdown) > MARKDOWN_CHARACTERS:
        raise Refused("msg_too_long")
    return markdown


def _grow(slack: Slack, room: Room, message: Message, markdown: str) -> None:
    message["text"] += markdown
    blocks: list[dict[str, Any]] = message["blocks"]
    if markdown and not blocks:
        blocks.append({"type": "markdown", "text": ""})
        name_blocks(blocks)
    if markdown:
        blocks[0]["text"] += markdown
    message["stream_touched"] = slack.state.now()
    slack.state.changed(room, message)


_WRITE = ("chat:write",)
METHODS = (
    Method(name="chat.startStream", call=start, scopes=_WRITE, tier=2),
    Method(name="chat.appendStream", call=append, scopes=_WRITE, tier=4),
    Method(name="chat.stopStream", call=stop, scopes=_WRITE, tier=2),
)
