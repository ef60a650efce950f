"""Holds what the playground's Web API methods and its people share, and defines what a method is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bot.playground.arguments import Arguments
from bot.playground.events import Events
from bot.playground.refusal import Refused
from bot.playground.sockets import Sockets
from bot.playground.state import Message, Room, State
from bot.playground.surfaces import Surfaces
from bot.playground.workspace import Workspace


@dataclass(frozen=True, kw_only=True, slots=True)
class Slack:
    """`origin` gives the address of the server, without a slash at the end."""

    state: State
    surfaces: Surfaces
    events: Events
    sockets: Sockets
    origin: Callable[[], str]

    @property
    def workspace(self) -> Workspace:
        return self.state.workspace

    def visible_room(self, name_or_id: str) -> Room:
        """Returns a room as the bot sees it: a private one that it is not in does not exist.

        Raises:
            Refused: `channel_not_found`.
        """
        room = self.state.room(name_or_id)
        if room is None or (room.is_private and self.workspace.bot_user_id not in room.members):
            raise Refused("channel_not_found")
        return room

    def joined_room(self, name_or_id: str) -> Room:
        """Returns a room that the bot is a member of.

        Raises:
            Refused: `channel_not_found` or `not_in_channel`.
        """
        room = self.visible_room(name_or_id)
        if self.workspace.bot_user_id not in room.members:
            raise Refused("not_in_channel")
        return room

    def message(self, room: Room, ts: str) -> Message:
        """Returns the message of a room that has this `ts`.

        Raises:
            Refused: `message_not_found`.
        """
        message = room.messages.get(ts)
        if message is None or message.get("subtype") == "tombstone":
            raise Refused("message_not_found")
        return message

    def permalink(self, room: Room, ts: str) -> str:
        thread_ts = room.messages.get(ts, {}).get("thread_ts")
        query = f"?thread_ts={thread_ts}&cid={room.id}" if thread_ts and thread_ts != ts else ""
        return f"{self.origin()}/archives/{room.id}/p{ts.replace('.', '')}{query}"


SPECIAL = 0
"""The tier of methods that Slack allows hundreds of times a minute."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Method:
    """A method of the Web API. `scopes`: any one of them will do; without any none is needed.

    `tier`: of Slack's rate limits. `app_token`: whether it takes that token, not the bot's.
    """

    name: str
    call: Callable[[Slack, Arguments], dict[str, Any]]
    scopes: tuple[str, ...] = ()
    tier: int = SPECIAL
    app_token: bool = False
