"""The channel directory: what a channel is called and who can see what is written there. Cached for a few minutes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

import aiohttp
from slack_sdk.errors import SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from kb.models import Audience

logger = logging.getLogger(__name__)

ChannelKind = Literal["channel", "group", "im", "mpim", "unknown"]

KEEP = timedelta(minutes=5)
"""How long a renamed channel may keep the audience of its old name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Channel:
    """`name` has no hash and is None for a direct message, and where Slack did not tell."""

    id: str
    name: str | None
    kind: ChannelKind

    @property
    def audience(self) -> Audience:
        """A direct message sees everyone's pages only: nobody else vouches for who reads it."""
        if self.kind in {"im", "mpim"}:
            return Audience()
        named = {f"#{self.name}"} if self.name else set()
        return Audience(channels=frozenset({self.id} | named))

    @property
    def label(self) -> str:
        return f"#{self.name}" if self.name else "this channel"


class ChannelDirectory:
    def __init__(self, client: AsyncWebClient, *, clock: Callable[[], datetime]) -> None:
        self._client = client
        self._clock = clock
        self._known: dict[str, tuple[datetime, Channel]] = {}

    async def describe(self, channel_id: str) -> Channel:
        """A channel that Slack does not tell about has no name: its id alone makes the narrower audience."""
        now = self._clock()
        known = self._known.get(channel_id)
        if known is not None and now - known[0] < KEEP:
            return known[1]
        try:
            response = await self._client.conversations_info(channel=channel_id)
        except (SlackClientError, aiohttp.ClientError, TimeoutError) as error:
            logger.warning("channel.unknown", extra={"channel": channel_id, "cause": type(error).__name__})
            return Channel(id=channel_id, name=None, kind="im" if channel_id.startswith("D") else "unknown")
        channel = _parsed(channel_id, response["channel"])
        self._known[channel_id] = (now, channel)
        return channel


def _parsed(channel_id: str, told: dict[str, Any]) -> Channel:
    if told.get("is_im"):
        return Channel(id=channel_id, name=None, kind="im")
    if told.get("is_mpim"):
        return Channel(id=channel_id, name=None, kind="mpim")
    kind: ChannelKind = "group" if told.get("is_private") or told.get("is_group") else "channel"
    return Channel(id=channel_id, name=told.get("name") or None, kind=kind)
