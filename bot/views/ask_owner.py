"""Handles the buttons "Ask the owner" and "Report as missing".

The owner is asked in the thread, by whoever asked the question, and once: over double
presses, restarts and replicas (`bot.listening.exactly_once`). A press carries all that is needed,
so it works while the figures are away. The page is named only while the place may read it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.frozen_model import FrozenModel
from bot.listening.exactly_once import ExactlyOnce, Notice, Notices
from bot.messages.catalog import Messages, messages_in
from bot.questions.fallbacks import OwnerRequest
from bot.rendering.citation_blocks import titled_link
from bot.rendering.fallback_actions import ASK_OWNER
from bot.rendering.layout import context
from bot.rendering.mrkdwn import escape
from bot.slack.audiences import Audiences
from bot.slack.errors import SLACK_FAILURES, cause_of, error_code
from bot.slack.events import ButtonPress
from bot.slack.memberships import Memberships
from bot.slack.page_names import IndexedPages
from bot.slack.people import People
from bot.stats.analytics import Analytics
from kb.errors import StoreUnavailableError, UnavailableError

logger = logging.getLogger(__name__)

GONE_FOR_GOOD = frozenset({"channel_not_found", "not_in_channel", "is_archived", "thread_not_found"})
"""Refusals after which nobody will ever be asked there."""


class PromisedRequest(FrozenModel):
    """A press that was accepted, and the message whose button it was."""

    request: OwnerRequest
    channel: str
    thread_ts: str
    message_ts: str


@dataclass(frozen=True, kw_only=True, slots=True)
class FallbackHandler:
    """Serves the two buttons. `posting` must not retry lost connections."""

    posting: AsyncWebClient
    reading: AsyncWebClient
    people: People
    audiences: Audiences
    memberships: Memberships
    pages: IndexedPages
    missed: Analytics
    exactly_once: ExactlyOnce
    notices: Notices

    async def accept(self, press: ButtonPress) -> PromisedRequest | None:
        """Promises durably, before the press is acknowledged, that the owner is asked.

        Returns None where it is not theirs to press.

        Raises:
            StoreUnavailableError: it cannot be promised.
        """
        try:
            request = OwnerRequest.model_validate_json(press.actions[0].value)
        except ValidationError:
            logger.warning("owner.unreadable", extra={"user": press.user.id})
            return None
        if press.user.id != request.by or not (press.channel_id and press.thread_ts and press.message_ts):
            return None
        promised = PromisedRequest(
            request=request,
            channel=press.channel_id,
            thread_ts=press.thread_ts,
            message_ts=press.message_ts,
        )
        await self.exactly_once.promise(request.name, promised.model_dump())
        return promised

    async def pressed(self, press: ButtonPress, promised: PromisedRequest | None) -> None:
        """Asks the owner, after the press was acknowledged, and tells the presser what came of it."""
        messages = messages_in((await self.people.person(press.user.id)).locale)
        if promised is None:
            await self._whisper(press, messages.only_asker_asks)
            return
        try:
            asked_before = await self.exactly_once.is_complete(promised.request.name)
            asked = await self.ask(promised)
        except (UnavailableError, *SLACK_FAILURES) as error:
            logger.warning("owner.not_asked_yet", extra={"cause": type(error).__name__})
            return  # promised: whoever lives asks them in a moment
        if asked_before:
            await self._whisper(press, messages.owner_asked_before)
        elif not asked:
            await self._whisper(press, messages.why_gone)

    async def cannot_promise(self, press: ButtonPress) -> None:
        """Tells the presser that the store is away: nothing was asked, and the button can be pressed again."""
        messages = messages_in((await self.people.person(press.user.id)).locale)
        await self._whisper(press, messages.owner_not_asked)

    async def take_up(self) -> None:
        """Resumes what was promised by a bot that is gone.

        Raises:
            StoreUnavailableError: the promises cannot be read.
        """
        for name, promise in (await self.exactly_once.promised()).items():
            try:
                await self.ask(PromisedRequest.model_validate(promise))
            except ValidationError:
                logger.warning("owner.unreadable", extra={"notice": name})
                await self.exactly_once.withdraw(name)
            except (UnavailableError, *SLACK_FAILURES) as error:
                logger.warning("owner.not_asked_yet", extra={"cause": type(error).__name__})

    async def ask(self, promised: PromisedRequest) -> bool:
        """Mentions the owners in the thread, unless that is done or being done.

        Returns False where the page may not be named there any more, so that nobody is asked.

        Raises:
            UnavailableError, or slack_sdk's and aiohttp's errors: try again later.
        """
        request = promised.request
        turn = await self.exactly_once.begin(request.name)
        if turn == "held":
            return True
        if turn == "mine":
            if not await self._may_name(promised):
                await self.exactly_once.withdraw(request.name)
                return False
            try:
                await self.notices.post(_notice(promised))
            except SLACK_FAILURES as error:
                if error_code(error) not in GONE_FOR_GOOD:
                    raise
                logger.warning("owner.cannot_be_asked", extra={"code": error_code(error)})
                await self.exactly_once.withdraw(request.name)
                return False
            await self._call_from_outside(promised)
            logger.info("owner.asked", extra={"question_id": request.question_id})
        await self._say_done(promised)
        await self.exactly_once.complete(request.name)
        return True

    async def missing(self, press: ButtonPress) -> None:
        """Puts the question among the gaps, with who reported it."""
        messages = messages_in((await self.people.person(press.user.id)).locale)
        question_id = press.actions[0].value
        try:
            new = await self.missed.miss(question_id, press.user.id)
        except StoreUnavailableError:
            logger.warning("missing.lost", extra={"question_id": question_id})
            await self._whisper(press, messages.feedback_failed)
            return
        logger.info("missing.reported", extra={"question_id": question_id, "new": new})
        await self._whisper(press, messages.missing_noted if new else messages.missing_noted_before)

    async def _may_name(self, promised: PromisedRequest) -> bool:
        audience = await self.audiences.of(promised.channel, promised.request.by)
        page = promised.request.page_id
        return page in await self.pages.readable([page], audience=audience)

    async def _call_from_outside(self, promised: PromisedRequest) -> None:
        """Sends a link to owners who are not in the channel, whom a mention does not reach. Needs the
        scope `im:write`.
        """
        request, me = promised.request, await self.people.me()
        link = me.link(promised.channel, promised.message_ts, promised.thread_ts)
        for owner in request.owners:
            if promised.channel in (await self.memberships.of(owner)).channels:
                continue
            messages = messages_in((await self.people.person(owner)).locale)
            try:
                opened = await self.reading.conversations_open(users=owner)
                await self.notices.post(
                    Notice(
                        name=f"{request.name}-{owner}",
                        channel=str(opened["channel"]["id"]),
                        text=messages.owner_called.format(
                            asker=f"<@{request.by}>", channel=f"<#{promised.channel}>", link=link
                        ),
                    )
                )
            except SlackApiError as error:
                logger.info("owner.not_called", extra={"code": error_code(error)})

    async def _say_done(self, promised: PromisedRequest) -> None:
        """Puts "Asked ..." in the place of the button. Where Slack does not let us, a second press says so."""
        request = promised.request
        try:
            message = await self._message(promised)
            if message is None:
                return
            blocks = _without_button(message.get("blocks") or [])
            if blocks is None:
                return
            messages = messages_in(request.language)
            done = context(messages.owner_was_asked.format(owners=_mentions(request.owners)))
            await self.posting.chat_update(
                channel=promised.channel,
                ts=promised.message_ts,
                text=message.get("text") or "",
                blocks=[*blocks, done],
                **({"metadata": message["metadata"]} if message.get("metadata") else {}),
            )
        except SLACK_FAILURES as error:
            cause = cause_of(error)
            logger.info("owner.button_stays", extra={"question_id": request.question_id, "cause": cause})

    async def _message(self, promised: PromisedRequest) -> dict[str, Any] | None:
        page = await self.reading.conversations_replies(
            channel=promised.channel,
            ts=promised.thread_ts,
            oldest=promised.message_ts,
            latest=promised.message_ts,
            inclusive=True,
            limit=10,
            include_all_metadata=True,
        )
        found: list[dict[str, Any]] = page.get("messages") or []
        return next((message for message in found if message.get("ts") == promised.message_ts), None)

    async def _whisper(self, press: ButtonPress, text: str) -> None:
        try:
            await self.posting.chat_postEphemeral(
                channel=press.channel_id or "", user=press.user.id, text=text, thread_ts=press.thread_ts
            )
        except SLACK_FAILURES as error:
            logger.info("way_on.not_told", extra={"cause": type(error).__name__})


def _notice(promised: PromisedRequest) -> Notice:
    request = promised.request
    messages: Messages = messages_in(request.language)
    text = messages.owner_asked.format(
        owners=_mentions(request.owners),
        asker=f"<@{request.by}>",
        page=f"*{titled_link(request.title, request.url) if request.url else escape(request.title)}*",
    )
    return Notice(name=request.name, channel=promised.channel, thread_ts=promised.thread_ts, text=text)


def _mentions(people: Sequence[str]) -> str:
    return ", ".join(f"<@{person}>" for person in people)


def _without_button(blocks: Sequence[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """Returns the message's blocks without "Ask the owner"; None where it is gone already."""
    kept = [
        {
            **block,
            "elements": [element for element in block["elements"] if element.get("action_id") != ASK_OWNER],
        }
        if block.get("type") == "actions"
        else block
        for block in blocks
    ]
    return kept if kept != list(blocks) else None
