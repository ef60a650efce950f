"""Handles the message shortcut "Ask Footnote about this": a dialog with the message's text, and who is to see the
answer.

The thread is offered only where we are in the channel. Elsewhere only
the asker is answered, by the shortcut's response URL.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from pydantic import Field, ValidationError
from slack_sdk.web.async_client import AsyncWebClient

from bot.frozen_model import FrozenModel
from bot.messages.catalog import Messages, messages_in
from bot.questions.asking import Asking
from bot.rendering.layout import Block, context, label
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


class ShortcutHandler:
    """`quick` must not wait: a dialog has three seconds to open."""

    def __init__(
        self, *, quick: AsyncWebClient, asking: Asking, people: People, channels: ChannelDirectory
    ) -> None:
        self._quick = quick
        self._asking = asking
        self._people = people
        self._channels = channels

    async def used(self, shortcut: MessageShortcut) -> None:
        """Opens the dialog."""
        person, joined = await asyncio.gather(
            self._people.person(shortcut.user.id), self._is_joined(shortcut.channel.id)
        )
        message = shortcut.message
        text = message_text(message, await self._people.me()).text
        about = ShortcutMetadata(
            channel=shortcut.channel.id,
            message_ts=message.ts,
            thread_ts=message.thread,
            response_url=shortcut.response_url,
        )
        names = await self._people.names(people_in(text))
        view = dialog(about, plain_text(text, names), messages_in(person.locale), joined=joined)
        await self._quick.views_open(trigger_id=shortcut.trigger_id, view=view)

    async def asked(self, submission: ViewSubmission) -> dict[str, str]:
        """Queues the question. Returns what is wrong, by the block that it
        is shown at; nothing: the dialog may close.
        """
        messages = messages_in((await self._people.person(submission.user.id)).locale)
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
            return await self._asking.in_thread(
                text,
                user=user,
                channel=about.channel,
                message_ts=about.message_ts,
                thread_ts=about.thread_ts,
            )
        return await self._asking.ephemerally(
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
                return await self._channels.joined(channel)
        except SLACK_FAILURES as error:
            logger.info("shortcut.channel_unknown", extra={"cause": type(error).__name__})
            return False


def dialog(about: ShortcutMetadata, text: str, messages: Messages, *, joined: bool) -> dict[str, Any]:
    question: dict[str, Any] = {
        "type": "plain_text_input",
        "action_id": QUESTION,
        "multiline": True,
        "max_length": QUESTION_CHARACTERS,
    }
    if text.strip():
        question["initial_value"] = text.strip()[:QUESTION_CHARACTERS]
    blocks: list[Block] = [
        {"type": "input", "block_id": QUESTION, "label": label(messages.why_question), "element": question},
        _where(messages) if joined else context(messages.shortcut_not_here),
    ]
    return {
        "type": "modal",
        "callback_id": CALLBACK,
        "private_metadata": about.model_dump_json(),
        "title": label(messages.shortcut_title),
        "submit": label(messages.shortcut_send),
        "close": label(messages.close),
        "blocks": blocks,
    }


def _where(messages: Messages) -> Block:
    options = [
        {"text": label(messages.shortcut_alone), "value": ALONE},
        {"text": label(messages.shortcut_thread), "value": THREAD},
    ]
    return {
        "type": "input",
        "block_id": WHERE,
        "label": label(messages.shortcut_where),
        "element": {
            "type": "radio_buttons",
            "action_id": WHERE,
            "initial_option": options[0],
            "options": options,
        },
    }
