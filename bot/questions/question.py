"""Answers one question, top to bottom: from the queue to an answer in its thread.

    look whether it is answered already -> what is asked, with the thread so far -> "Searching…"
    -> what the place may see -> pipeline.answer, shown as it is written -> render -> post or update
    -> remember -> count

The queue may hand the same question over again after a crash; nothing here may then answer a second time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from slack_sdk.errors import SlackClientError

from bot.listening.channel_settings import ChannelSettingsStore
from bot.listening.question_context import ContextReader, QuestionInContext
from bot.listening.suppression import Suppression
from bot.listening.threads import turn_from_metadata
from bot.messages.catalog import Messages, messages_in
from bot.questions.answer_record import AskedIn
from bot.questions.asker_line import with_asker
from bot.questions.cited_answers import CitedAnswers, cited_answer
from bot.questions.explain import trace_payload
from bot.questions.fallbacks import Fallbacks
from bot.questions.ports import AnswerRecords, PipelinePort
from bot.questions.posted import Posted
from bot.questions.reply import DeliveryRefusedError, DeliveryUncertainError, Replies
from bot.questions.retraction import Retraction
from bot.questions.streaming import Streams
from bot.queue.queue import QuestionQueue
from bot.queue.queued_question import QueuedQuestion
from bot.rendering.render import plain, render
from bot.slack.audiences import Audiences, AudienceUnknownError
from bot.slack.channels import ChannelDirectory
from bot.slack.errors import SLACK_FAILURES
from bot.slack.events import AnswerMetadata, CitedPassage
from bot.slack.people import People
from bot.slack.slack_text import plain_text
from kb.answer import Answer
from kb.answering.progress import Progress
from kb.errors import StoreFullError, StoreUnavailableError
from kb.models import Question, Turn
from kb.runtime.tracing import note
from kb.text.language import detect

logger = logging.getLogger(__name__)

REMEMBERED_ANSWER = 2000
"""Characters of an answer in its message's metadata, of which Slack takes some 8 kB: enough to go on from."""

NOT_IN_CHANNEL = frozenset({"not_in_channel", "channel_not_found"})


