"""Handles the message shortcut "Ask Footnote about this": a dialog with the message's text, and who is to see the
answer.

The thread is offered only where we are in the channel. Elsewhere only
the asker is answered, by the shortcut's response URL.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import Any

from pydantic import Field, ValidationError
from slack_sdk.web.async_client import AsyncWebClient

from bot.frozen_model import FrozenModel
from bot.messages.catalog import Messages, messages_in
from bot.questions.submission import QuestionSubmitter
from bot.rendering.forms import choice, field, modal, text_input
from bot.rendering.layout import context
from bot.slack.channels import ChannelDirectory
from bot.slack.errors import SLACK_FAILURES
from bot.slack.events import MessageShortcut, ViewSubmission
from bot.slack.message_text import message_text
from bot.slack.people import People
from bot.slack.slack_text import people_in, plain_text
from kb.errors import StoreUnavailableError

logger = logging.getLogger(__name__)

SHORTCUT = "ask_about_this"
CALLBACK = "footnote_ask_about_this"
QUESTION, WHERE = "question", "where"
ALONE, THREAD = "alone", "thread"
QUESTION_CHARACTERS = 3000
"""Slack's limit of what an input may begin with."""
ASKING_S = 1.0
"""How long Slack may take to tell whether we are in the channel: it opens a dialog within three seconds."""


class ShortcutMetadata(FrozenModel):
    """What a dialog is about; travels in its private metadata."""

    channel: str
    message_ts: str
    thread_ts: str
    response_url: str = Field(default="", repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class ShortcutHandler:
    """`quick` must not wait: a dialog has three seconds to open."""

    quick: AsyncWebClient
    submitter: QuestionSubmitter
    people: People
    channels: ChannelDirectory

    async def used(self, shortcut: MessageShortcut) -> None:
        """Opens the dialog."""
        person, joined = await asyncio.gather(
            self.people.person(shortcut.user.id), self._is_joined(shortcut.channel.id)
        )
        message = shortcut.message
        text = message_text(message, await self.people.me()).text
        about = ShortcutMetadata(
            channel=shortcut.channel.id,
            message_ts=message.ts,
            thread_ts=message.thread,
            response_url=shortcut.response_url,
        )
        names = await self.people.names(people_in(text))
        view = dialog(about, plain_text(text, names), messages_in(person.locale), joined=joined)
        await self.quick.views_open(trigger_id=shortcut.trigger_id, view=view)

    async def asked(self, submission: ViewSubmission) -> dict[str, str]:
        """Queues the question. Returns what is wrong, by the block that shows it; nothing: the dialog may close."""
        messages = messages_in((await self.people.person(submission.user.id)).locale)
        text = (submission.view.entry(QUESTION) or "").strip()
        try:
            about = ShortcutMetadata.model_validate_json(submission.view.private_metadata)
            first = await self._ask(about, text, submission)
        except (StoreUnavailableError, ValidationError, *SLACK_FAILURES) as error:
            logger.warning("shortcut.not_accepted", extra={"cause": type(error).__name__})
            return {QUESTION: messages.ask_not_now}
        return {} if first or submission.view.entry(WHERE) != THREAD else {QUESTION: messages.ask_once}

    async def _ask(self, about: ShortcutMetadata, text: str, submission: ViewSubmission) -> bool:
        user = submission.user.id
        if submission.view.entry(WHERE) == THREAD:
            return await self.submitter.in_thread(
                text,
                user=user,
                channel=about.channel,
                message_ts=about.message_ts,
                thread_ts=about.thread_ts,
            )
        return await self.submitter.ephemerally(
            text,
            user=user,
            channel=about.channel,
            press=submission.view.id,
            how="shortcut",
            response_url=about.response_url,
        )

    async def _is_joined(self, channel: str) -> bool:
        try:
            async with asyncio.timeout(ASKING_S):
                return await self.channels.joined(channel)
        except SLACK_FAILURES as error:
            logger.info("shortcut.channel_unknown", extra={"cause": type(error).__name__})
            return False


def dialog(about: ShortcutMetadata, text: str, messages: Messages, *, joined: bool) -> dict[str, Any]:
    places = {ALONE: messages.shortcut_alone, THREAD: messages.shortcut_thread}
    return modal(
        messages.shortcut_title,
        [
            field(QUESTION, messages.why_question, text_input(QUESTION_CHARACTERS, initial=text.strip())),
            field(WHERE, messages.shortcut_where, choice(places, initial=ALONE))
            if joined
            else context(messages.shortcut_not_here),
        ],
        messages,
        callback=CALLBACK,
        metadata=about.model_dump_json(),
        submit=messages.shortcut_send,
    )
