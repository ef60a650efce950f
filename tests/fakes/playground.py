"""The playground as tests use it: what people do there, each deed as one call, and what they see.

playground = Playground(sample_workspace())
await playground.start()
ts = await playground.say("alice", "#general", "@footnote How many days of holiday do I get?")
answer = await playground.wait_for(lambda: playground.messages("#general", ts)[1:])

People go by id or name, channels by id, name or "dm" (the DM with the bot).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from copy import deepcopy
from typing import Any, TypeVar

from bot import playground
from bot.playground.delivery import Attempt
from bot.playground.people import WORKFLOW_NAME
from bot.playground.refusal import PlaygroundError
from bot.playground.sharing import Upload
from bot.playground.slack_limits import Clock, SlackLimits
from bot.playground.state import Change, Message, Room, Status
from bot.playground.surfaces import View
from bot.playground.web_api import Call
from bot.playground.workspace import SHORTCUT_ID, Workspace
from tests.fakes.faults import Faults, FaultyWebApi
from tests.fakes.http_events import HttpEvents

T = TypeVar("T")


class Playground(playground.Playground):
    """`events_url`: where events are POSTed, signed; None: Socket Mode. `options`: as the playground's own."""

    def __init__(
        self,
        workspace: Workspace,
        *,
        events_url: str | None = None,
        clock: Clock = time.time,
        limits: SlackLimits | None = None,
        **options: Any,
    ) -> None:
        limits = limits or SlackLimits()
        self._http = events_url and HttpEvents(
            events_url, signing_secret=workspace.signing_secret, clock=clock, limits=limits
        )
        self.calls: list[Call] = []
        """The app's Web API calls, oldest first."""
        self.deliveries: list[Attempt] = []
        """Every try to bring the app an event, a command or an interaction, oldest first."""
        super().__init__(
            workspace,
            clock=clock,
            limits=limits,
            transport=self._http or None,
            api=FaultyWebApi,
            on_call=self.calls.append,
            on_attempt=self.deliveries.append,
            **options,
        )
        self.faults: Faults = self._api.faults
        self._changed = asyncio.Event()
        self._state.listen(self._note_change)

    async def start(self) -> None:
        if self._http:
            await self._http.open()
        await super().start()

    async def stop(self) -> None:
        await super().stop()
        if self._http:
            await self._http.close()

    async def say(
        self,
        user: str,
        channel: str,
        text: str,
        thread_ts: str | None = None,
        *,
        broadcast: bool = False,
    ) -> str:
        """Types a message and sends it; returns its ts. "@footnote" becomes a mention, as in Slack's composer.

        `broadcast`: a reply that is also sent to the channel.
        """
        return self._people.say(user, channel, text, thread_ts, broadcast=broadcast)

    async def attach(
        self, user: str, channel: str, *uploads: Upload, text: str = "", thread_ts: str | None = None
    ) -> str:
        """Sends files, with words or without."""
        return self._people.say(user, channel, text, thread_ts, uploads=uploads)

    async def forward(
        self, user: str, channel: str, ts: str, to: str, text: str = "", thread_ts: str | None = None
    ) -> str:
        """Forwards the message `ts` of `channel` to the channel `to`."""
        return self._people.forward(user, channel, ts, to, text, thread_ts)

    async def post_workflow(
        self, channel: str, text: str, *, name: str = WORKFLOW_NAME, thread_ts: str | None = None
    ) -> str:
        """A workflow's form posts, as a bot."""
        return self._people.post_workflow(channel, text, name=name, thread_ts=thread_ts)

    async def open_group(self, user: str, *others: str) -> str:
        """The id of the group direct message of these people and the bot."""
        return self._people.open_group(user, list(others))

    async def shortcut(
        self, user: str, channel: str, message_ts: str, callback_id: str = SHORTCUT_ID
    ) -> bool:
        """Picks the app's message shortcut; whether the app acknowledged."""
        return await self._interactions.shortcut(user, channel, message_ts, callback_id)

    async def edit(self, user: str, channel: str, ts: str, text: str) -> None:
        self._people.edit(user, channel, ts, text)

    async def delete(self, user: str, channel: str, ts: str) -> None:
        self._people.delete(user, channel, ts)

    async def react(self, user: str, channel: str, ts: str, name: str, *, remove: bool = False) -> None:
        self._people.react(user, channel, ts, name, remove=remove)

    async def join(self, user: str, channel: str, *, inviter: str | None = None) -> None:
        """`user` may be the bot."""
        self._people.join(user, channel, inviter=inviter)

    async def command(self, user: str, channel: str, name: str, text: str = "") -> None:
        """Runs a slash command; returns when the app has acknowledged it, or has failed to."""
        await self._interactions.command(user, channel, name, text)

    async def click(
        self, user: str, channel: str, message_ts: str, action_id: str, value: str | list[str] | None = None
    ) -> bool:
        """Presses a control of a message; `value` chooses among feedback buttons. Whether the app acknowledged."""
        return await self._interactions.click(user, channel, message_ts, action_id, value)

    async def click_view(
        self, user: str, view_id: str, action_id: str, value: str | list[str] | None = None
    ) -> bool:
        return await self._interactions.click_view(user, view_id, action_id, value)

    async def submit_view(
        self, user: str, view_id: str, values: dict[str, dict[str, Any]] | None = None
    ) -> dict[str, str]:
        """Sends a modal's form (block_id -> action_id -> value); returns the app's errors by block_id."""
        return await self._interactions.submit_view(user, view_id, values)

    async def close_view(self, user: str, view_id: str) -> None:
        self._interactions.close_view(user, view_id)

    async def open_home(self, user: str, tab: str = "home") -> None:
        self._interactions.open_home(user, tab)

    @property
    def connected(self) -> int:
        """Sockets of the app that take events."""
        return self._sockets.count

    def messages(self, channel: str, thread_ts: str | None = None) -> list[Message]:
        """Without `thread_ts` the messages of the channel outside threads; with it that thread, root first.

        Copies of Slack's message dicts, oldest first.
        """
        room = self._room(channel)
        return deepcopy(room.thread(thread_ts) if thread_ts else room.top_level())

    def ephemerals(self, user: str, channel: str | None = None) -> list[Message]:
        """What only this person was shown, oldest first; `channel` narrows it."""
        person = self._people.person(user)
        room = self._room(channel) if channel else None
        return [
            deepcopy(message)
            for message in self._state.ephemerals
            if message["to"] == person.id and (room is None or message["channel"] == room.id)
        ]

    def status(self, channel: str, thread_ts: str) -> Status | None:
        """What the app says that it is doing in a thread, while it is shown."""
        room = self._room(channel)
        shown = (
            one for one in self._state.statuses() if (one.channel, one.thread_ts) == (room.id, thread_ts)
        )
        return next(shown, None)

    def modal(self, user: str) -> View | None:
        """The person's modal, while one is open."""
        return deepcopy(self._slack.surfaces.modals.get(self._people.person(user).id))

    def prompts(self, user: str) -> list[dict[str, Any]]:
        """What the app suggests in the person's pane with it."""
        return deepcopy(self._state.suggestions.get((self.dm(user), ""), {}).get("prompts", []))

    def title(self, user: str, thread_ts: str) -> str | None:
        """What the app calls a thread of its DM with the person."""
        return self._state.titles.get((self.dm(user), thread_ts))

    def home(self, user: str) -> View | None:
        """The person's App Home, once the app has published it."""
        return deepcopy(self._slack.surfaces.homes.get(self._people.person(user).id))

    async def wait_for(self, predicate: Callable[[], T], timeout: float = 30.0) -> T:
        """Waits until `predicate` is true (tried at each change, and a few times a second); returns its value.

        Raises:
            TimeoutError: `timeout` seconds passed.
        """
        deadline = asyncio.get_running_loop().time() + timeout
        while not (value := predicate()):
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                raise TimeoutError(f"not so within {timeout} s")
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), min(left, 0.1))
            except TimeoutError:
                continue
        return value

    async def refresh_sockets(self) -> None:
        """Asks the app to connect anew, as Slack does every few hours."""
        await self._sockets.refresh()

    async def drop_sockets(self) -> None:
        """Cuts the app's sockets without a word."""
        await self._sockets.drop()

    def _room(self, channel: str) -> Room:
        room = self._state.room(channel)
        if room is None:
            raise PlaygroundError(f"there is no channel {channel!r}")
        return room

    def _note_change(self, _change: Change) -> None:
        self._changed.set()
