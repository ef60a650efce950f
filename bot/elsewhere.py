"""The queue's handler: a question that is a message goes to `bot.question`, every other one the way that `bot.asking` drew.

A question from Home gets a message of ours to stand in, with its words, and is a message from there on. That message is posted
once: an attempt after the first looks for it before it says anything, by the press in its metadata.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.alone import AloneWorker
from bot.background import Background
from bot.claims import QueuedQuestion
from bot.layout import section
from bot.pane import Pane
from bot.question import QuestionWorker
from bot.reply import UNCERTAIN, DeliveryUncertainError
from bot.slack_errors import SLACK_FAILURES, error_code

logger = logging.getLogger(__name__)

ASKED_EVENT = "footnote_question"
"""The metadata event type of the messages that questions from Home stand in."""
LOOKED_AT = 100
"""Messages of a direct message that are looked through for our own."""
EARLY = timedelta(minutes=1)
"""By how much Slack's clock may be behind ours."""


class Placing:
    """Gives a question from Home its message. `posting` must not retry lost connections."""

    def __init__(self, *, reading: AsyncWebClient, posting: AsyncWebClient) -> None:
        self._reading = reading
        self._posting = posting

    async def placed(self, question: QueuedQuestion, *, first: bool) -> QueuedQuestion:
        """The question, at the message that it stands in.

        Raises:
            DeliveryUncertainError: nobody knows whether that was posted: look before trying again.
            slack_sdk.errors.SlackApiError: Slack refuses it.
        """
        ts = (None if first else await self._found(question)) or await self._post(question)
        return question.model_copy(update={"ts": ts, "thread_ts": ts})

    async def _found(self, question: QueuedQuestion) -> str | None:
        page = await self._reading.conversations_history(
            channel=question.channel,
            oldest=f"{(question.received_at - EARLY).timestamp():.6f}",
            limit=LOOKED_AT,
            include_all_metadata=True,
        )
        messages: list[dict[str, Any]] = page.get("messages") or []
        return next((str(one["ts"]) for one in messages if _press(one) == question.ts), None)

    async def _post(self, question: QueuedQuestion) -> str:
        try:
            posted = await self._posting.chat_postMessage(
                channel=question.channel,
                text=question.text,
                blocks=[section("\n".join(f"> {line}" for line in question.text.splitlines()))],
                metadata={"event_type": ASKED_EVENT, "event_payload": {"press": question.ts}},
                unfurl_links=False,
                unfurl_media=False,
            )
        except SlackApiError as error:
            code = error_code(error) or "internal_error"
            if code in UNCERTAIN:
                raise DeliveryUncertainError(code) from error
            raise
        except (*SLACK_FAILURES, OSError) as error:
            raise DeliveryUncertainError(type(error).__name__) from error
        return str(posted["ts"])


@dataclass(frozen=True, kw_only=True)
class QueueHandler:
    """See the module."""

    messages: QuestionWorker
    alone: AloneWorker
    placing: Placing
    pane: Pane
    background: Background

    async def __call__(self, question: QueuedQuestion, attempt: int) -> None:
        """Raises only what another attempt may mend."""
        if question.elsewhere is not None and question.elsewhere.alone:
            await self.alone(question, attempt)
            return
        if _has_no_message(question):
            question = await self.placing.placed(question, first=attempt == 1)
        if attempt == 1 and question.channel_type == "im":
            self.background.start(self.pane.entitle(question), name="title")
        await self.messages(question, attempt)

    async def on_giving_up(self, question: QueuedQuestion, error: Exception) -> None:
        if question.elsewhere is not None and question.elsewhere.alone:
            await self.alone.on_giving_up(question, error)
            return
        if _has_no_message(question):
            try:
                question = await self.placing.placed(question, first=False)
            except (DeliveryUncertainError, *SLACK_FAILURES):
                logger.exception("question.apology_failed", extra={"question_id": question.id})
                return
        await self.messages.on_giving_up(question, error)


def _has_no_message(question: QueuedQuestion) -> bool:
    return question.elsewhere is not None and question.elsewhere.how == "home"


def _press(message: dict[str, Any]) -> str | None:
    """The press that a message of ours was posted for."""
    metadata = message.get("metadata") or {}
    if metadata.get("event_type") != ASKED_EVENT:
        return None
    return (metadata.get("event_payload") or {}).get("press")