@dataclass(frozen=True, kw_only=True)
class QuestionWorker:
    """The handler of the question queue. `clock` gives aware datetimes."""

    pipeline: PipelinePort
    queue: QuestionQueue
    context_reader: ContextReader
    retraction: Retraction
    audiences: Audiences
    channels: ChannelDirectory
    people: People
    replies: Replies
    streams: Streams
    figures: AnswerRecords
    cited: CitedAnswers
    channel_settings: ChannelSettingsStore
    fallbacks: Fallbacks
    suppression: Suppression
    clock: Callable[[], datetime]

    async def __call__(self, question: QueuedQuestion, attempt: int) -> None:
        """Answers a question.

        Raises:
            DeliveryUncertainError, StoreUnavailableError, AudienceUnknownError, slack_sdk.errors.SlackClientError:
                another attempt may succeed.
            DeliveryRefusedError: Slack will not take the answer; where it can be, its asker is told why.
        """
        try:
            if question.deleted:
                await self.retraction(question)
            else:
                await self._answer_once(question, attempt)
        except (
            DeliveryUncertainError,
            StoreUnavailableError,
            AudienceUnknownError,
            SlackClientError,
        ):
            raise
        except DeliveryRefusedError as error:
            await self._tell_why_not(question, error)
            raise
        except Exception:  # the process edge of a question: the reader gets one sentence, the log the rest
            logger.exception("question.broke", extra={"question_id": question.id, "attempt": attempt})
            await self._apologise(question)

    async def on_giving_up(self, question: QueuedQuestion, error: Exception) -> None:
        """Says that the queue will not try again, unless the answer did get out. Raises as a call does."""
        logger.error("question.unanswered", extra={"question_id": question.id, "cause": type(error).__name__})
        await self._apologise(question)

    async def tell_late(self, question: QueuedQuestion) -> None:
        """Says that it could not be answered while that was of use, unless the answer did get out. Raises as a call
        does.
        """
        logger.warning("question.late", extra={"question_id": question.id})
        await self._say_instead(question, lambda messages: messages.too_late)

    async def clean_up(self, question: QueuedQuestion) -> None:
        """Removes what says that we are working on it. Raises `DeliveryUncertainError`, and what reading the thread
        raises.
        """
        await self.replies.set_status(question, "")
        messages = await self.replies.thread_of(question)
        for posted in await self.replies.all_to(question, messages):
            if posted.metadata.state == "searching":
                await self.replies.delete(question, posted.ts)

    async def _answer_once(self, question: QueuedQuestion, attempt: int) -> None:
        if attempt > 1 and await self.suppression.is_suppressed(question):
            return
        posted = await self.replies.find(question) if attempt > 1 or question.edited_ts else None
        asked = await self.context_reader.of(question)
        if posted is not None and posted.answers(question):
            await self._record_posted(question, asked, posted)
        elif not asked.text:
            if not question.unasked:
                await self._help(question, posted)
        else:
            await self._answer(question, asked, posted)

    async def _answer(
        self, question: QueuedQuestion, asked: QuestionInContext, posted: Posted | None
    ) -> None:
        language = (await self.channel_settings.of(question.channel)).language
        async with self.streams.watch(question, messages_in(language or detect(asked.text)), posted) as live:
            answer = await self._think(question, asked, live, reply_in=language)
            begun = await live.finish()
        note(outcome=answer.outcome)
        fallback = await self.fallbacks.of(
            answer, question_id=question.message_id, channel=question.channel, user=question.user
        )
        if await self._is_gone(question):
            return
        if posted is None and await self.suppression.suppresses(question, answer):
            return
        rendered = render(
            answer,
            question_id=question.message_id,
            today=self.clock().date(),
            fallback=fallback,
            in_thread=True,
        )
        rendered = with_asker(rendered, question, asked.text, messages_in(answer.language))
        turn = self.pipeline.turn(answer, question_ts=question.ts)
        await self.replies.deliver(question, rendered, _metadata(question, turn), instead_of=begun)
        await self._remember(question, turn)
        await self._count(question, answer)

    async def _think(
        self, question: QueuedQuestion, asked: QuestionInContext, progress: Progress, *, reply_in: str
    ) -> Answer:
        audience = await self.audiences.of(question.channel, question.user)
        meant = Question(id=question.id, text=asked.text, audience=audience, reply_in=reply_in)
        answer = await self.pipeline.answer(meant, asked.turns, progress=progress)
        return replace(answer, notes=(*answer.notes, *asked.notes), pointed=asked.pointed)

    async def _is_gone(self, question: QueuedQuestion) -> bool:
        """Tells whether the message was deleted meanwhile; its deletion, queued behind this, removes what is posted."""
        if not await self.queue.is_deleted(question.message_id):
            return False
        logger.info("question.deleted_meanwhile", extra={"question_id": question.id})
        await self.replies.set_status(question, "")
        return True

    async def _help(self, question: QueuedQuestion, posted: Posted | None) -> None:
        """Replies where neither the message nor those above ask anything, or where the question is in a file."""
        person = await self.people.person(question.user)
        messages = messages_in(person.locale)
        metadata = AnswerMetadata(question_id=question.id, question_ts=question.ts, outcome="chat")
        reply = plain(messages.note_files if question.unread else messages.help)
        await self.replies.deliver(question, reply, metadata, instead_of=posted.ts if posted else None)

    async def _record_posted(
        self, question: QueuedQuestion, asked: QuestionInContext, posted: Posted
    ) -> None:
        """Remembers an answer that an earlier attempt posted before it died."""
        logger.info("question.answered_before", extra={"question_id": question.id})
        if not await self.context_reader.is_remembered(question):
            turn = turn_from_metadata(
                posted.metadata, question=asked.text, text=posted.text, question_ts=question.ts
            )
            await self._remember(question, replace(turn, asked_at=self.clock()))

    async def _remember(self, question: QueuedQuestion, turn: Turn) -> None:
        """Stores the turn. A store that is full for hours must not hold up later questions: the thread has the turn
        too.
        """
        try:
            await self.context_reader.remember(question, turn)
        except StoreFullError:
            logger.warning("turn.lost", extra={"question_id": question.id})

    async def _count(self, question: QueuedQuestion, answer: Answer) -> None:
        """Stores figures, the trace and what was quoted. Losing them is logged and changes nothing for the reader."""
        try:
            await self.figures.record(question.message_id, answer, await self._asked_in(question))
            await self.figures.save_trace(
                question.message_id, trace_payload(answer, channel=question.channel, reason=question.reason)
            )
            await self.cited.remember(cited_answer(question, answer, at=self.clock()))
        except StoreUnavailableError:
            logger.warning("figures.lost", extra={"question_id": question.id})

    async def _asked_in(self, question: QueuedQuestion) -> AskedIn:
        """Describes where it was asked; a channel that Slack does not tell about counts as private."""
        place = await self.channels.describe(question.channel)
        return AskedIn(
            place="public" if place.is_public else "private",
            team=question.team,
            channel=question.channel,
            channel_name=(place.name or "") if place.is_public else "",
            thread_ts=question.thread_ts,
            ts=question.ts,
            user=question.user,
            unasked=question.unasked,
        )

    async def _tell_why_not(self, question: QueuedQuestion, error: DeliveryRefusedError) -> None:
        logger.error("question.undeliverable", extra={"question_id": question.id, "code": error.code})
        if error.code not in NOT_IN_CHANNEL or not question.user or question.unasked:
            return
        channel = await self.channels.describe(question.channel)
        messages = messages_in((await self.people.person(question.user)).locale)
        called = f"#{channel.name}" if channel.name else messages.this_channel
        try:
            await self.replies.tell_directly(question.user, messages.not_in_channel.format(channel=called))
        except SLACK_FAILURES:
            logger.warning("question.asker_not_told", extra={"question_id": question.id}, exc_info=True)

    async def _apologise(self, question: QueuedQuestion) -> None:
        await self._say_instead(question, lambda messages: messages.failed.format(question_id=question.id))

    async def _say_instead(self, question: QueuedQuestion, sentence: Callable[[Messages], str]) -> None:
        """Posts one polite sentence in the place of the placeholder; nothing where an answer stands, or nobody asked
        us.
        """
        if question.deleted or question.unasked or await self.queue.is_deleted(question.message_id):
            return
        posted = await self.replies.find(question)
        if posted is not None and posted.answers(question):
            return
        language = (await self.channel_settings.of(question.channel)).language
        messages = messages_in(language or detect(plain_text(question.text)))
        metadata = AnswerMetadata(question_id=question.id, question_ts=question.ts, state="failed")
        rendered = plain(sentence(messages))
        await self.replies.deliver(question, rendered, metadata, instead_of=posted.ts if posted else None)


def _metadata(question: QueuedQuestion, turn: Turn) -> AnswerMetadata:
    return AnswerMetadata(
        question_id=question.id,
        question_ts=question.ts,
        answer=turn.answer[:REMEMBERED_ANSWER],
        rewritten=turn.rewritten,
        outcome=turn.outcome,
        cited=tuple(
            CitedPassage(page_id=passage.page_id, chunk_id=passage.chunk_id, title=passage.title)
            for passage in turn.retrieved
            if passage.cited
        ),
    )
