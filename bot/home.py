"""App Home: what Footnote does, how to ask, and for admins how it is used."""

from __future__ import annotations

import logging
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.admins import Admins
from bot.events import HomeOpened
from bot.figures import Stats, StatsReader, stats_lines
from bot.layout import Block, label, section
from bot.messages import Messages, messages_in
from bot.people import People
from kb.errors import StoreUnavailableError

logger = logging.getLogger(__name__)


class Home:
    def __init__(
        self, *, client: AsyncWebClient, people: People, admins: Admins, figures: StatsReader, command: str
    ) -> None:
        self._client = client
        self._people = people
        self._admins = admins
        self._figures = figures
        self._command = command

    async def opened(self, event: HomeOpened) -> None:
        """Publishes the home tab; the messages tab needs nothing."""
        if event.tab != "home":
            return
        person, me = await self._people.person(event.user), await self._people.me()
        is_admin = await self._admins.standing(person) == "admin"
        stats = await self._stats() if is_admin else None
        view = home_view(
            messages_in(person.locale),
            bot_user_id=me.user_id,
            command=self._command if is_admin else None,
            stats=stats,
        )
        await self._client.views_publish(user_id=event.user, view=view)

    async def _stats(self) -> Stats | None:
        try:
            return await self._figures.stats()
        except StoreUnavailableError:
            logger.warning("home.no_figures")
            return None


def home_view(
    words: Messages, *, bot_user_id: str, command: str | None, stats: Stats | None
) -> dict[str, Any]:
    """`command` and `stats` are given for admins only."""
    blocks: list[Block] = [
        {"type": "header", "text": label(words.home_title)},
        section(words.home_what),
        section(f"*{words.home_how_title}*\n{words.home_how.format(bot=f'<@{bot_user_id}>')}"),
    ]
    if command is not None:
        blocks += [{"type": "divider"}, section(words.usage.format(command=command))]
    if stats is not None:
        blocks.append(section("\n".join([f"*{words.home_stats_title}*", *stats_lines(stats, words)])))
    return {"type": "home", "blocks": blocks}
