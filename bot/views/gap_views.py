"""Fills `/kb gaps`, `/kb stale` and their modals: for one admin, with only what they may read."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from bot.messages.catalog import Messages
from bot.rendering.layout import Block, section
from bot.slack.audiences import Audiences
from bot.slack.channels import ChannelDirectory
from bot.slack.people import Person
from bot.stats.analytics import KEEP
from bot.stats.gaps import Gaps, StillPublic
from bot.stats.stale import StalePages
from bot.views.admin_views import Filling
from bot.views.gap_text import gaps_blocks, stale_blocks
from kb.errors import UnavailableError

logger = logging.getLogger(__name__)


def gaps_filling(gaps: Gaps, audiences: Audiences, channels: ChannelDirectory) -> Filling:
    async def fill(person: Person, messages: Messages) -> Sequence[Block]:
        try:
            audience = await audiences.for_person(person.id)
            found = await gaps.open(audience=audience, still_public=still_public(channels))
        except UnavailableError as error:
            logger.warning("gaps.unavailable", extra={"cause": str(error)})
            return [section(messages.look_unavailable)]
        return gaps_blocks(found, messages, days=KEEP.days)

    return fill


def stale_filling(stale: StalePages, audiences: Audiences) -> Filling:
    async def fill(person: Person, messages: Messages) -> Sequence[Block]:
        try:
            audience = await audiences.for_person(person.id)
            found = [page for page in await stale.all() if audience.may_read(page.page.audience)]
        except UnavailableError as error:
            logger.warning("stale.unavailable", extra={"cause": str(error)})
            return [section(messages.look_unavailable)]
        return stale_blocks(found, messages)

    return fill


def still_public(channels: ChannelDirectory) -> StillPublic:
    async def is_public(channel: str) -> bool:
        return (await channels.describe(channel)).is_public

    return is_public
