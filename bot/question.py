"""One question, top to bottom: from the queue to an answer in its thread.

    look whether it is answered already -> "Searching…" -> what the place may see -> the thread so far
    -> pipeline.answer, shown as it is written -> render -> post or update -> remember -> count

The queue may hand the same question over again after a crash; nothing here may then answer a second time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol

from bot.audiences import Audiences, AudienceUnknownError
from bot.channel_settings import ChannelSettingsStore
from bot.channels import ChannelDirectory
from bot.claims import QueuedQuestion, question_id
from bot.events import AnswerMark, CitedPassage
from bot.messages import messages_in
from bot.people import People
from bot.render import plain, render
from bot.reply import DeliveryRefusedError, DeliveryUncertainError, Posted, Replies
from bot.slack_errors import SLACK_FAILURES
from bot.streaming import Streams
from bot.threads import Threads, order, turn_from_mark
from bot.unwrap import people_in, plain_text
from bot.why import trace_payload
from kb.answer import Answer
from kb.answering.progress import Progress
from kb.conversation import ConversationStore, compacted
from kb.errors import StoreUnavailableError
from kb.models import Question, ThreadKey, Turn
from kb.text.language import detect

logger = logging.getLogger(__name__)

REMEMBERED_ANSWER = 2000
"""Characters of an answer in its message's metadata, of which Slack takes some 8 kB: enough to go on from."""

NOT_IN_CHANNEL = frozenset({"not_in_channel", "channel_not_found"})


class Answerer(Protocol):
    """kb.pipeline.Pipeline, as the Slack edge uses it."""

    async def answer(
        self, question: Question, turns: Sequence[Turn] = (), *, progress: Progress = ...
    ) -> Answer: ...

    def turn(self, answer: Answer, *, question_ts: str | None = None) -> Turn: ...


class Figures(Protocol):
    """bot.analytics.Analytics, as answering uses it. Raises `StoreUnavailableError`."""

    async def record(self, question_id: str, answer: Answer) -> None: ...

    async def save_trace(self, question_id: str, payload: Any) -> None: ...


