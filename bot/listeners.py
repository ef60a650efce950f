"""One listener for each Slack event. A listener decides "is this for us?" and puts the question on the queue.

An error here means that the event is not acknowledged, so that Slack sends it again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from bot.claims import QueuedQuestion, question_id
from bot.events import READ_SUBTYPES, Message, MessageEvent
from bot.people import Me, People
from bot.threads import Threads
from bot.unwrap import addresses_others, mentions, plain_text, without_mention
from kb.conversation import ConversationStore
from kb.models import ThreadKey
from kb.text.phrases import asks_something

logger = logging.getLogger(__name__)

LONGEST_QUESTION = 3000
"""Characters. Longer messages are pasted documents; their beginning says what is wanted."""


class Queue(Protocol):
    """bot.queue.QuestionQueue, as listeners use it. Raises `StoreUnavailableError`."""

    async def accept(self, question: QueuedQuestion) -> bool: ...

    async def forget(self, identity: str) -> bool: ...

    async def replace(self, identity: str, text: str) -> bool: ...


class Records(Protocol):
    """bot.analytics.Analytics, as a deletion uses it. Raises `StoreUnavailableError`."""

    async def forget(self, question_id: str) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Listeners:
    """`threads` must not wait out rate limits: an event has three seconds until Slack sends it again."""

    queue: Queue
    conversations: ConversationStore
    records: Records
    threads: Threads
    people: People
    clock: Callable[[], datetime]

    async def mentioned(self, event: dict[str, Any]) -> None:
        """`app_mention`: somebody speaks to us. Its `message` twin is the same question."""
        message = Message.model_validate(event)
        if message.by_a_person and message.subtype in READ_SUBTYPES:
            await self._accept(MessageEvent.model_validate(event), message)

    async def message(self, event: dict[str, Any]) -> None:
        """`message` in a channel, a direct message or a group: written, edited or deleted."""
        told = MessageEvent.model_validate(event)
        if told.is_deletion:
            await self._deleted(told)
        elif told.subtype == "message_changed":
            await self._edited(told)
        elif told.subtype in READ_SUBTYPES:
            message = Message.model_validate(event)
            if message.by_a_person and await self._is_for_us(told, message):
                await self._accept(told, message)

    async def _is_for_us(self, event: MessageEvent, message: Message) -> bool:
        me = await self.people.me()
        if event.is_direct or mentions(message.text, me.user_id):
            return True
        if message.thread == message.ts or addresses_others(message.text, me.user_id):
            return False
        if not asks_something(plain_text(message.text)):
            return False
        return await self._in_conversation(event, message, me)

    async def _in_conversation(self, event: MessageEvent, message: Message, me: Me) -> bool:
        if event.parent_user_id == me.user_id:
            return True
        if await self.conversations.load(self._key(event, message, me)):
            return True
        return await self.threads.footnote_is_in(event.channel, message.thread)

    async def _edited(self, event: MessageEvent) -> None:
        """Still waiting: the new words are answered. Answered already: the edited message is a question of its own."""
        message, before = event.message, event.previous_message
        if message is None or not message.by_a_person or (before is not None and before.text == message.text):
            return
        me = await self.people.me()
        if await self.queue.replace(self._identity(event, message, me), _words(message, me)):
            logger.info("question.edited", extra={"question_id": self._identity(event, message, me)})
        elif await self._was_answered(event, message, me) or await self._is_for_us(event, message):
            await self._accept(event, message, edited_ts=message.edited.ts if message.edited else event.ts)

    async def _was_answered(self, event: MessageEvent, message: Message, me: Me) -> bool:
        turns = await self.conversations.load(self._key(event, message, me))
        return any(turn.question_ts == message.ts for turn in turns)

    async def _deleted(self, event: MessageEvent) -> None:
        message = event.previous_message
        if message is None or not message.by_a_person:
            return
        me = await self.people.me()
        identity = self._identity(event, message, me)
        await self.queue.forget(identity)
        if message.edited is not None:
            await self.queue.forget(question_id(me.team_id, event.channel, message.ts, message.edited.ts))
        await self.conversations.forget(self._key(event, message, me), message.ts)
        await self.records.forget(identity)
        logger.info("question.forgotten", extra={"question_id": identity})

    async def _accept(self, event: MessageEvent, message: Message, *, edited_ts: str | None = None) -> None:
        me = await self.people.me()
        await self.queue.accept(
            QueuedQuestion(
                team=me.team_id,
                channel=event.channel,
                channel_type=event.channel_type or "channel",
                ts=message.ts,
                thread_ts=message.thread,
                user=message.user or "",
                text=_words(message, me),
                mentioned=mentions(message.text, me.user_id),
                received_at=self.clock(),
                action_token=event.token,
                edited_ts=edited_ts,
            )
        )

    @staticmethod
    def _key(event: MessageEvent, message: Message, me: Me) -> ThreadKey:
        return ThreadKey(team=me.team_id, channel=event.channel, thread=message.thread)

    @staticmethod
    def _identity(event: MessageEvent, message: Message, me: Me) -> str:
        return question_id(me.team_id, event.channel, message.ts)


def _words(message: Message, me: Me) -> str:
    return without_mention(message.text, me.user_id)[:LONGEST_QUESTION]
