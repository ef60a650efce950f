"""Holds the state of the workspace: rooms with their messages, ephemeral messages, statuses.

A message is the dict that Slack would show. Whoever changes something here announces it as a `Change`: the browser
page and `wait_for` listen. What the app gets to hear is another matter (`events.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from bot.playground.refusal import Refused
from bot.playground.slack_limits import Clock, SlackLimits
from bot.playground.workspace import Workspace

Message = dict[str, Any]
ChangeKind = Literal[
    "message",
    "message_deleted",
    "ephemeral",
    "status",
    "suggestions",
    "title",
    "seat",
    "view",
    "view_closed",
    "home",
    "room",
    "notice",
]


GROUP_TOPIC = "Group message"
_THREAD_FIELDS = (
    "thread_ts",
    "reply_count",
    "reply_users",
    "reply_users_count",
    "latest_reply",
    "is_locked",
    "subscribed",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """`user`: the only person who may see it; None: everyone in `channel`."""

    kind: ChangeKind
    channel: str | None = None
    user: str | None = None
    body: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Status:
    """The line below a message that tells what the app is doing, shown until `until` (seconds since 1970)."""

    channel: str
    thread_ts: str
    text: str
    until: float

    def as_json(self, now: float) -> dict[str, Any]:
        return {
            "thread_ts": self.thread_ts,
            "text": self.text,
            "seconds_left": max(0.0, self.until - now),
        }


@dataclass(kw_only=True, slots=True)
class Room:
    """A channel or a DM, with its messages by ts."""

    id: str
    name: str
    is_private: bool
    is_im: bool
    topic: str
    members: set[str]
    is_shared: bool = False
    is_mpim: bool = False
    creator: str = ""
    messages: dict[str, Message] = field(default_factory=dict)

    @property
    def kind(self) -> Literal["channel", "group", "im", "mpim"]:
        """Slack's `channel_type`."""
        if self.is_im:
            return "im"
        if self.is_mpim:
            return "mpim"
        return "group" if self.is_private else "channel"

    def ordered(self) -> list[Message]:
        return sorted(self.messages.values(), key=lambda message: float(message["ts"]))

    def thread(self, thread_ts: str) -> list[Message]:
        """Returns the thread's first message and its replies, oldest first."""
        return [
            message for message in self.ordered() if thread_ts in (message["ts"], message.get("thread_ts"))
        ]

    def top_level(self) -> list[Message]:
        """Returns what the channel shows: messages outside threads, and replies that were also sent to it."""
        return [
            message
            for message in self.ordered()
            if message.get("thread_ts", message["ts"]) == message["ts"]
            or message.get("subtype") == "thread_broadcast"
        ]


