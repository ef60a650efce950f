"""What people do in the playground, for tests: each deed as one call.
People go by id or name, channels by id, name or "dm".
"""

from __future__ import annotations

from typing import Any

from bot.playground.interactions import Interactions
from bot.playground.people import WORKFLOW_NAME, UserMessages
from bot.playground.sharing import Upload
from bot.playground.workspace import SHORTCUT_ID


class UserActions:
    _people: UserMessages
    _interactions: Interactions

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
        return self._people.open_group(user, list(others)).id

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
        await self._interactions.close_view(user, view_id)

    async def open_home(self, user: str, tab: str = "home") -> None:
        self._interactions.open_home(user, tab)
