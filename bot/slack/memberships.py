"""Looks up a person's channels and user groups, for direct messages. Cached for minutes; unknown counts as none."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.channels import channel_from_slack, conversations
from bot.slack.errors import SLACK_FAILURES
from bot.slack.ttl_cache import TtlCache

logger = logging.getLogger(__name__)

KEEP = timedelta(minutes=5)
"""How long somebody who left a channel or a group may still be answered from its pages."""
MOST_PAGES = 10
"""2,000 channels. Whoever is in more is answered as if they were not in the rest."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Membership:
    """Principals as pages name them: `C0123` and `#people-leads`, `S0123` and `@finance`.

    A channel that is shared with another organisation counts by its id alone: its name may be theirs.
    """

    channels: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class _UserGroup:
    principals: frozenset[str]
    members: frozenset[str]


class Memberships:
    def __init__(self, client: AsyncWebClient, *, clock: Callable[[], datetime]) -> None:
        self._client = client
        self._channels: TtlCache[str, frozenset[str]] = TtlCache(keep=KEEP, clock=clock)
        self._groups: TtlCache[None, tuple[_UserGroup, ...]] = TtlCache(keep=KEEP, clock=clock)

    async def of(self, user: str) -> Membership:
        """Looks up both. Never raises: what Slack does not tell is no membership, and is logged."""
        channels, groups = await asyncio.gather(self._channels_of(user), self._all_groups())
        return Membership(channels=channels, groups=_groups_with(user, groups or ()))

    async def groups_of(self, user: str) -> frozenset[str] | None:
        """Returns the principals of somebody's user groups; None: Slack does not tell."""
        groups = await self._all_groups()
        return None if groups is None else _groups_with(user, groups)

    async def _channels_of(self, user: str) -> frozenset[str]:
        try:
            return await self._channels.get(user, self._ask_channels)
        except SLACK_FAILURES as error:
            logger.warning("memberships.unknown", extra={"user": user, "cause": type(error).__name__})
            return frozenset()

    async def _ask_channels(self, user: str) -> frozenset[str]:
        """Asks for a person's channels. To a bot token Slack lists only those private ones that the bot is in."""
        principals: set[str] = set()
        async for payload in conversations(self._client, most_pages=MOST_PAGES, user=user):
            channel = channel_from_slack(payload, str(payload["id"]))
            principals.add(channel.id)
            if channel.name and not channel.shared:
                principals.add(f"#{channel.name}")
        return frozenset(principals)

    async def _all_groups(self) -> tuple[_UserGroup, ...] | None:
        try:
            return await self._groups.get(None, self._ask_groups)
        except SLACK_FAILURES as error:
            logger.warning("user_groups.unknown", extra={"cause": type(error).__name__})
            return None

    async def _ask_groups(self, _all: None) -> tuple[_UserGroup, ...]:
        listed = await self._client.usergroups_list(include_users=True, include_disabled=False)
        active = [group for group in listed.get("usergroups") or [] if not group.get("date_delete")]
        return tuple(
            [
                _UserGroup(principals=group_principals(group), members=await self._members(group))
                for group in active
            ]
        )

    async def _members(self, group: dict[str, Any]) -> frozenset[str]:
        """Reads a group's members, or asks for them: Slack leaves them out of the list where it pleases."""
        if "users" in group:
            return frozenset(group["users"])
        return frozenset((await self._client.usergroups_users_list(usergroup=group["id"])).get("users") or ())


def _groups_with(user: str, groups: Iterable[_UserGroup]) -> frozenset[str]:
    return frozenset().union(*(group.principals for group in groups if user in group.members))


def group_principals(group: dict[str, Any]) -> frozenset[str]:
    """Returns the names by which pages and settings mean a user group: its id, and its handle if it has one."""
    handle = str(group.get("handle") or "").lower()
    return frozenset({str(group["id"]), *([f"@{handle}"] if handle else [])})