class State:
    """The workspace as it is now."""

    def __init__(self, workspace: Workspace, *, clock: Clock, limits: SlackLimits) -> None:
        self.workspace = workspace
        self.limits = limits
        self.now = clock
        self.rooms = {
            channel.id: Room(**asdict(channel) | {"members": set(channel.members)})
            for channel in workspace.channels
        }
        self.ephemerals: list[Message] = []
        self.suggestions: dict[tuple[str, str], dict[str, Any]] = {}
        """Suggestions by channel and thread ("" for all of a DM): `{"thread_ts", "title", "prompts"}`."""
        self.titles: dict[tuple[str, str], str] = {}
        """What the app calls a thread of a DM."""
        self.me = ""
        """Who sat at the page last."""
        self._statuses: dict[tuple[str, str], Status] = {}
        self._last_micros = 0
        self._listeners: list[Callable[[Change], None]] = []

    def listen(self, listener: Callable[[Change], None]) -> None:
        """Calls `listener` at each change from now on."""
        self._listeners.append(listener)

    def announce(self, change: Change) -> None:
        for listener in self._listeners:
            listener(change)

    def next_ts(self) -> str:
        """Returns a timestamp later than every one before it, with six decimals."""
        self._last_micros = max(self._last_micros + 1, int(self.now() * 1_000_000))
        return f"{self._last_micros // 1_000_000}.{self._last_micros % 1_000_000:06d}"

    def resume_after(self, timestamps: Iterable[str]) -> None:
        """Makes every later `next_ts` later than these too."""
        latest = (int(ts.replace(".", "")) for ts in timestamps)
        self._last_micros = max(self._last_micros, *latest, 0)

    def sit_down(self, user: str) -> None:
        """Notes who opened the page, or became somebody else there."""
        if self.me != user:
            self.me = user
            self.announce(Change(kind="seat"))

    def room(self, name_or_id: str) -> Room | None:
        name = name_or_id.removeprefix("#")
        named = (room for room in self.rooms.values() if room.name == name and not room.is_im)
        return self.rooms.get(name_or_id) or next(named, None)

    def direct(self, user: str) -> Room:
        """Returns the DM of a person with the bot, opened when there is none yet."""
        room_id = f"D0{user.removeprefix('U0')}"
        if room_id not in self.rooms:
            members = {user, self.workspace.bot_user_id}
            self.rooms[room_id] = Room(
                id=room_id, name=user, is_private=True, is_im=True, topic="", members=members
            )
            self.announce(Change(kind="room", channel=room_id, user=user))
        return self.rooms[room_id]

    def group(self, users: Iterable[str]) -> Room:
        """Returns the group DM of these people and the bot, opened when there is none yet."""
        members = {*users, self.workspace.bot_user_id}
        for room in self.rooms.values():
            if room.is_mpim and room.members == members:
                return room
        names = sorted(person.name for person in self.workspace.everyone() if person.id in members)
        short = (member.removeprefix("U0") for member in sorted(members))
        room = Room(
            id=f"G1{''.join(short)}",
            name=f"mpdm-{'--'.join(names)}-1",
            is_private=True,
            is_im=False,
            is_mpim=True,
            topic=GROUP_TOPIC,
            members=members,
        )
        self.rooms[room.id] = room
        self.announce(Change(kind="room", channel=room.id))
        return room

    def add(self, room: Room, message: Message) -> None:
        """Puts a new message in its place and keeps the count of its thread.

        Raises:
            Refused: `cannot_reply_to_message`, when its thread does not exist.
        """
        thread_ts = message.get("thread_ts")
        if thread_ts and thread_ts != message["ts"]:
            root = room.messages.get(thread_ts)
            if root is None or root.get("thread_ts", thread_ts) != thread_ts:
                raise Refused("cannot_reply_to_message")
            message["parent_user_id"] = root.get("user")
            room.messages[message["ts"]] = message
            self._count_replies(room, root)
            if message.get("bot_id"):
                self.set_status(room, thread_ts, "")
        else:
            message.pop("thread_ts", None)
            room.messages[message["ts"]] = message
        self.changed(room, message)

    def changed(self, room: Room, message: Message) -> None:
        self.announce(Change(kind="message", channel=room.id, body=deepcopy(message)))

    def remove(self, room: Room, message: Message) -> None:
        """Deletes a message. One that has replies leaves a tombstone, as in Slack."""
        if message.get("reply_count"):
            kept = {name: message[name] for name in _THREAD_FIELDS if name in message}
            tombstone = {
                "type": "message",
                "subtype": "tombstone",
                "text": "This message was deleted.",
                "user": "USLACKBOT",
                "hidden": True,
                "ts": message["ts"],
                **kept,
            }
            room.messages[message["ts"]] = tombstone
            self.changed(room, tombstone)
            return
        del room.messages[message["ts"]]
        self.announce(Change(kind="message_deleted", channel=room.id, body={"ts": message["ts"]}))
        root = room.messages.get(message.get("thread_ts", ""))
        if root is not None:
            self._count_replies(room, root)

    def _count_replies(self, room: Room, root: Message) -> None:
        replies = [message for message in room.thread(root["ts"]) if message["ts"] != root["ts"]]
        for name in _THREAD_FIELDS:
            root.pop(name, None)
        if replies:
            users = list(dict.fromkeys(reply.get("user", "") for reply in replies))
            root.update(
                thread_ts=root["ts"],
                reply_count=len(replies),
                reply_users=users,
                reply_users_count=len(users),
                latest_reply=replies[-1]["ts"],
                is_locked=False,
                subscribed=True,
            )
        self.changed(room, root)

    def add_ephemeral(self, message: Message) -> None:
        """Adds a message that carries `channel` and `to`, the only person who sees it."""
        self.ephemerals.append(message)
        self.announce(
            Change(kind="ephemeral", channel=message["channel"], user=message["to"], body=deepcopy(message))
        )

    def set_status(self, room: Room, thread_ts: str, text: str) -> None:
        """Sets the status of a thread; an empty text clears it."""
        key = (room.id, thread_ts)
        if not text and key not in self._statuses:
            return
        status = Status(
            channel=room.id,
            thread_ts=thread_ts,
            text=text,
            until=self.now() + self.limits.status_s,
        )
        if text:
            self._statuses[key] = status
        else:
            del self._statuses[key]
        self.announce(Change(kind="status", channel=room.id, body=status.as_json(self.now())))

    def statuses(self) -> list[Status]:
        """Returns the statuses that are still shown."""
        return [status for status in self._statuses.values() if status.until > self.now()]
