"""Posts digests by the clock: the week's gaps to a channel, and once a month each owner's stale pages.

Every replica looks every few minutes, and `bot.listening.exactly_once` lets one of them speak. A week
begins on Monday at eight (UTC), a month on its first day at eight; a bot that was down then
speaks when it is back. It also asks the owners that a bot which is gone had promised to ask.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from slack_sdk.web.async_client import AsyncWebClient

from bot.listening.channel_settings import ChannelSettingsStore
from bot.listening.exactly_once import ExactlyOnce, Notice, Notices
from bot.messages.catalog import messages_in
from bot.slack.audiences import Audiences
from bot.slack.channels import ChannelDirectory, joined_channel
from bot.slack.errors import SLACK_FAILURES, cause_of
from bot.slack.owners import Owners
from bot.slack.people import People, Person
from bot.stats.analytics import KEEP
from bot.stats.gaps import Gaps
from bot.stats.stale import StalePage, StalePages
from bot.views.admin_views import still_public
from bot.views.ask_owner import FallbackHandler
from bot.views.gap_text import gaps_blocks, stale_blocks
from kb.errors import UnavailableError

logger = logging.getLogger(__name__)

LOOK_S = 300.0
"""Between two looks at what is due."""
BEGINS_AT = timedelta(hours=8)


@dataclass(frozen=True, kw_only=True, slots=True)
class Digests:
    """`gaps_channel`: its id or its name, "" for none. `clock` gives aware datetimes."""

    client: AsyncWebClient
    people: People
    channels: ChannelDirectory
    audiences: Audiences
    owners: Owners
    gaps: Gaps
    stale: StalePages
    exactly_once: ExactlyOnce
    notices: Notices
    fallback: FallbackHandler
    languages: ChannelSettingsStore
    gaps_channel: str
    to_owners: bool
    clock: Callable[[], datetime]

    async def run(self) -> None:
        """Runs until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(LOOK_S)

    async def look(self) -> None:
        """Posts what is due. What fails is logged, and tried again at the next look."""
        for name, say in (
            ("promises", self.fallback.take_up),
            ("gaps", self._tell_gaps),
            ("owners", self._tell_owners),
        ):
            try:
                await say()
            except (UnavailableError, *SLACK_FAILURES) as error:
                cause = cause_of(error)
                logger.warning("digest.not_sent", extra={"digest": name, "cause": cause})
            except Exception:  # the process edge of a digest: it must not end the others
                logger.exception("digest.broke", extra={"digest": name})

    async def _tell_gaps(self) -> None:
        if not self.gaps_channel:
            return
        year, week, _ = (self.clock() - BEGINS_AT).isocalendar()
        name = f"gaps-{year}-W{week:02}"
        if await self.exactly_once.begin(name) != "mine":
            return
        channel = await joined_channel(self.client, self.gaps_channel)
        if channel is None:
            logger.error("digest.no_channel", extra={"channel": self.gaps_channel})
            return
        me = await self.people.me()
        found = await self.gaps.open(
            audience=await self.audiences.of(channel, me.user_id),
            still_public=still_public(self.channels),
            terminal=False,
        )
        if found.gaps:
            messages = messages_in((await self.languages.of(channel)).language)
            blocks = gaps_blocks(found, messages, days=KEEP.days, title=messages.gaps_digest)
            await self.notices.post(
                Notice(name=name, channel=channel, text=messages.gaps_digest, blocks=blocks)
            )
        await self.exactly_once.complete(name)
        logger.info("digest.sent", extra={"digest": name, "gaps": len(found.gaps)})

    async def _tell_owners(self) -> None:
        if not self.to_owners:
            return
        month = f"{self.clock() - BEGINS_AT:%Y-%m}"
        for person, pages in await self._by_owner():
            name = f"stale-{month}-{person.id}"
            if await self.exactly_once.begin(name) == "mine":
                await self._tell_owner(name, person, pages)

    async def _by_owner(self) -> list[tuple[Person, list[StalePage]]]:
        persons: dict[str, Person] = {}
        pages: dict[str, list[StalePage]] = {}
        for stale in await self.stale.all():
            found = await self.owners.of(owner=stale.page.owner, page_id=stale.page.id)
            for person in found:
                persons[person.id] = person
                pages.setdefault(person.id, []).append(stale)
        return [(persons[user], pages[user]) for user in sorted(persons)]

    async def _tell_owner(self, name: str, person: Person, pages: Sequence[StalePage]) -> None:
        audience = await self.audiences.for_person(person.id)
        readable = [page for page in pages if audience.may_read(page.page.audience)]
        if readable:
            messages = messages_in((await self.people.person(person.id)).locale)
            opened = await self.client.conversations_open(users=person.id)
            blocks = stale_blocks(readable, messages, title=messages.stale_digest)
            await self.notices.post(
                Notice(
                    name=name, channel=str(opened["channel"]["id"]), text=messages.stale_digest, blocks=blocks
                )
            )
        await self.exactly_once.complete(name)
        logger.info("digest.sent", extra={"digest": name, "pages": len(readable)})
