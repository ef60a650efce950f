"""Looks up channels: name, kind, and whether another organisation shares it. Cached for minutes."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.errors import SLACK_FAILURES, cause_of, error_code
from bot.slack.ttl_cache import TtlCache

logger = logging.getLogger(__name__)

ChannelKind = Literal["channel", "group", "im", "mpim", "unknown"]

KEEP = timedelta(minutes=5)
"""How long a renamed channel may keep the audience of its old name, and one that was just shared its old readers."""


SHARED = ("is_ext_shared", "is_pending_ext_shared", "pending_shared", "pending_connected_team_ids")
"""What says that another organisation reads along, or will as soon as it accepts."""
PAGE = 200
MOST_PAGES = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Channel:
    """`name` has no hash and is None for a direct message, and where Slack did not tell.

    `shared`: with another organisation, or about to be. `known`: Slack told, if only that there is no such channel;
    `error`: where it did not, why.
    """

    id: str
    name: str | None
    kind: ChannelKind
    shared: bool = False
    known: bool = True
    error: Exception | None = field(default=None, compare=False, repr=False)

    @property
    def is_public(self) -> bool:
        """Tells whether everybody in the workspace may read it, and nobody else."""
        return self.kind == "channel" and self.known and not self.shared


class ChannelDirectory:
    def __init__(self, client: AsyncWebClient, *, clock: Callable[[], datetime]) -> None:
        self._client = client
        self._known: TtlCache[str, Channel] = TtlCache(keep=KEEP, clock=clock)

    async def describe(self, channel_id: str) -> Channel:
        """Looks a channel up. One that Slack does not tell about has no name and no kind."""
        try:
            return await self._known.get(channel_id, self._ask)
        except SLACK_FAILURES as error:
            code = cause_of(error)
            logger.warning("channel.unknown", extra={"channel": channel_id, "cause": code})
            known = _is_not_there(error)
            return Channel(id=channel_id, name=None, kind="unknown", known=known, error=error)

    async def joined(self, channel_id: str) -> bool:
        """Tells whether we are in the channel, asked anew: somebody may just have invited us.

        Raises slack_sdk's and aiohttp's errors when Slack does not answer.
        """
        try:
            channel = (await self._client.conversations_info(channel=channel_id))["channel"]
        except SLACK_FAILURES as error:
            if _is_not_there(error):
                return False
            raise
        return bool(channel.get("is_member") or channel.get("is_im") or channel.get("is_mpim"))

    async def _ask(self, channel_id: str) -> Channel:
        response = await self._client.conversations_info(channel=channel_id)
        return channel_from_slack(response["channel"], channel_id)


def channel_from_slack(payload: dict[str, Any], channel_id: str) -> Channel:
    """Reads a channel as Slack's methods describe it."""
    shared = any(payload.get(mark) for mark in SHARED) or bool(
        payload.get("is_shared") and not payload.get("is_org_shared")  # Slack does not say with whom
    )
    if payload.get("is_im"):
        return Channel(id=channel_id, name=None, kind="im", shared=shared)
    if payload.get("is_mpim"):
        return Channel(id=channel_id, name=None, kind="mpim", shared=shared)
    kind: ChannelKind = "group" if payload.get("is_private") or payload.get("is_group") else "channel"
    return Channel(id=channel_id, name=payload.get("name") or None, kind=kind, shared=shared)


def _is_not_there(error: Exception) -> bool:
    return error_code(error) == "channel_not_found"


async def conversations(
    client: AsyncWebClient, *, most_pages: int, **wanted: Any
) -> AsyncIterator[dict[str, Any]]:
    """Yields the channels that somebody is in (`user`; we, where none is named), as Slack describes them; no direct
    messages.

    `wanted`: further arguments of `users.conversations`. Of more than `most_pages` pages only the first ones are read.
    """
    cursor: str | None = None
    for _ in range(most_pages):
        page: Any = await client.users_conversations(
            types="public_channel,private_channel", limit=PAGE, cursor=cursor, **wanted
        )
        for payload in page.get("channels") or []:
            yield payload
        cursor = (page.get("response_metadata") or {}).get("next_cursor") or None
        if cursor is None:
            break


async def joined_channel(client: AsyncWebClient, called: str) -> str | None:
    """Finds the id of a channel by its id or name, among those that we are in: elsewhere we cannot post."""
    async for payload in conversations(client, most_pages=MOST_PAGES, exclude_archived=True):
        if called.removeprefix("#") in (payload.get("id"), payload.get("name")):
            return str(payload["id"])
    return None
