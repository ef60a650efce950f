"""Builds Events API payloads for what happens, as far as the app is subscribed to it."""

from __future__ import annotations

import secrets
from copy import deepcopy
from typing import Any

from bot.playground.composer import mentions
from bot.playground.delivery import Delivery
from bot.playground.state import Message, Room, State

SUBSCRIPTIONS = frozenset(
    {
        "app_mention",
        "message.channels",
        "message.groups",
        "message.im",
        "message.mpim",
        "app_home_opened",
    }
)
"""Those of Footnote's manifest."""

_SCOPE_OF_KIND = {
    "channel": "message.channels",
    "group": "message.groups",
    "im": "message.im",
    "mpim": "message.mpim",
}
_MENTION_FIELDS = (
    "user",
    "ts",
    "client_msg_id",
    "text",
    "team",
    "thread_ts",
    "parent_user_id",
    "blocks",
    "attachments",
    "files",
    "upload",
    "display_as_bot",
    "bot_id",
    "username",
    "edited",
)
"""The fields of a message that app_mention carries. A workflow's has `bot_id` and `username` and no `user`."""


class Events:
    """Turns happenings into event payloads and hands them to `Delivery`."""

    def __init__(self, state: State, delivery: Delivery) -> None:
        self._state = state
        self._delivery = delivery

    def message_posted(self, room: Room, message: Message) -> None:
        """Sends a new message; a mention in a channel twice, as `message` and as `app_mention`, with one ts."""
        self._message(room, deepcopy(message), ts=message["ts"])
        self._mention(room, message)

    def message_changed(self, room: Room, message: Message, previous: Message) -> None:
        self._hidden(room, "message_changed", previous, message=deepcopy(message))
        if not mentions(previous.get("text", ""), self._state.workspace.bot_user_id):
            self._mention(room, message)

    def message_deleted(self, room: Room, previous: Message) -> None:
        if room.messages.get(previous["ts"], {}).get("subtype") == "tombstone":
            self.message_changed(room, room.messages[previous["ts"]], previous)
            return
        self._hidden(room, "message_deleted", previous, deleted_ts=previous["ts"])

    def home_opened(self, user: str, room: Room, tab: str, view: dict[str, Any] | None) -> None:
        event: dict[str, Any] = {
            "type": "app_home_opened",
            "user": user,
            "channel": room.id,
            "tab": tab,
            "event_ts": self._state.next_ts(),
        }
        if view is not None:
            event["view"] = deepcopy(view)
        self._send("app_home_opened", room, event)

    def _hidden(self, room: Room, subtype: str, previous: Message, **fields: Any) -> None:
        """Tells of a change to the message `previous`."""
        ts = self._state.next_ts()
        changed = {"type": "message", "subtype": subtype, "hidden": True, "ts": ts, **fields}
        self._message(room, changed | {"previous_message": deepcopy(previous)}, ts=ts)

    def _message(self, room: Room, event: dict[str, Any], *, ts: str) -> None:
        for name in ("metadata", "stream_touched"):
            event.pop(name, None)
        event |= {"channel": room.id, "event_ts": ts, "channel_type": room.kind}
        self._send(_SCOPE_OF_KIND[room.kind], room, event)

    def _mention(self, room: Room, message: Message) -> None:
        workspace = self._state.workspace
        if (
            room.is_im
            or message.get("bot_id") == workspace.bot_id
            or not mentions(message.get("text", ""), workspace.bot_user_id)
        ):
            return
        event = {name: deepcopy(message[name]) for name in _MENTION_FIELDS if name in message}
        happened = message.get("edited", {}).get("ts", message["ts"])
        event |= {"type": "app_mention", "channel": room.id, "event_ts": happened}
        self._send("app_mention", room, event)

    def _send(self, subscription: str, room: Room, event: dict[str, Any]) -> None:
        workspace = self._state.workspace
        if subscription not in SUBSCRIPTIONS or workspace.bot_user_id not in room.members:
            return
        self._delivery.event(
            {
                "token": "playground-verification-token",
                "team_id": workspace.team_id,
                "context_team_id": workspace.team_id,
                "context_enterprise_id": None,
                "api_app_id": workspace.app_id,
                "event": event,
                "type": "event_callback",
                "event_id": f"Ev{secrets.token_hex(6).upper()}",
                "event_time": int(self._state.now()),
                "authorizations": [
                    {
                        "enterprise_id": None,
                        "team_id": workspace.team_id,
                        "user_id": workspace.bot_user_id,
                        "is_bot": True,
                        "is_enterprise_install": False,
                    }
                ],
                "is_ext_shared_channel": False,
                "event_context": f"4-{secrets.token_urlsafe(24)}",
            }
        )
