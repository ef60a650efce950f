"""Queues questions that are no messages: from a button of App Home, a shortcut, the slash command.

Whatever is asked becomes a question of the queue, in one atomic step and before Slack's call is acknowledged, so a kill
loses none. Its `ts` is no message's: it is made of what was pressed, so the same press that is delivered twice, or a
button that is pressed twice before it was drawn anew, is one question. Where the answer goes:

    Home        a message of ours in the direct message quotes the question; the answer is its thread
                (`bot.questions.handlers`)
    a thread    the thread of the message that the shortcut was used on, or that asked "A or B?"; the answer says
                who asked what
    alone       what only the asker sees (`bot.questions.ephemeral_answers`), wherever they are

The first and the last are told what a direct message is told, a thread what its channel is told: docs/permissions.md.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from bot.queue.queue import QuestionQueue
from bot.queue.queued_question import QuestionOrigin, QueuedQuestion
from bot.rendering.mrkdwn import escape
from bot.slack.events import ButtonPress
from bot.slack.message_text import shortened
from bot.slack.people import People

logger = logging.getLogger(__name__)

How = Literal["home", "shortcut", "command"]


@dataclass(frozen=True, kw_only=True)
class QuestionSubmitter:
    """Every method raises `StoreUnavailableError` when the question could not be
    queued, and slack_sdk's and aiohttp's errors when Slack does not say who we
    are: do not acknowledge then. False: it was asked before, by the same press.

    Texts are plain words, as people typed them.
    """

    queue: QuestionQueue
    people: People
    clock: Callable[[], datetime]

    async def in_direct_message(self, text: str, *, user: str, channel: str, press: str) -> bool:
        """Queues a question from Home: the answer comes in the direct message `channel`."""
        ts = f"home-{_digest(user, press, text)}"
        return await self._queue(text, user=user, channel=channel, ts=ts, thread_ts=ts, how="home")

    async def in_thread(self, text: str, *, user: str, channel: str, message_ts: str, thread_ts: str) -> bool:
        """Queues a question about a message, for everybody in its thread. The same words about the same message are one
        question, whoever asks: their answer is there."""
        ts = f"{message_ts}-{_digest(text)}"
        return await self._queue(text, user=user, channel=channel, ts=ts, thread_ts=thread_ts, how="shortcut")

    async def submit_interpretation(self, press: ButtonPress) -> bool:
        """Queues the interpretation that somebody chose below "Do you mean A or B?", in that thread."""
        reading, channel, ts, thread = (
            press.actions[0].value,
            press.channel_id,
            press.message_ts,
            press.thread_ts,
        )
        if not (reading and channel and ts and thread):
            logger.warning("reading.unreadable", extra={"user": press.user.id})
            return False
        return await self.in_thread(
            reading, user=press.user.id, channel=channel, message_ts=ts, thread_ts=thread
        )

    async def ephemerally(
        self, text: str, *, user: str, channel: str, press: str, how: How, response_url: str
    ) -> bool:
        """Queues a question whose answer only its asker sees, in `channel` while `response_url` lives."""
        ts = f"alone-{_digest(user, press)}"
        elsewhere = QuestionOrigin(how=how, alone=True, response_url=response_url)
        return await self._queue(
            text, user=user, channel=channel, ts=ts, thread_ts=ts, how=how, elsewhere=elsewhere
        )

    async def _queue(
        self,
        text: str,
        *,
        user: str,
        channel: str,
        ts: str,
        thread_ts: str,
        how: How,
        elsewhere: QuestionOrigin | None = None,
    ) -> bool:
        me = await self.people.me()
        return await self.queue.accept(
            QueuedQuestion(
                team=me.team_id,
                channel=channel,
                channel_type="im" if how == "home" else "channel",
                ts=ts,
                thread_ts=thread_ts,
                user=user,
                text=escape(shortened(text)),
                mentioned=True,
                received_at=self.clock(),
                reason="shortcut" if how == "shortcut" else "direct",
                elsewhere=elsewhere or QuestionOrigin(how=how),
            )
        )


def _digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
