"""Handles queued questions: messages go to `bot.questions.question`, others where `bot.questions.submission` says.

Tells the queue how an attempt ended. While Slack is away a question waits; older than `answer_within`, its asker gets
one sentence instead of an answer, as soon as Slack takes that; after `APOLOGY_WITHIN` more it is a dead letter.

A question from Home gets a message of ours to stand in, with its words, and is a message from there on. That message
is posted once: an attempt after the first looks for it before it says anything, by the press in its metadata.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from bot.questions.assistant_pane import AssistantPane
from bot.questions.ephemeral_answers import EphemeralAnswerWorker
from bot.questions.question import QuestionWorker
from bot.questions.reply import STREAMING, DeliveryRefusedError, DeliveryUncertainError
from bot.queue.outcomes import NotNowError, UndeliverableError
from bot.queue.queued_question import QueuedQuestion
from bot.rendering.layout import section
from bot.slack.audiences import AudienceUnknownError
from bot.slack.background import Background
from bot.slack.errors import SLACK_FAILURES, cause_of, error_code, failure_kind, retry_after_s
from kb.errors import StoreUnavailableError

logger = logging.getLogger(__name__)

ASKED_EVENT = "footnote_question"
"""The metadata event type of the messages that hold questions from Home."""
LOOKED_AT = 100
"""Messages of a direct message that are looked through for our own."""
EARLY = timedelta(minutes=1)
"""The most seconds by which Slack's clock may be behind ours."""
APOLOGY_WITHIN = timedelta(days=1)
"""Nobody waits for an apology longer than this."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HomeMessages:
    """Gives a question from Home its message. `posting` must not retry lost connections."""

    reading: AsyncWebClient
    posting: AsyncWebClient

    async def posted_once(self, question: QueuedQuestion, *, first: bool) -> QueuedQuestion:
        """Posts the question as a message, unless an earlier attempt did; returns it with that message's ts.

        Raises:
            DeliveryUncertainError: nobody knows whether that was posted: look before trying again.
            slack_sdk.errors.SlackApiError: Slack refuses it.
        """
        ts = (None if first else await self._found(question)) or await self._post(question)
        return question.model_copy(update={"ts": ts, "thread_ts": ts})

    async def _found(self, question: QueuedQuestion) -> str | None:
        page = await self.reading.conversations_history(
            channel=question.channel,
            oldest=f"{(question.received_at - EARLY).timestamp():.6f}",
            limit=LOOKED_AT,
            include_all_metadata=True,
        )
        messages: list[dict[str, Any]] = page.get("messages") or []
        return next((str(message["ts"]) for message in messages if _press(message) == question.ts), None)

    async def _post(self, question: QueuedQuestion) -> str:
        try:
            posted = await self.posting.chat_postMessage(
                channel=question.channel,
                text=question.text,
                blocks=[section("\n".join(f"> {line}" for line in question.text.splitlines()))],
                metadata={"event_type": ASKED_EVENT, "event_payload": {"press": question.ts}},
                unfurl_links=False,
                unfurl_media=False,
            )
        except SlackApiError as error:
            if failure_kind(error) != "lasting":
                raise DeliveryUncertainError(error_code(error) or "internal_error") from error
            raise
        except (*SLACK_FAILURES, OSError) as error:
            raise DeliveryUncertainError(type(error).__name__) from error
        return str(posted["ts"])


@dataclass(frozen=True, kw_only=True)
class QueueHandler:
    """See the module."""

    messages: QuestionWorker
    ephemeral: EphemeralAnswerWorker
    home_messages: HomeMessages
    pane: AssistantPane
    background: Background
    answer_within: timedelta
    clock: Callable[[], datetime]

    async def __call__(self, question: QueuedQuestion, attempt: int) -> None:
        """Raises what `bot.queue.outcomes` lists."""
        late = self._age(question) > self.answer_within and not question.however_late and not question.deleted
        async with self._ending(question):
            if question.is_ephemeral:
                await (
                    self.ephemeral.tell_late(question, attempt) if late else self.ephemeral(question, attempt)
                )
                return
            if question.has_no_message:
                question = await self.home_messages.posted_once(question, first=attempt == 1)
            if late:
                await self.messages.tell_late(question)
                return
            if attempt == 1 and question.channel_type == "im":
                self.background.start(self.pane.entitle(question), name="title")
            await self.messages(question, attempt)

    async def on_giving_up(self, question: QueuedQuestion, error: Exception) -> None:
        """Raises what `bot.queue.outcomes` lists: the apology waits for Slack as an answer would."""
        async with self._ending(question):
            if question.is_ephemeral:
                await self.ephemeral.on_giving_up(question, error)
                return
            if question.has_no_message:
                question = await self.home_messages.posted_once(question, first=False)
            await self.messages.on_giving_up(question, error)

    async def clean_up(self, question: QueuedQuestion) -> None:
        """Removes what says that we are working on it. Raises what `bot.queue.outcomes` lists."""
        async with self._ending(question):
            await self._clean_up(question)

    @asynccontextmanager
    async def _ending(self, question: QueuedQuestion) -> AsyncIterator[None]:
        try:
            yield
        except Exception as error:
            end = ending(error)
            if end is None:
                raise
            if isinstance(end, NotNowError) and self._age(question) > self.answer_within + APOLOGY_WITHIN:
                end = UndeliverableError(end.cause)
            if isinstance(end, UndeliverableError):
                end.clean = await self._is_cleaned_up(question)
            raise end from error

    async def _is_cleaned_up(self, question: QueuedQuestion) -> bool:
        try:
            await self._clean_up(question)
        except (DeliveryUncertainError, *SLACK_FAILURES) as error:
            code = cause_of(error)
            logger.info("question.not_tidied", extra={"question_id": question.id, "code": code})
            return False
        return True

    async def _clean_up(self, question: QueuedQuestion) -> None:
        if not (question.is_ephemeral or question.has_no_message):
            await self.messages.clean_up(question)

    def _age(self, question: QueuedQuestion) -> timedelta:
        return self.clock() - question.received_at


def ending(error: Exception) -> NotNowError | UndeliverableError | None:
    """Maps an error to what the queue is told; None: it is a fault of ours."""
    match error:
        case DeliveryRefusedError():
            return UndeliverableError(error.code)
        case StoreUnavailableError():
            return NotNowError("store")
        case DeliveryUncertainError() | AudienceUnknownError():
            slack = error.__cause__
        case SlackClientError():
            slack = error
        case _:
            return None
    code = cause_of(slack or error)
    if code == STREAMING:  # no outage: a message that stays a stream though it was stopped
        return None
    certain = not isinstance(error, DeliveryUncertainError)
    if certain and isinstance(slack, SlackApiError) and failure_kind(slack) == "lasting":
        return UndeliverableError(code)
    return NotNowError(code, after_s=retry_after_s(slack))


def _press(message: dict[str, Any]) -> str | None:
    """Returns the press in answer to which we posted a message."""
    metadata = message.get("metadata") or {}
    if metadata.get("event_type") != ASKED_EVENT:
        return None
    return (metadata.get("event_payload") or {}).get("press")
