"""Opens the admin's modals from App Home: status, gaps, stale pages, votes.

A view opens at once and is filled when it is known: Slack gives a press three seconds.
Whoever is no admin any more when they press is refused as by the slash command.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.messages.catalog import Messages, messages_in
from bot.questions.answer_record import AskedQuestion
from bot.rendering.forms import modal
from bot.rendering.layout import SECTION_CHARACTERS, Block, cut, section, shorten
from bot.rendering.mrkdwn import escape
from bot.slack.admins import Admins
from bot.slack.audiences import Audiences
from bot.slack.channels import ChannelDirectory
from bot.slack.events import ButtonPress
from bot.slack.people import People, Person
from bot.stats.analytics import KEEP, Analytics
from bot.stats.gaps import Gaps, StillPublic
from bot.stats.stale import StalePages
from bot.stats.status import StatusReader, status_lines
from bot.views.gap_text import gaps_blocks, stale_blocks
from kb.errors import UnavailableError

logger = logging.getLogger(__name__)

PREFIX = "footnote_show_"
"""The action ids of the buttons begin so."""
MOST_BLOCKS = 100
LOOKED_AT, SHOWN_VOTES = 500, 20

Filling = Callable[[Person, Messages], Awaitable[Sequence[Block]]]
"""What a view shows to an admin. May raise `UnavailableError`."""


@dataclass(frozen=True, kw_only=True)
class AdminViews:
    """`fillings`: by the button's action id, in their order. `Messages.show_gaps` labels `footnote_show_gaps`."""

    client: AsyncWebClient
    people: People
    admins: Admins
    fillings: Mapping[str, Filling]

    @property
    def names(self) -> Sequence[str]:
        return list(self.fillings)

    @staticmethod
    def label(name: str, messages: Messages) -> str:
        return str(getattr(messages, f"show_{name.removeprefix(PREFIX)}"))

    async def open(self, press: ButtonPress) -> None:
        name = press.actions[0].action_id
        person = await self.people.person(press.user.id)
        messages = messages_in(person.locale)
        admin_status = await self.admins.status_of(person)
        if admin_status != "admin" or name not in self.fillings:
            refusal = messages.admin_unknown if admin_status == "unknown" else messages.not_admin
            view = self._view(name, messages, [section(refusal)])
            await self.client.views_open(trigger_id=press.trigger_id, view=view)
            return
        waiting = self._view(name, messages, [section(messages.one_moment)])
        opened = await self.client.views_open(trigger_id=press.trigger_id, view=waiting)
        view = self._view(name, messages, await self._filled(name, person, messages))
        await self.client.views_update(view_id=opened["view"]["id"], view=view)

    async def _filled(self, name: str, person: Person, messages: Messages) -> Sequence[Block]:
        try:
            return await self.fillings[name](person, messages)
        except UnavailableError as error:
            logger.warning("admin_view.unavailable", extra={"view": name, "cause": str(error)})
            return [section(messages.status_store_down)]
        except Exception:  # the process edge of a view: the admin gets one sentence, the log the rest
            logger.exception("admin_view.broke", extra={"view": name})
            return [section(messages.command_failed)]

    def _view(self, name: str, messages: Messages, blocks: Sequence[Block]) -> dict[str, Any]:
        title = self.label(name, messages) if name in self.fillings else "Footnote"
        return modal(title, blocks[:MOST_BLOCKS], messages)


def status_filling(status: StatusReader, clock: Callable[[], datetime]) -> Filling:
    async def fill(_: Person, messages: Messages) -> Sequence[Block]:
        return lines_as_blocks(status_lines(await status.status(), messages, clock()))

    return fill


def votes_filling(records: Analytics) -> Filling:
    async def fill(_: Person, messages: Messages) -> Sequence[Block]:
        voted = [question for question in await records.asked(LOOKED_AT) if question.votes][:SHOWN_VOTES]
        return [section(_vote_lines(question, messages)) for question in voted] or [
            section(messages.votes_none)
        ]

    return fill


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


def _vote_lines(asked: AskedQuestion, messages: Messages) -> str:
    """Words the votes on one answer, with what people said. The words of a question, and comments,
    are shown where everybody may read the question: of a private one there is the reason alone."""
    votes = list(asked.votes.values())
    public = asked.record.asked_in.place == "public"
    question = f"_{escape(shorten(asked.record.question, 200))}_" if public else messages.votes_private
    lines = [f"👍 {votes.count('good')} · 👎 {votes.count('bad')}  {question}"]
    for complaint in asked.reasons.values():
        reason = getattr(messages, f"reason_{complaint.get('reason')}", None)
        parts = list(filter(None, (reason, complaint.get("comment") if public else None)))
        lines += [f"• {escape(shorten(': '.join(parts), 500))}"] if parts else []
    return shorten("\n".join(lines), SECTION_CHARACTERS)


def lines_as_blocks(lines: Sequence[str]) -> list[Block]:
    return [section(part) for part in cut("\n".join(lines), SECTION_CHARACTERS)]
