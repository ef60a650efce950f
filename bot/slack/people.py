"""Looks up people of the workspace, and the bot's own identity. A name is cached for a few minutes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.errors import SLACK_FAILURES, cause_of, error_code
from bot.slack.events import Message
from bot.slack.slack_text import mentions
from bot.slack.ttl_cache import TtlCache

logger = logging.getLogger(__name__)

KEEP = timedelta(minutes=5)
"""How long somebody who is no admin any more may still act as one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Person:
    """`is_admin`: of the workspace. `locale` like "nl-NL". `outsider`: a guest, or of another organisation.

    `known`: Slack told who it is; `error`: where it did not, why.
    """

    id: str
    name: str
    is_admin: bool = False
    locale: str = "en-US"
    outsider: bool = False
    known: bool = True
    error: Exception | None = field(default=None, compare=False, repr=False)

    @property
    def language(self) -> str:
        """Returns the language, ISO 639-1."""
        return self.locale.replace("_", "-").split("-")[0].lower()


@dataclass(frozen=True, kw_only=True, slots=True)
class Me:
    """The bot's own identity, as auth.test tells it."""

    user_id: str
    bot_id: str | None
    team_id: str
    enterprise_id: str | None = None
    url: str = ""
    """The workspace's address, with a slash at its end."""

    def link(self, channel: str, ts: str, thread_ts: str) -> str:
        """Builds the permalink of a message."""
        if not (self.url and channel and ts):
            return ""
        thread = f"?thread_ts={thread_ts}&cid={channel}" if thread_ts and thread_ts != ts else ""
        return f"{self.url}archives/{channel}/p{ts.replace('.', '')}{thread}"

    def is_mentioned(self, message: Message) -> bool:
        """Tells whether a message speaks to the bot; the text of a form may be a notice beside its blocks."""
        lines = (line for block in message.blocks for line in block.lines)
        return any(mentions(text, self.user_id) for text in (message.text, *lines))

    def wrote(self, message: Message) -> bool:
        return message.user == self.user_id or (message.bot_id is not None and message.bot_id == self.bot_id)


class People:
    def __init__(self, client: AsyncWebClient, *, clock: Callable[[], datetime]) -> None:
        self._client = client
        self._known: TtlCache[str, Person] = TtlCache(keep=KEEP, clock=clock)
        self._me: Me | None = None

    async def me(self) -> Me:
        """Raises slack_sdk's errors when Slack cannot be asked; asked once."""
        if self._me is None:
            identity = await self._client.auth_test()
            self._me = Me(
                user_id=identity["user_id"],
                bot_id=identity.get("bot_id"),
                team_id=identity["team_id"],
                enterprise_id=identity.get("enterprise_id"),
                url=str(identity.get("url") or ""),
            )
        return self._me

    async def person(self, user_id: str) -> Person:
        """Looks a person up. One whom Slack does not tell about has the id as name and is no admin."""
        try:
            return await self._known.get(user_id, self._ask)
        except SLACK_FAILURES as error:
            code = cause_of(error)
            logger.warning("person.unknown", extra={"user": user_id, "cause": code})
            return Person(id=user_id, name=user_id, outsider=True, known=_is_not_ours(error), error=error)

    async def names(self, user_ids: Iterable[str]) -> dict[str, str]:
        return {user_id: (await self.person(user_id)).name for user_id in user_ids}

    async def _ask(self, user_id: str) -> Person:
        me = await self.me()
        response = await self._client.users_info(user=user_id, include_locale=True)
        return person_from_slack(response["user"], user_id, me)


def person_from_slack(payload: dict[str, Any], user_id: str, me: Me) -> Person:
    """Reads a person as Slack's methods describe them."""
    profile = payload.get("profile") or {}
    name = profile.get("display_name") or payload.get("real_name") or payload.get("name") or user_id
    return Person(
        id=user_id,
        name=str(name),
        is_admin=bool(payload.get("is_admin") or payload.get("is_owner")),
        locale=str(payload.get("locale") or "en-US"),
        outsider=_is_outsider(payload, me),
    )


def _is_outsider(payload: dict[str, Any], me: Me) -> bool:
    """Tells guests of either kind, and people of another organisation, who reach us through a shared channel."""
    if any(payload.get(mark) for mark in ("is_restricted", "is_ultra_restricted", "is_stranger")):
        return True
    team = payload.get("team_id") or me.team_id
    enterprise = (payload.get("enterprise_user") or {}).get("enterprise_id")
    return team != me.team_id and (me.enterprise_id is None or enterprise != me.enterprise_id)


def _is_not_ours(error: Exception) -> bool:
    """Tells whether Slack did answer: that there is nobody of this name whom we may see."""
    return error_code(error) in {"user_not_found", "user_not_visible"}
