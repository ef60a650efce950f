"""reactions.*: emoji under messages."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any

from bot.playground.arguments import Arguments
from bot.playground.refusal import Refused
from bot.playground.slack import Method, Slack
from bot.playground.state import Message, Room

_NAME = re.compile(r"[a-z0-9_+'-]+(::skin-tone-[2-6])?")


def add(slack: Slack, args: Arguments) -> dict[str, Any]:
    room, message = _target(slack, args)
    add_reaction(slack, room, message, user=slack.workspace.bot_user_id, name=args.required("name"))
    return {}


def remove(slack: Slack, args: Arguments) -> dict[str, Any]:
    room, message = _target(slack, args)
    remove_reaction(slack, room, message, user=slack.workspace.bot_user_id, name=args.required("name"))
    return {}


def get(slack: Slack, args: Arguments) -> dict[str, Any]:
    room, message = _target(slack, args)
    return {"type": "message", "channel": room.id, "message": deepcopy(message)}


def add_reaction(slack: Slack, room: Room, message: Message, *, user: str, name: str) -> None:
    """Puts the reaction of `user` at the message.

    Raises:
        Refused: `invalid_name` or `already_reacted`.
    """
    name = name.strip(":")
    if not _NAME.fullmatch(name):
        raise Refused("invalid_name")
    reactions: list[dict[str, Any]] = message.setdefault("reactions", [])
    reaction = next((reaction for reaction in reactions if reaction["name"] == name), None)
    if reaction is None:
        reaction = {"name": name, "users": [], "count": 0}
        reactions.append(reaction)
    if user in reaction["users"]:
        raise Refused("already_reacted")
    reaction["users"].append(user)
    reaction["count"] += 1
    slack.state.changed(room, message)
    slack.events.reaction(room, message, user=user, name=name, added=True)


def remove_reaction(slack: Slack, room: Room, message: Message, *, user: str, name: str) -> None:
    """Takes the reaction of `user` from the message.

    Raises:
        Refused: `no_reaction`.
    """
    name = name.strip(":")
    reactions: list[dict[str, Any]] = message.get("reactions", [])
    reaction = next((reaction for reaction in reactions if reaction["name"] == name), None)
    if reaction is None or user not in reaction["users"]:
        raise Refused("no_reaction")
    reaction["users"].remove(user)
    reaction["count"] -= 1
    if not reaction["users"]:
        reactions.remove(reaction)
    if not reactions:
        message.pop("reactions", None)
    slack.state.changed(room, message)
    slack.events.reaction(room, message, user=user, name=name, added=False)


def _target(slack: Slack, args: Arguments) -> tuple[Room, Message]:
    room = slack.joined_room(args.required("channel"))
    return room, slack.message(room, args.required("timestamp"))


METHODS = (
    Method(name="reactions.add", call=add, scopes=("reactions:write",), tier=3),
    Method(name="reactions.remove", call=remove, scopes=("reactions:write",), tier=2),
    Method(name="reactions.get", call=get, scopes=("reactions:read",), tier=3),
)
