"""Fills App Home: what Footnote does, questions to try, one's own last questions, its sources.

For admins there are buttons that open how it is used and what is to be done: `bot.views.admin_views`.
Everything about pages is told as a direct message to this very person would be.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from pydantic import ValidationError
from slack_sdk.web.async_client import AsyncWebClient

from bot.frozen_model import FrozenModel
from bot.messages.catalog import Messages, messages_in
from bot.questions.answer_record import AskedQuestion
from bot.questions.submission import QuestionSubmitter
from bot.questions.suggestions import Suggestions
from bot.slack.admins import Admins
from bot.slack.audiences import Audiences
from bot.slack.events import ButtonPress, HomeOpened
from bot.slack.page_names import IndexedPages
from bot.slack.people import Me, People
from bot.stats.analytics import Analytics
from bot.stats.counts import Stats
from bot.stats.status import StatusReader
from bot.views.admin_views import AdminViews
from bot.views.home_view import HomeContent, home_view, source_line
from bot.views.source_counts import SourceCounts
from kb.errors import StoreUnavailableError, UnavailableError
from kb.models import Audience

logger = logging.getLogger(__name__)

EXAMPLES, LAST_QUESTIONS = 4, 5
LOOKED_AT = 20


class HomeMetadata(FrozenModel):
    """The private metadata of a drawn Home.
    `channel`: the direct message with its reader.
    """

    channel: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Home:
    client: AsyncWebClient
    people: People
    admins: Admins
    audiences: Audiences
    submitter: QuestionSubmitter
    suggestions: Suggestions
    records: Analytics
    pages: IndexedPages
    source_counts: SourceCounts
    status: StatusReader
    views: AdminViews
    command: str
    clock: Callable[[], datetime]

    async def opened(self, event: HomeOpened) -> None:
        """Draws the home tab."""
        await self._draw(event.user, event.channel)

    async def ask(self, press: ButtonPress) -> bool:
        """Queues the pressed example. False: it was pressed before on the same drawing, or says nothing that we know.

        Raises what `bot.questions.submission` does: do not acknowledge then.
        """
        channel, text = _channel(press), press.actions[0].value
        if not channel or not text:
            logger.warning("home.unreadable", extra={"user": press.user.id})
            return False
        drawing = f"{press.view.id}:{press.view.hash}"
        return await self.submitter.in_direct_message(
            text, user=press.user.id, channel=channel, press=drawing
        )

    async def asked(self, press: ButtonPress) -> None:
        """Says on Home where the answer comes."""
        await self._draw(press.user.id, _channel(press), asking=press.actions[0].value)

    async def _draw(self, user: str, channel: str, *, asking: str = "") -> None:
        person, me = await self.people.person(user), await self.people.me()
        messages, is_admin = messages_in(person.locale), await self.admins.status_of(person) == "admin"
        audience = await self._audience(user)
        shown = HomeContent(
            examples=await self.suggestions.for_person(
                user, messages, language=person.language, most=EXAMPLES
            ),
            last=[] if audience is None else await self._last(user, me, audience),
            sources=[] if audience is None else await self._sources(audience, messages),
            asking=asking,
            views=[(name, self.views.label(name, messages)) for name in self.views.names] if is_admin else (),
        )
        view = home_view(
            messages,
            bot_user_id=me.user_id,
            command=self.command if is_admin else None,
            stats=await self._stats() if is_admin else None,
            shown=shown,
        )
        await self.client.views_publish(
            user_id=user, view=view | {"private_metadata": HomeMetadata(channel=channel).model_dump_json()}
        )

    async def _audience(self, user: str) -> Audience | None:
        try:
            return await self.audiences.for_person(user)
        except UnavailableError as error:
            logger.warning("home.audience_unknown", extra={"cause": str(error)})
            return None

    async def _last(self, user: str, me: Me, audience: Audience) -> list[tuple[str, str]]:
        """Returns one's own questions, while what they were answered from may still be read.

        A question can be the title of a page that was limited since.
        """
        try:
            asked = [
                question
                for question in await self.records.asked_by(user, LOOKED_AT)
                if question.record.outcome != "chat" and not question.record.asked_in.unasked
            ]
            pages = {page.page_id for question in asked for page in question.record.cited}
            readable = await self.pages.readable(pages, audience=audience) if pages else frozenset()
        except UnavailableError as error:
            logger.warning("home.no_questions", extra={"cause": str(error)})
            return []
        kept = [
            question for question in asked if {page.page_id for page in question.record.cited} <= readable
        ]
        return [(question.record.question, _link(question, me)) for question in kept[:LAST_QUESTIONS]]

    async def _stats(self) -> Stats | None:
        try:
            return await self.records.stats()
        except StoreUnavailableError:
            logger.warning("home.no_figures")
            return None

    async def _sources(self, audience: Audience, messages: Messages) -> list[str]:
        try:
            source_counts = await self.source_counts.of(audience)
        except UnavailableError as error:
            logger.warning("home.no_sources", extra={"cause": str(error)})
            return []
        last = {state.name: state.last for state in (await self.status.status()).sources}
        return [source_line(count, last.get(count.source), messages, self.clock()) for count in source_counts]


def _channel(press: ButtonPress) -> str:
    try:
        return HomeMetadata.model_validate_json(press.view.private_metadata).channel
    except ValidationError:
        return ""


def _link(asked: AskedQuestion, me: Me) -> str:
    """Links to the message that was asked in, or that a shortcut was used on."""
    place = asked.record.asked_in
    return me.link(place.channel, place.ts.partition("-")[0], place.thread_ts)
