"""Reads the context of a question: its own words, forwarded messages, and the conversation before it.

In a thread that is what we answered there and what people wrote to each other; at the bottom of a direct message, the
lines of the last hour. What people wrote is read from Slack for this one question, and kept nowhere.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from bot.listening.threads import Threads, message_of, order, people_named, turns_of, turns_of_people
from bot.queue.queued_question import QueuedQuestion
from bot.slack.errors import SLACK_FAILURES
from bot.slack.events import Message
from bot.slack.message_text import joined_text
from bot.slack.people import People
from bot.slack.slack_text import people_in, plain_text
from kb.answer import Note
from kb.conversation.above import understood
from kb.conversation.conversations import RedisConversations, compacted
from kb.errors import StoreUnavailableError
from kb.models import Turn
from kb.text.phrases import points_above

logger = logging.getLogger(__name__)

READ_S = 5.0
"""Seconds that the people's messages of a thread may take, where our own turns are known without them."""
LINE_GAP_S = 3600
"""Seconds after which a line of a direct message starts anew."""


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionInContext:
    """`pointed`: the text is what somebody else wrote, and the words of the asker only point at it ("do you know?").

    `turns`: what was said before, oldest first. `notes`: what could not be read of all that.
    """

    text: str
    turns: Sequence[Turn] = ()
    pointed: bool = False
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextReader:
    conversations: RedisConversations
    threads: Threads
    people: People

    async def of(self, question: QueuedQuestion) -> QuestionInContext:
        """Returns what is asked; the text is empty where neither the message nor those above ask anything."""
        own = await self._plain(question.text)
        attached = await self._plain(joined_text(question.added, question.shown))
        turns, notes = await self._before(question)
        if question.unread:
            notes = (*notes, "files unread")
        if attached and points_above(own):
            return QuestionInContext(text=attached, turns=turns, pointed=bool(own), notes=notes)
        meant = understood(joined_text(own, attached), turns)
        return QuestionInContext(text=meant.text, turns=meant.turns, pointed=meant.pointed, notes=notes)

    async def remember(self, question: QueuedQuestion, turn: Turn) -> None:
        for key in question.conversations:
            await self.conversations.append(key, turn)

    async def is_remembered(self, question: QueuedQuestion) -> bool:
        for key in question.conversations:
            turns = await self.conversations.load(key)
            if all(turn.question_ts != question.ts for turn in turns):
                return False
        return True

    async def _before(self, question: QueuedQuestion) -> tuple[Sequence[Turn], tuple[Note, ...]]:
        """Returns what was said before this question, and what of it could not be read."""
        stored, notes = await self._stored(question)
        if question.is_line_of_dm:
            return lines_before(stored, question.ts), notes
        if question.thread_ts == question.ts:
            return _before(stored, question.ts), notes
        try:
            async with asyncio.timeout(READ_S if stored else None):
                messages = await self.threads.messages(question.channel, question.thread_ts)
                turns = await self._thread(messages, _before(stored, question.ts), before=question.ts)
        except (TimeoutError, *SLACK_FAILURES) as error:
            cause = type(error).__name__
            logger.warning("thread.unreadable", extra={"question_id": question.id, "cause": cause})
            return _before(stored, question.ts), ("thread unread",)
        return turns, notes

    async def _stored(self, question: QueuedQuestion) -> tuple[Sequence[Turn], tuple[Note, ...]]:
        try:
            return await self.conversations.load(question.conversations[0]), ()
        except StoreUnavailableError:
            logger.warning("thread.store_unavailable", extra={"question_id": question.id})
            return (), ("history unavailable",)

    async def _thread(
        self, messages: Sequence[Message], stored: Sequence[Turn], *, before: str
    ) -> list[Turn]:
        """Merges our turns, as they are stored or else as the thread tells them, with what people wrote between them.

        What is stored may begin later than the thread: it was lost, or could not be read.
        """
        me = await self.people.me()
        earlier = [message for message in messages if order(message.ts) < order(before)]
        names = await self.people.names(people_named(earlier, me=me))
        answered = {message_of(turn.question_ts or "") for turn in stored}
        unstored = [
            turn for turn in turns_of(earlier, me=me, names=names) if turn.question_ts not in answered
        ]
        ours = compacted(sorted([*unstored, *stored], key=_written)) if unstored else stored
        by_people = turns_of_people(earlier, ours, me=me, names=names)
        return sorted([*ours, *by_people], key=_written)

    async def _plain(self, text: str) -> str:
        """Replaces ids by names. The mention of us was removed when the question was accepted."""
        return plain_text(text, await self.people.names(people_in(text)))


def lines_before(turns: Sequence[Turn], ts: str) -> Sequence[Turn]:
    """Picks the lines of a direct message that lead up to the one at `ts`, none more than an hour after the other."""
    earlier = _before(turns, ts)
    times = [*(_seconds(turn.question_ts or "") for turn in earlier), _seconds(ts)]
    gaps = [index for index, (last, time) in enumerate(pairwise(times), 1) if time - last > LINE_GAP_S]
    return earlier[gaps[-1] :] if gaps else earlier


def _before(turns: Sequence[Turn], ts: str) -> list[Turn]:
    """Returns what had been said when a question in the middle of a thread was asked: it may be an edited one."""
    return [turn for turn in turns if turn.question_ts is None or order(turn.question_ts) < order(ts)]


def _written(turn: Turn) -> tuple[int, ...]:
    return order(turn.question_ts or "")


def _seconds(ts: str) -> int:
    return order(ts)[0]
