"""chat.*: posting, changing and deleting messages."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from bot.playground.arguments import Arguments
from bot.playground.methods.streams import is_streaming
from bot.playground.posting import content, fallback_text, metadata, post, post_ephemeral
from bot.playground.refusal import Refused
from bot.playground.slack import Method, Slack
from bot.playground.state import Message, Room


def post_message(slack: Slack, args: Arguments) -> dict[str, Any]:
    room = _addressed(slack, args.text("channel"))
    body = content(args)
    message = post(slack, room, body, thread_ts=args.text("thread_ts") or None, with_metadata=metadata(args))
    return {"channel": room.id, "ts": message["ts"], "message": deepcopy(message)}


def post_ephemeral_message(slack: Slack, args: Arguments) -> dict[str, Any]:
    room = slack.joined_room(args.required("channel"))
    user = args.required("user")
    if user not in room.members:
        raise Refused("user_not_in_channel")
    message = post_ephemeral(slack, room, user, content(args), thread_ts=args.text("thread_ts") or None)
    return {"message_ts": message["ts"]}


def update(slack: Slack, args: Arguments) -> dict[str, Any]:
    room = slack.joined_room(args.required("channel"))
    message = _own(slack, room, args.required("ts"), refusal="cant_update_message")
    if is_streaming(slack, message):
        raise Refused("streaming_state_conflict")
    body = content(args)
    previous = deepcopy(message)
    message.update(body)
    if "text" not in body:
        message["text"] = fallback_text(body)
    if not message.get("blocks"):
        message.pop("blocks", None)
    new_metadata = metadata(args)
    if new_metadata is not None:
        message["metadata"] = new_metadata
    message["edited"] = {"user": slack.workspace.bot_user_id, "ts": slack.state.next_ts()}
    slack.state.changed(room, message)
    slack.events.message_changed(room, message, previous)
    return {"channel": room.id, "ts": message["ts"], "text": message["text"], "message": deepcopy(message)}


def delete(slack: Slack, args: Arguments) -> dict[str, Any]:
    room = slack.joined_room(args.required("channel"))
    message = _own(slack, room, args.required("ts"), refusal="cant_delete_message")
    slack.state.remove(room, message)
    slack.events.message_deleted(room, message)
    return {"channel": room.id, "ts": message["ts"]}


def _addressed(slack: Slack, channel: str) -> Room:
    """Returns a person's id as `channel` means the DM with them."""
    if not channel:
        raise Refused("channel_not_found")
    if any(channel == person.id for person in slack.workspace.people):
        return slack.state.direct(channel)
    return slack.joined_room(channel)


def _own(slack: Slack, room: Room, ts: str, *, refusal: str) -> Message:
    message = slack.message(room, ts)
    if message.get("bot_id") != slack.workspace.bot_id:
        raise Refused(refusal)
    return message


_WRITE = ("chat:write",)
METHODS = (
    Method(name="chat.postMessage", call=post_message, scopes=_WRITE),
    Method(name="chat.postEphemeral", call=post_ephemeral_message, scopes=_WRITE),
    Method(name="chat.update", call=update, scopes=_WRITE, tier=3),
    Method(name="chat.delete", call=delete, scopes=_WRITE, tier=3),
)
