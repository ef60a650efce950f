"""Events in shapes that the playground does not make by itself: as Slack sends them, in any order, again and late."""

from __future__ import annotations

import secrets
from copy import deepcopy
from typing import Any

from tests.fakes.office import Office


def send(office: Office, event: dict[str, Any]) -> None:
    """Sends an event to the bot, as it is."""
    workspace = office.slack._state.workspace
    authorization = {
        "enterprise_id": None,
        "team_id": workspace.team_id,
        "user_id": workspace.bot_user_id,
        "is_bot": True,
        "is_enterprise_install": False,
    }
    office.slack._delivery.event(
        {
            "token": "t",
            "team_id": workspace.team_id,
            "api_app_id": workspace.app_id,
            "event": deepcopy(event),
            "type": "event_callback",
            "event_id": f"Ev{secrets.token_hex(5)}",
            "event_time": 1,
            "authorizations": [authorization],
            "is_ext_shared_channel": False,
        }
    )


def stored(office: Office, channel: str, ts: str) -> dict[str, Any]:
    return dict(office.slack._room(channel).messages[ts])


def put(office: Office, channel: str, **message: Any) -> dict[str, Any]:
    """A message in a channel, of which no event is sent."""
    room = office.slack._room(channel)
    made = {"type": "message", "ts": office.slack._state.next_ts(), **message}
    office.slack._state.add(room, made)
    return made


def posted(office: Office, channel: str, **message: Any) -> str:
    """The message, and its events."""
    made = put(office, channel, **message)
    office.slack._slack.events.message_posted(office.slack._room(channel), made)
    return str(made["ts"])


def mention(office: Office, channel: str, message: dict[str, Any], **changes: Any) -> dict[str, Any]:
    kept = {name: value for name, value in message.items() if name != "subtype"}
    room = office.slack._room(channel)
    return {**kept, "type": "app_mention", "channel": room.id, "event_ts": message["ts"], **changes}


def changed(
    office: Office, channel: str, message: dict[str, Any], before: dict[str, Any] | None = None
) -> dict[str, Any]:
    room = office.slack._room(channel)
    now = office.slack._state.next_ts()
    event = {
        "type": "message",
        "subtype": "message_changed",
        "message": message,
        "hidden": True,
        "ts": now,
        "channel": room.id,
        "channel_type": "im" if room.is_im else "channel",
        "event_ts": now,
    }
    return event if before is None else {**event, "previous_message": before}


def deleted(office: Office, channel: str, message: dict[str, Any], *, whole: bool = True) -> dict[str, Any]:
    """`whole`: with the message as it was."""
    room = office.slack._room(channel)
    now = office.slack._state.next_ts()
    event = {
        "type": "message",
        "subtype": "message_deleted",
        "deleted_ts": message["ts"],
        "hidden": True,
        "ts": now,
        "channel": room.id,
        "channel_type": "im" if room.is_im else "channel",
        "event_ts": now,
    }
    return {**event, "previous_message": message} if whole else event


def bot(office: Office) -> str:
    return f"<@{office.slack._state.workspace.bot_user_id}>"
