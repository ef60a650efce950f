"""Saves the playground's rooms and messages over a restart, and who sat at the page last.

One JSON file in the data folder, of the rooms as they are: no token and no other secret is part of a message. It is
written a moment after each change, in whole, and takes the place of the one before in one step.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints, ValidationError

from bot.playground.state import GROUP_TOPIC, Change, Message, Room, State
from kb.runtime.tasks import cancelled

logger = logging.getLogger(__name__)

FILE = "playground-history.json"
SET_ASIDE = "playground-history.broken.json"
ROOM_MESSAGES = 1_000
"""The newest messages of a room that are kept, each with the first message of its thread."""
DELAY_S = 1.0
"""How long changes are gathered before they are written."""
LASTING = {"message", "message_deleted", "room", "title", "seat"}

Ts = Annotated[str, StringConstraints(pattern=r"^\d+\.\d{6}$")]


class SavedRoom(BaseModel):
    id: str
    name: str = ""
    kind: str = "channel"
    members: list[str]
    messages: dict[Ts, dict[str, Any]] = Field(default_factory=dict)


class Saved(BaseModel):
    version: int = 1
    origin: str = ""
    """Where the playground was: its links are made to lead to where it is now."""
    me: str = ""
    rooms: list[SavedRoom] = Field(default_factory=list)
    titles: list[tuple[str, str, str]] = Field(default_factory=list)


class History:
    """`tell` gets the one sentence that a person should read, when a file could not be used."""

    def __init__(self, folder: Path, *, tell: Callable[[str], None]) -> None:
        self._file = folder / FILE
        self._tell = tell
        self._state: State | None = None
        self._origin = ""
        self._due = asyncio.Event()
        self._writing: asyncio.Task[None] | None = None

    def forget(self) -> None:
        """Starts anew: what was said before is deleted."""
        self._file.unlink(missing_ok=True)

    async def open(self, state: State, origin: str) -> None:
        """Puts what was said before into `state`, and from then on writes down what changes."""
        saved = await asyncio.to_thread(self._read)
        if saved is not None:
            _restore(state, saved, origin)
        self._state, self._origin = state, origin
        state.listen(self._note)
        self._writing = asyncio.create_task(self._write_when_due())

    async def close(self) -> None:
        if self._writing is None:
            return
        await cancelled(self._writing)
        self._writing = None
        await self._write()

    def _note(self, change: Change) -> None:
        if change.kind in LASTING:
            self._due.set()

    async def _write_when_due(self) -> None:
        while True:
            await self._due.wait()
            await asyncio.sleep(DELAY_S)
            self._due.clear()
            await self._write()

    async def _write(self) -> None:
        if self._state is None:
            return
        text = _saved(self._state, self._origin).model_dump_json()
        try:
            await asyncio.to_thread(self._replace, text)
        except OSError as error:
            logger.warning("playground.history.not_written", extra={"cause": str(error)})

    def _replace(self, text: str) -> None:
        fresh = self._file.with_suffix(".new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as output:
            output.write(text)
            output.flush()
            os.fsync(output.fileno())
        fresh.replace(self._file)

    def _read(self) -> Saved | None:
        """Reads the file; None where there is none. One that cannot be read is set aside, so that nothing is lost."""
        try:
            return Saved.model_validate_json(self._file.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            logger.warning("playground.history.broken", extra={"cause": type(error).__name__})
        aside = self._file.with_name(SET_ASIDE)
        try:
            self._file.replace(aside)
        except OSError:
            self._tell(f"The playground's history cannot be read, and it starts empty: {self._file}")
        else:
            self._tell(
                f"The playground's history cannot be read, so it starts empty. The old file is {aside}"
            )
        return None


def _saved(state: State, origin: str) -> Saved:
    return Saved(
        origin=origin,
        me=state.me,
        rooms=[
            SavedRoom(
                id=room.id,
                name=room.name,
                kind=room.kind,
                members=sorted(room.members),
                messages={message["ts"]: message for message in _kept(room)},
            )
            for room in state.rooms.values()
        ],
        titles=[(*key, title) for key, title in state.titles.items()],
    )


def _kept(room: Room) -> list[Message]:
    newest = room.ordered()[-ROOM_MESSAGES:]
    kept = {message["ts"] for message in newest}
    kept |= {message["thread_ts"] for message in newest if "thread_ts" in message}
    return [message for message in room.ordered() if message["ts"] in kept]


def _restore(state: State, saved: Saved, origin: str) -> None:
    """Gives the workspace's channels their messages and members back, and opens direct messages again."""
    people = {person.id for person in state.workspace.everyone()}
    for kept in saved.rooms:
        members = set(kept.members) & people
        room = state.rooms.get(kept.id)
        if room is None and kept.kind in ("im", "mpim") and state.workspace.bot_user_id in members:
            room = Room(
                id=kept.id,
                name=kept.name,
                is_private=True,
                is_im=kept.kind == "im",
                is_mpim=kept.kind == "mpim",
                topic=GROUP_TOPIC if kept.kind == "mpim" else "",
                members=members,
            )
            state.rooms[room.id] = room
        if room is None:  # a channel that this workspace does not have
            continue
        room.members |= members
        room.messages = {
            ts: _moved(message, saved.origin, origin) | {"ts": ts} for ts, message in kept.messages.items()
        }
        for message in room.messages.values():
            # A stream that was being written when the playground stopped gets no more text.
            if message.get("streaming_state") == "in_progress":
                message["streaming_state"] = "completed"
    state.titles = {(channel, ts): title for channel, ts, title in saved.titles}
    state.me = saved.me if saved.me in people else ""
    state.resume_after(ts for room in state.rooms.values() for ts in room.messages)


def _moved(message: Message, before: str, now: str) -> Message:
    """Returns a copy of the message whose links lead to the playground's present address."""
    if not before or before == now:
        return message
    text = json.dumps(message, ensure_ascii=False).replace(f"{before}/", f"{now}/")
    moved: Message = json.loads(text)
    return moved
