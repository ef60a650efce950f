"""Answers a question so that only its asker sees it, by the response URL of what they pressed.

What it may say is what a direct message with them would say, wherever they are: nobody reads along. Where the
response URL is used up or too old, and we are not in the channel, it comes as a direct message. Slack keeps
no ephemeral message that could be looked for, so the trace that is kept after the answer tells a later
attempt that it is out: an answer is shown twice only if its worker is killed in between.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.messages.catalog import Messages, messages_in
from bot.questions.answer_record import AskedIn
from bot.questions.asker_line import to_asker
from bot.questions.explain import ephemeral_channel, trace_payload
from bot.questions.ports import AnswerRecords, PipelinePort
from bot.queue.queued_question import QueuedQuestion
from bot.rendering.layout import Block
from bot.rendering.render import HELPFUL, NOT_HELPFUL, WHY, Rendered, plain, render
from bot.slack.audiences import Audiences, AudienceUnknownError
from bot.slack.errors import SLACK_FAILURES, SlackNoResponseError, error_code
from bot.slack.people import People
from bot.slack.slack_text import people_in, plain_text
from kb.answer import Answer
from kb.errors import StoreUnavailableError
from kb.models import Question
from kb.runtime.tracing import note, span
from kb.text.language import detect

logger = logging.getLogger(__name__)

WAIT_S = 2.5
"""Seconds after which the asker is told that we are working on it: a command leaves no trace of its own."""
BUTTONS = frozenset({HELPFUL, NOT_HELPFUL, WHY})
"""Action ids of the buttons that work below an ephemeral message."""
NOT_THERE = frozenset({"not_in_channel", "channel_not_found", "user_not_in_channel", "is_archived"})


@dataclass(frozen=True, kw_only=True)
class EphemeralAnswerWorker:
    """`posting` must not retry lost connections."""

    pipeline: PipelinePort
    audiences: Audiences
    people: People
    figures: AnswerRecords
    posting: AsyncWebClient
    clock: Callable[[], datetime]
    wait_s: float = WAIT_S

    async def __call__(self, question: QueuedQuestion, attempt: int) -> None:
        """Answers. Raises `StoreUnavailableError`, `AudienceUnknownError` and slack_sdk's errors: retryable."""
        if attempt > 1 and await self._is_delivered(question):
            return
        try:
            answer = await self._answer(question)
        except (StoreUnavailableError, AudienceUnknownError, SlackClientError):
            raise
        except Exception:  # the process edge of a question: the reader gets one sentence, the log the rest
            logger.exception("question.broke", extra={"question_id": question.id, "attempt": attempt})
            await self._apologise(question)
        else:
            await self._count(question, answer)

    async def on_giving_up(self, question: QueuedQuestion, error: Exception) -> None:
        logger.error("question.unanswered", extra={"question_id": question.id, "cause": type(error).__name__})
        await self._apologise(question)

    async def tell_late(self, question: QueuedQuestion, attempt: int) -> None:
        """Says that it could not be answered while that was of use. Raises as a call does."""
        if attempt > 1 and await self._is_delivered(question):
            return
        logger.warning("question.late", extra={"question_id": question.id})
        messages = messages_in(detect(plain_text(question.text)))
        await self.show(question, plain(messages.too_late))

    async def _answer(self, question: QueuedQuestion) -> Answer:
        text = plain_text(question.text, await self.people.names(people_in(question.text)))
        audience = await self.audiences.for_person(question.user)
        waiting = asyncio.create_task(self._say_searching(question, messages_in(detect(text))))
        try:
            answer = await self.pipeline.answer(Question(id=question.id, text=text, audience=audience))
        finally:
            waiting.cancel()
            await asyncio.wait({waiting})
        note(outcome=answer.outcome)
        rendered = render(answer, question_id=question.id, today=self.clock().date())
        await self.show(question, for_asker_only(rendered, text, messages_in(answer.language)))
        return answer

    async def show(self, question: QueuedQuestion, rendered: Rendered) -> None:
        """Shows the asker something: by the response URL, as an ephemeral message, or else as a direct message.

        Raises slack_sdk's errors: nobody knows whether it is shown.
        """
        with span("post"):
            await self._show(question, rendered)

    async def _show(self, question: QueuedQuestion, rendered: Rendered) -> None:
        blocks = list(rendered.blocks) or None
        if await self._by_response_url(question, rendered.text, blocks):
            return
        try:
            await self.posting.chat_postEphemeral(
                channel=question.channel, user=question.user, text=rendered.text, blocks=blocks
            )
        except SlackApiError as error:
            if error_code(error) not in NOT_THERE:
                raise
            await self.posting.chat_postMessage(
                channel=question.user,
                text=rendered.text,
                blocks=blocks,
                unfurl_links=False,
                unfurl_media=False,
            )

    async def _by_response_url(self, question: QueuedQuestion, text: str, blocks: list[Block] | None) -> bool:
        url = question.elsewhere.response_url if question.elsewhere else ""
        if not url:
            return False
        try:
            response = await AsyncWebhookClient(url, retry_handlers=[]).send(
                text=text, blocks=blocks, response_type="ephemeral", unfurl_links=False, unfurl_media=False
            )
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise SlackNoResponseError("timeout" if isinstance(error, TimeoutError) else "cut") from error
        if response.status_code >= 500 or response.body.lstrip().startswith("<"):  # a proxy's page
            raise SlackNoResponseError(f"http_{response.status_code}")
        if response.status_code != 200:  # used up, too old, or refused
            logger.info(
                "alone.url_refused", extra={"question_id": question.id, "status": response.status_code}
            )
        return response.status_code == 200

    async def _say_searching(self, question: QueuedQuestion, messages: Messages) -> None:
        await asyncio.sleep(self.wait_s)
        try:
            await self._by_response_url(question, messages.searching, None)
        except SLACK_FAILURES as error:
            logger.info("alone.no_status", extra={"question_id": question.id, "cause": type(error).__name__})

    async def _is_delivered(self, question: QueuedQuestion) -> bool:
        return await self.figures.load_trace(question.id) is not None

    async def _apologise(self, question: QueuedQuestion) -> None:
        messages = messages_in(detect(plain_text(question.text)))
        await self.show(question, plain(messages.failed.format(question_id=question.id)))

    async def _count(self, question: QueuedQuestion, answer: Answer) -> None:
        """Stores figures and the trace. Losing them is logged and changes nothing for the reader, who has the
        answer.
        """
        asked_in = AskedIn(place="private", team=question.team, user=question.user)
        try:
            await self.figures.save_trace(
                question.id,
                trace_payload(answer, channel=ephemeral_channel(question.user), reason=question.reason),
            )
            await self.figures.record(question.id, answer, asked_in)
        except StoreUnavailableError:
            logger.warning("figures.lost", extra={"question_id": question.id})
        except Exception:  # the answer is out: no word of apology below it
            logger.exception("figures.broke", extra={"question_id": question.id})


def for_asker_only(rendered: Rendered, question: str, messages: Messages) -> Rendered:
    """Adds the question, which its asker sees nowhere, and leaves out the buttons that need others."""
    blocks = [kept for block in rendered.blocks if (kept := _for_asker_only(block)) is not None]
    return to_asker(replace(rendered, blocks=tuple(blocks)), question, messages)


def _for_asker_only(block: Block) -> Block | None:
    if block["type"] != "actions":
        return block
    elements = [element for element in block["elements"] if element.get("action_id") in BUTTONS]
    return block | {"elements": elements} if elements else None