@dataclass(frozen=True, kw_only=True)
class QuestionWorker:
    """The handler of the question queue. `clock` gives aware datetimes."""

    pipeline: Answerer
    conversations: ConversationStore
    audiences: Audiences
    channels: ChannelDirectory
    people: People
    threads: Threads
    replies: Replies
    streams: Streams
    figures: Figures
    channel_settings: ChannelSettingsStore
    clock: Callable[[], datetime]

    async def __call__(self, question: QueuedQuestion, attempt: int) -> None:
        """Answers a question. Raises only what another attempt may mend."""
        try:
            await self._answer_once(question, attempt)
        except (
            DeliveryUncertainError,
            StoreUnavailableError,
            AudienceUnknownError,
            *SLACK_FAILURES,
        ):
            raise
        except DeliveryRefusedError as error:
            await self._tell_why_not(question, error)
        except Exception:  # the process edge of a question: the reader gets one sentence, the log the rest
            logger.exception("question.broke", extra={"question_id": question.id, "attempt": attempt})
            await self._apologise(question)

    async def on_giving_up(self, question: QueuedQuestion, error: Exception) -> None:
        """The queue will not try again: says so, unless the answer did get out."""
        logger.error("question.unanswered", extra={"question_id": question.id, "cause": type(error).__name__})
        try:
            await self._apologise(question)
        except (DeliveryUncertainError, *SLACK_FAILURES):
            logger.exception("question.apology_failed", extra={"question_id": question.id})

    async def _answer_once(self, question: QueuedQuestion, attempt: int) -> None:
        posted = await self.replies.find(question) if attempt > 1 or question.edited_ts else None
        text = await self._words(question)
        if posted is not None and posted.answers(question):
            await self._record_posted(question, text, posted)
        elif not text:
            await self._help(question, posted)
        else:
            await self._answer(question, text, posted)

    async def _answer(self, question: QueuedQuestion, text: str, posted: Posted | None) -> None:
        wanted = (await self.channel_settings.of(question.channel)).language
        async with self.streams.watch(question, messages_in(wanted or detect(text)), posted) as live:
            answer = await self._think(question, text, live, reply_in=wanted)
            begun = await live.finish()
        rendered = render(answer, question_id=_message_id(question), today=self.clock().date())
        turn = self.pipeline.turn(answer, question_ts=question.ts)
        await self.replies.deliver(question, rendered, _mark(question, turn), instead_of=begun)
        await self.conversations.append(_key(question), turn)
        await self._count(question, answer)

    async def _think(
        self, question: QueuedQuestion, text: str, progress: Progress, *, reply_in: str
    ) -> Answer:
        audience = await self.audiences.of(question.channel, question.user)
        turns, store_answered = await self._thread(question)
        asked = Question(id=question.id, text=text, audience=audience, reply_in=reply_in)
        answer = await self.pipeline.answer(asked, turns, progress=progress)
        return answer if store_answered else replace(answer, notes=(*answer.notes, "history unavailable"))

    async def _thread(self, question: QueuedQuestion) -> tuple[Sequence[Turn], bool]:
        """The turns before this question, and whether the conversation store answered."""
        store_answered = True
        stored: Sequence[Turn] = ()
        try:
            stored = await self.conversations.load(_key(question))
        except StoreUnavailableError:
            logger.warning("thread.store_unavailable", extra={"question_id": question.id})
            store_answered = False
        if stored or question.thread_ts == question.ts:
            return _before(stored, question.ts), store_answered
        try:
            turns = await self.threads.turns(question.channel, question.thread_ts, before=question.ts)
        except SLACK_FAILURES as error:
            logger.warning(
                "thread.unreadable", extra={"question_id": question.id, "cause": type(error).__name__}
            )
            return (), False
        return compacted(turns), store_answered

    async def _words(self, question: QueuedQuestion) -> str:
        """What was said, with names for ids. The mention of us was taken out when the question was accepted."""
        return plain_text(question.text, await self._names(question.text))

    async def _names(self, text: str) -> Mapping[str, str]:
        return await self.people.names(people_in(text))

    async def _help(self, question: QueuedQuestion, posted: Posted | None) -> None:
        person = await self.people.person(question.user)
        mark = AnswerMark(question_id=question.id, question_ts=question.ts, outcome="chat")
        await self.replies.deliver(
            question, plain(messages_in(person.locale).help), mark, instead_of=posted.ts if posted else None
        )

    async def _record_posted(self, question: QueuedQuestion, text: str, posted: Posted) -> None:
        """An earlier attempt posted the answer and died before it remembered it."""
        logger.info("question.answered_before", extra={"question_id": question.id})
        stored = await self.conversations.load(_key(question))
        if all(turn.question_ts != question.ts for turn in stored):
            turn = turn_from_mark(posted.mark, question=text, text=posted.text, question_ts=question.ts)
            await self.conversations.append(_key(question), replace(turn, asked_at=self.clock()))

    async def _count(self, question: QueuedQuestion, answer: Answer) -> None:
        """Figures and the trace. Losing them is logged and changes nothing for the reader."""
        try:
            await self.figures.record(_message_id(question), answer)
            await self.figures.save_trace(
                _message_id(question), trace_payload(answer, channel=question.channel)
            )
        except StoreUnavailableError:
            logger.warning("figures.lost", extra={"question_id": question.id})

    async def _tell_why_not(self, question: QueuedQuestion, error: DeliveryRefusedError) -> None:
        logger.error("question.undeliverable", extra={"question_id": question.id, "code": error.code})
        if error.code not in NOT_IN_CHANNEL:
            return
        channel = await self.channels.describe(question.channel)
        words = messages_in((await self.people.person(question.user)).locale)
        called = f"#{channel.name}" if channel.name else words.this_channel
        try:
            await self.replies.tell_directly(question.user, words.not_in_channel.format(channel=called))
        except SLACK_FAILURES:
            logger.warning("question.asker_not_told", extra={"question_id": question.id}, exc_info=True)

    async def _apologise(self, question: QueuedQuestion) -> None:
        """One polite sentence in the place of the placeholder; nothing where an answer already stands."""
        posted = await self.replies.find(question)
        if posted is not None and posted.answers(question):
            return
        wanted = (await self.channel_settings.of(question.channel)).language
        words = messages_in(wanted or detect(plain_text(question.text)))
        mark = AnswerMark(question_id=question.id, question_ts=question.ts, state="failed")
        rendered = plain(words.failed.format(question_id=question.id))
        try:
            await self.replies.deliver(question, rendered, mark, instead_of=posted.ts if posted else None)
        except DeliveryRefusedError as error:
            logger.error("question.undeliverable", extra={"question_id": question.id, "code": error.code})  # noqa: TRY400 - the code says it all


def _message_id(question: QueuedQuestion) -> str:
    """Votes, figures and the trace belong to the message, whatever version of it was answered."""
    return question_id(question.team, question.channel, question.ts)


def _key(question: QueuedQuestion) -> ThreadKey:
    return ThreadKey(team=question.team, channel=question.channel, thread=question.thread_ts)


def _before(turns: Sequence[Turn], ts: str) -> list[Turn]:
    """For an edited question in the middle of a thread: what had been said when it was asked."""
    return [turn for turn in turns if turn.question_ts is None or order(turn.question_ts) < order(ts)]


def _mark(question: QueuedQuestion, turn: Turn) -> AnswerMark:
    return AnswerMark(
        question_id=question.id,
        question_ts=question.ts,
        answer=turn.answer[:REMEMBERED_ANSWER],
        rewritten=turn.rewritten,
        outcome=turn.outcome,
        cited=tuple(
            CitedPassage(page_id=one.page_id, chunk_id=one.chunk_id, title=one.title)
            for one in turn.retrieved
            if one.cited
        ),
    )
