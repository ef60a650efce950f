"""Tells which channels there are and what was said there: conversations.*."""

from __future__ import annotations

import base64
import random
from copy import deepcopy
from typing import Any

from bot.playground.arguments import Arguments
from bot.playground.refusal import Refused
from bot.playground.slack import Method, Slack
from bot.playground.state import Message, Room


def list_for_user(slack: Slack, args: Arguments) -> dict[str, Any]:
    """Lists the channels of a person that the bot may know of, of the types asked for."""
    bot = slack.workspace.bot_user_id
    user, types = args.text("user") or bot, args.text("types", "public_channel").split(",")
    listed = [
        _channel(slack, room)
        for room in slack.state.rooms.values()
        if user in room.members
        and _TYPE_OF_KIND[room.kind] in types
        and (not room.is_private or bot in room.members)
    ]
    page, cursor = _page(listed, args, default=100, most=1000)
    return {"channels": page, "response_metadata": {"next_cursor": cursor}}


def info(slack: Slack, args: Arguments) -> dict[str, Any]:
    room = slack.visible_room(args.required("channel"))
    count = {"num_members": len(room.members)} if args.flag("include_num_members") else {}
    return {"channel": _channel(slack, room) | count}


def open_direct(slack: Slack, args: Arguments) -> dict[str, Any]:
    user = args.required("users")
    if all(person.id != user for person in slack.workspace.people):
        raise Refused("user_not_found")
    return {"channel": {"id": slack.state.direct(user).id}}


def history(slack: Slack, args: Arguments) -> dict[str, Any]:
    """Returns the newest messages first, without the replies of threads."""
    room = slack.joined_room(args.required("channel"))
    found = [message for message in room.top_level() if _in_range(message, args)]
    page, cursor = _page(list(reversed(found)), args, default=100, most=999)
    return _messages(slack, page, cursor, args)


def replies(slack: Slack, args: Arguments) -> dict[str, Any]:
    """Returns the thread's first message, then its replies, oldest first (unless `SlackLimits.replies_in_disorder`)."""
    room = slack.joined_room(args.required("channel"))
    ts = args.required("ts")
    asked = room.messages.get(ts)
    if asked is None:
        raise Refused("thread_not_found")
    thread = room.thread(asked.get("thread_ts", ts))
    found = [message for message in thread if _in_range(message, args) or message is thread[0]]
    limits = slack.state.limits
    page, cursor = _page(found, args, default=1000, most=limits.replies_page)
    if limits.replies_in_disorder:
        if thread[0] not in page:
            page.append(thread[0])
        random.shuffle(page)
    return _messages(slack, page, cursor, args)


def _messages(slack: Slack, page: list[Message], cursor: str, args: Arguments) -> dict[str, Any]:
    shown = deepcopy(page)
    for message in shown:
        message.pop("stream_touched", None)
        if not slack.state.limits.streams_told:
            message.pop("streaming_state", None)
        if not args.flag("include_all_metadata"):
            message.pop("metadata", None)
    answer: dict[str, Any] = {"messages": shown, "has_more": bool(cursor)}
    if cursor:
        answer["response_metadata"] = {"next_cursor": cursor}
    return answer


def _in_range(message: Message, args: Arguments) -> bool:
    posted = float(message["ts"])
    oldest = float(args.text("oldest", "0") or 0)
    latest = float(args.text("latest", "0") or 0) or float("inf")
    if args.flag("inclusive"):
        return oldest <= posted <= latest
    return oldest < posted < latest


def _page(items: list[Any], args: Arguments, *, default: int, most: int) -> tuple[list[Any], str]:
    """Returns a page and the cursor of the next one, which is empty after the last.

    Raises:
        Refused: `invalid_cursor` or `invalid_limit`.
    """
    limit = args.number("limit", default)
    if limit < 1:
        raise Refused("invalid_limit")
    start = 0
    if args.text("cursor"):
        try:
            start = int(base64.b64decode(args.text("cursor"), validate=True).decode().removeprefix("next:"))
        except ValueError:
            raise Refused("invalid_cursor") from None
    end = start + min(limit, most)
    cursor = base64.b64encode(f"next:{end}".encode()).decode() if end < len(items) else ""
    return items[start:end], cursor


def _channel(slack: Slack, room: Room) -> dict[str, Any]:
    workspace = slack.workspace
    common = {
        "id": room.id,
        "created": 1700000000,
        "is_archived": False,
        "context_team_id": workspace.team_id,
    }
    if room.is_im:
        other = next((user for user in room.members if user != workspace.bot_user_id), "")
        return common | {
            "is_im": True,
            "is_channel": False,
            "is_group": False,
            "user": other,
            "is_open": True,
        }
    return common | {
        "name": room.name,
        "name_normalized": room.name,
        "is_channel": not room.is_private,
        "is_group": room.is_mpim,
        "is_im": False,
        "is_mpim": room.is_mpim,
        "is_private": room.is_private,
        "is_general": room.name == "general",
        "is_member": workspace.bot_user_id in room.members,
        "is_ext_shared": room.is_shared,
        "topic": {"value": room.topic, "creator": "", "last_set": 0},
        "purpose": {"value": "", "creator": "", "last_set": 0},
        "creator": room.creator or (workspace.people[0].id if workspace.people else ""),
    }


_TYPE_OF_KIND = {"channel": "public_channel", "group": "private_channel", "im": "im", "mpim": "mpim"}
_READ = ("channels:read", "groups:read", "im:read", "mpim:read")
_HISTORY = ("channels:history", "groups:history", "im:history", "mpim:history")
METHODS = (
    Method(name="conversations.info", call=info, scopes=_READ, tier=3),
    Method(name="conversations.open", call=open_direct, scopes=("im:write",), tier=3),
    Method(name="conversations.history", call=history, scopes=_HISTORY, tier=3),
    Method(name="conversations.replies", call=replies, scopes=_HISTORY, tier=3),
    Method(name="users.conversations", call=list_for_user, scopes=_READ, tier=3),
)
