"""chat.startStream, appendStream and stopStream: a message that grows while it is written."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from bot.playground.arguments import Arguments
from bot.playground.block_kit import MARKDOWN_CHARACTERS, check_message_blocks
from bot.playground.posting import metadata, post
from bot.playground.refusal import Refused, invalid
from bot.playground.slack import Method, Slack
from bot.playground.state import Message, Room
from bot.playground.surfaces import name_blocks


def start(slack: Slack, args: Arguments) -> dict[str, Any]:
    room = slack.joined_room(args.required("channel"))
    thread_ts = args.text("thread_ts")
    if not thread_ts:
        raise invalid("invalid_arguments", "[ERROR] missing required field: thread_ts")
    _check_recipient(slack, room, args)
    chunks = _chunks(args, required=False)
    message = post(
        slack,
        room,
        {"text": "", "blocks": [], "streaming_state": "in_progress"},
        thread_ts=thread_ts,
    )
    _grow(slack, room, message, chunks)
    return {"channel": room.id, "ts": message["ts"]}


def append(slack: Slack, args: Arguments) -> dict[str, Any]:
    room, message = _streaming(slack, args)
    _grow(slack, room, message, _chunks(args, required=True))
    return {"channel": room.id, "ts": message["ts"]}


def stop(slack: Slack, args: Arguments) -> dict[str, Any]:
    room, message = _streaming(slack, args)
    chunks = _chunks(args, required=False)
    blocks = args.structure("blocks", refusal="invalid_blocks_format")
    if blocks is not None:
        check_message_blocks(blocks)
    extra = metadata(args)
    previous = deepcopy(message)
    _grow(slack, room, message, chunks)
    if blocks:
        added = deepcopy(blocks)
        name_blocks(added)
        message["blocks"].extend(added)
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


def _chunks(args: Arguments, *, required: bool) -> list[dict[str, Any]]:
    """Returns the checked chunks; markdown_text, if any, is the first."""
    given = args.structure("chunks") or []
    if not isinstance(given, list) or not all(isinstance(chunk, dict) for chunk in given):
        raise Refused("invalid_chunks")
    markdown = args.text("markdown_text")
    chunks = [{"type": "markdown_text", "text": markdown}] if markdown else []
    chunks += given
    if required and not chunks:
        raise Refused("no_text")
    for chunk in chunks:
        _check_chunk(chunk)
    return chunks


def _check_chunk(chunk: dict[str, Any]) -> None:
    kind = chunk.get("type")
    if kind == "markdown_text":
        if len(str(chunk.get("text", ""))) > MARKDOWN_CHARACTERS:
            raise Refused("msg_too_long")
    elif kind == "task_update":
        if not chunk.get("id") or not chunk.get("title") or chunk.get("status") not in _TASK_STATES:
            raise Refused("invalid_chunks")
    elif kind == "blocks":
        check_message_blocks(chunk.get("blocks"))
    elif kind != "plan_update":
        raise Refused("invalid_chunks")


def _grow(slack: Slack, room: Room, message: Message, chunks: list[dict[str, Any]]) -> None:
    blocks: list[dict[str, Any]] = message["blocks"]
    for chunk in chunks:
        if chunk["type"] == "markdown_text":
            message["text"] += chunk["text"]
            if blocks and blocks[-1]["type"] == "markdown":
                blocks[-1]["text"] += chunk["text"]
            else:
                blocks.append({"type": "markdown", "text": chunk["text"]})
        elif chunk["type"] == "task_update":
            _show_task(blocks, chunk)
        elif chunk["type"] == "blocks":
            blocks.extend(deepcopy(chunk["blocks"]))
    name_blocks(blocks)
    message["stream_touched"] = slack.state.now()
    slack.state.changed(room, message)


def _show_task(blocks: list[dict[str, Any]], chunk: dict[str, Any]) -> None:
    card = {name: value for name, value in chunk.items() if name not in ("type", "id")}
    card |= {"type": "task_card", "task_id": chunk["id"]}
    for block in blocks:
        if block.get("type") == "task_card" and block.get("task_id") == chunk["id"]:
            block.update(card)
            return
    blocks.append(card)


_TASK_STATES = ("pending", "in_progress", "complete", "error")
_WRITE = ("chat:write",)
METHODS = (
    Method(name="chat.startStream", call=start, scopes=_WRITE, tier=2),
    Method(name="chat.appendStream", call=append, scopes=_WRITE, tier=4),
    Method(name="chat.stopStream", call=stop, scopes=_WRITE, tier=2),
)
