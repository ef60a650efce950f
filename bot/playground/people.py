"""Performs what people do with messages: post, attach, forward, edit, delete, react, join. Page and tests act through
here.
"""

from __future__ import annotations

import re
import uuid
from copy import deepcopy
from typing import Any

from bot.playground.composer import compose, mentions, rich_text
from bot.playground.posting import post_ephemeral
from bot.playground.refusal import PlaygroundError, Refused
from bot.playground.sharing import FILES_IN_A_MESSAGE, Upload, file_object, shared_message
from bot.playground.slack import Slack
from bot.playground.state import Change, Message, Room
from bot.playground.workspace import WorkspaceUser

MAX_GROUP = 8
"""Slack's limit of people in a group direct message."""
EMOJI = re.compile(r"[a-z0-9_+'-]+(::skin-tone-[2-6])?")
WORKFLOW_BOT = "B0WORKFLOW"
WORKFLOW_NAME = "Ask HR"


class UserMessages:
    def __init__(self, slack: Slack) -> None:
        self._slack = slack

    def person(self, user: str) -> WorkspaceUser:
        """Finds a person by id or name.

        Raises:
            PlaygroundError: nobody is called that.
        """
        person = self._slack.workspace.person(user)
        if person is None or person.is_bot:
            raise PlaygroundError(f"there is nobody called {user!r} in this workspace")
        return person

    def room(self, person: WorkspaceUser, channel: str) -> Room:
        """Returns a room that the person is in; "dm" is the one with the bot.

        Raises:
            PlaygroundError: there is no such room for them.
        """
        if channel in ("dm", self._slack.workspace.bot_user_id):
            return self._slack.state.direct(person.id)
        room = self._slack.state.room(channel)
        if room is None or (person.id not in room.members and room.is_private):
            raise PlaygroundError(f"{person.name} sees no channel {channel!r}")
        if person.id not in room.members:
            raise PlaygroundError(f"{person.name} has not joined #{room.name}")
        return room

    def say(
        self,
        user: str,
        channel: str,
        text: str,
        thread_ts: str | None = None,
        *,
        broadcast: bool = False,
        uploads: tuple[Upload, ...] = (),
    ) -> str:
        """Posts a message and returns its `ts`. Files need no words.

        `broadcast`: a reply that is also sent to the channel.
        """
        person = self.person(user)
        room = self.room(person, channel)
        if not text.strip() and not uploads:
            raise PlaygroundError("there is nothing to send")
        extra: dict[str, Any] = {}
        if len(uploads) > FILES_IN_A_MESSAGE:
            raise PlaygroundError(f"a message takes {FILES_IN_A_MESSAGE} files at most")
        if uploads:
            files = [file_object(self._slack, room, person.id, upload) for upload in uploads]
            extra = {"subtype": "file_share", "files": files, "upload": False, "display_as_bot": False}
        if broadcast and thread_ts:
            root = room.messages.get(thread_ts, {})
            inner = ("metadata", "root")
            extra |= {
                "subtype": "thread_broadcast",
                "root": {name: deepcopy(value) for name, value in root.items() if name not in inner},
            }
        return self._send(person, room, text, thread_ts, extra)

    def forward(
        self,
        user: str,
        channel: str,
        ts: str,
        to: str,
        text: str = "",
        thread_ts: str | None = None,
    ) -> str:
        """Forwards the message `ts` of `channel` to another place, with some words or none."""
        person = self.person(user)
        source, target = self.room(person, channel), self.room(person, to)
        message = self._seen(person, source, ts)
        shared = shared_message(self._slack, source, message, private=source.is_private)
        return self._send(person, target, text, thread_ts, {"attachments": [shared]})

    def post_workflow(
        self, channel: str, text: str, *, name: str = WORKFLOW_NAME, thread_ts: str | None = None
    ) -> str:
        """Posts what somebody filled into a workflow's form: a bot's message, of no user."""
        room = self._slack.state.room(channel)
        if room is None or room.is_im:
            raise PlaygroundError("a workflow posts in channels")
        if not text.strip():
            raise PlaygroundError("there is nothing to send")
        composed = self._compose(text)
        message: Message = {
            "type": "message",
            "subtype": "bot_message",
            "bot_id": WORKFLOW_BOT,
            "username": name,
            "ts": self._slack.state.next_ts(),
            "text": composed,
            "team": self._slack.workspace.team_id,
            "blocks": [rich_text(composed)],
        }
        return self._post(room, message, thread_ts)

    def open_group(self, user: str, people: list[str]) -> str:
        """Opens the group direct message of a person, some others and the bot; returns its id."""
        members = {self.person(name).id for name in (user, *people)}
        if not 2 <= len(members) <= MAX_GROUP:
            raise PlaygroundError(f"a group is of two to {MAX_GROUP} people")
        return self._slack.state.group(members).id

    def _send(
        self, person: WorkspaceUser, room: Room, text: str, thread_ts: str | None, extra: dict[str, Any]
    ) -> str:
        composed = self._compose(text)
        message: Message = {
            "client_msg_id": str(uuid.uuid4()),
            "type": "message",
            "user": person.id,
            "ts": self._slack.state.next_ts(),
            "text": composed,
            "team": self._slack.workspace.team_id,
            **({"blocks": [rich_text(composed)]} if composed.strip() else {}),
            **extra,
        }
        ts = self._post(room, message, thread_ts)
        self._offer_invitation(person, room, composed, thread_ts)
        return ts

    def _post(self, room: Room, message: Message, thread_ts: str | None) -> str:
        if thread_ts:
            message["thread_ts"] = thread_ts
        try:
            self._slack.state.add(room, message)
        except Refused as refusal:
            raise PlaygroundError(f"there is no thread {thread_ts} in this channel") from refusal
        self._slack.events.message_posted(room, message)
        return str(message["ts"])

    def edit(self, user: str, channel: str, ts: str, text: str) -> None:
        person, room, message = self._own(user, channel, ts)
        composed = self._compose(text)
        if message.get("text") == composed:
            return  # Slack's composer sends nothing either
        previous = deepcopy(message)
        message |= {"text": composed, "blocks": [rich_text(composed)]}
        message["edited"] = {"user": person.id, "ts": self._slack.state.next_ts()}
        self._slack.state.changed(room, message)
        self._slack.events.message_changed(room, message, previous)

    def delete(self, user: str, channel: str, ts: str) -> None:
        _, room, message = self._own(user, channel, ts)
        self._slack.state.remove(room, message)
        self._slack.events.message_deleted(room, message)

    def react(self, user: str, channel: str, ts: str, name: str, *, remove: bool = False) -> None:
        person = self.person(user)
        room = self.room(person, channel)
        message, name = self._seen(person, room, ts), name.strip(":")
        reactions = {reaction["name"]: reaction["users"] for reaction in message.get("reactions", [])}
        users = reactions.setdefault(name, [])
        if (person.id in users) is not remove or not EMOJI.fullmatch(name):
            raise PlaygroundError(f"that reaction is not possible: {name}")
        (users.remove if remove else users.append)(person.id)
        message["reactions"] = [
            {"name": name, "users": users, "count": len(users)} for name, users in reactions.items() if users
        ]
        if not message["reactions"]:
            del message["reactions"]
        self._slack.state.changed(room, message)

    def join(self, user: str, channel: str, *, inviter: str | None = None) -> None:
        """Puts a person, or the bot, into a channel."""
        room = self._slack.state.room(channel)
        member = self._slack.workspace.person(user)
        if room is None or member is None:
            raise PlaygroundError(f"no such channel or person: {channel!r}, {user!r}")
        if member.id in room.members:
            raise PlaygroundError(f"{member.name} is in #{room.name} already")
        room.members.add(member.id)
        notice: Message = {
            "type": "message",
            "subtype": "channel_join",
            "user": member.id,
            "ts": self._slack.state.next_ts(),
            "text": f"<@{member.id}> has joined the channel",
        }
        if inviter:
            notice["inviter"] = inviter
        self._slack.state.add(room, notice)
        self._slack.state.announce(Change(kind="room", channel=room.id))
        self._slack.events.message_posted(room, notice)

    def _compose(self, text: str) -> str:
        channels = {room.name: room.id for room in self._slack.state.rooms.values() if not room.is_im}
        return compose(text, self._slack.workspace, channels)

    def _seen(self, person: WorkspaceUser, room: Room, ts: str) -> Message:
        try:
            return self._slack.message(room, ts)
        except Refused as refusal:
            raise PlaygroundError(f"{person.name} sees no message {ts} in this channel") from refusal

    def _own(self, user: str, channel: str, ts: str) -> tuple[WorkspaceUser, Room, Message]:
        person = self.person(user)
        room = self.room(person, channel)
        message = room.messages.get(ts)
        if message is None or message.get("user") != person.id:
            raise PlaygroundError(f"{person.name} has written no message {ts} here")
        return person, room, message

    def _offer_invitation(self, person: WorkspaceUser, room: Room, text: str, thread_ts: str | None) -> None:
        """Tells the writer, as Slack does, that they mentioned an app that is not in the channel."""
        bot = self._slack.workspace.bot
        if bot.id in room.members or not mentions(text, bot.id):
            return
        text = f"You mentioned <@{bot.id}>, but they're not in this channel. Type `/invite @{bot.name}` to add them."
        post_ephemeral(self._slack, room, person.id, {"text": text}, thread_ts=thread_ts, system=True)
