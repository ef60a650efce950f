"""One listener for each Slack event. A listener decides "is this for us?" and puts the question on the queue.

An error here means that the event is not acknowledged, so that Slack sends it again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from bot.attention import Attention
from bot.claims import QueuedQuestion
from bot.conversation_keys import keys_of, thread_key
from bot.events import FORM_SUBTYPES, READ_SUBTYPES, Message, MessageEvent
from bot.heard import heard
from bot.people import Me, People
from bot.speaking import Decision
from bot.unwrap import mentions
from kb.conversation import ConversationStore

logger = logging.getLogger(__name__)

MENTIONED = Decision(speaks=True, reason="mentioned")


class Queue(Protocol):
    """bot.queue.QuestionQueue, as listeners use it. Raises `StoreUnavailableError`."""

    async def accept(self, question: QueuedQuestion) -> bool: ...

    async def delete(self, deletion: QueuedQuestion, *, certain: bool = False) -> bool: ...

    async def is_known(self, message_id: str) -> bool: ...


class Records(Protocol):
    """bot.analytics.Analytics, as a deletion uses it. Raises `StoreUnavailableError`."""

    async def forget(self, question_id: str) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Listeners:
    """`attention` says which messages are for us."""

    queue: Queue
    conversations: ConversationStore
    records: Records
    attention: Attention
    people: People
    clock: Callable[[], datetime]

    async def mentioned(self, event: dict[str, Any]) -> None:
        """`app_mention`: somebody speaks to us. Its `message` twin is the same question."""
        message = Message.read(event)
        if await self._is_heard(message):
            await self._accept(MessageEvent.read(event), message, MENTIONED)

    async def message(self, event: dict[str, Any]) -> None:
        """`message` in a channel, a direct message or a group: written, edited or deleted."""
        told = MessageEvent.read(event)
        if told.is_deletion:
            await self._deleted(told)
        elif told.subtype == "message_changed":
            await self._edited(told)
        else:
            message = Message.read(event)
            if await self._is_heard(message):
                decision = await self.attention.decide(told, message)
                if decision.speaks:
                    await self._accept(told, message, decision)

    async def _is_heard(self, message: Message) -> bool:
        """Whether we listen to who wrote this at all.

        A form is heard where it starts a thread, once: no bot is ever talked with. In a thread it never is.
        """
        if message.by_a_person:
            return message.subtype in READ_SUBTYPES
        if not (message.by_a_form and message.subtype in FORM_SUBTYPES and message.thread == message.ts):
            return False
        me = await self.people.me()
        ours = me.wrote(user=message.user, bot_id=message.bot_id)
        return not ours and mentions(message.text, me.user_id)

    async def _edited(self, event: MessageEvent) -> None:
        """New words of a message that we accepted are a question; so are those that now speak to us.

        Whether the words are new is judged where they are accepted: Slack tells an edit that adds a mention twice, in
        any order, and tells revisions that change nothing.
        """
        message, before = event.message, event.previous_message
        if message is None or not message.by_a_person:
            return
        me = await self.people.me()
        if before is not None and _said(before, me) == _said(message, me):
            return
        decision = await self.attention.decide(event, message)
        question = self._question(event, message, me, decision)
        if (
            decision.speaks
            or (before is not None and mentions(before.text, me.user_id))  # the edit overtook what it changes
            or await self.queue.is_known(question.message_id)
            or await self._was_answered(question)
        ):
            await self.queue.accept(question)

    async def _was_answered(self, question: QueuedQuestion) -> bool:
        """Long ago, too: a conversation is kept for longer than a claim."""
        turns = await self.conversations.load(thread_key(question.team, question.channel, question.thread_ts))
        return any(turn.question_ts == question.ts for turn in turns)

    async def _deleted(self, event: MessageEvent) -> None:
        """What is remembered of a question goes at once; its answer is taken away by the queue, after what runs there."""
        me, message = await self.people.me(), event.previous_message
        ts = message.ts if message is not None else event.deleted_ts
        if ts is None or (message is not None and me.wrote(user=message.user, bot_id=message.bot_id)):
            return
        deletion = QueuedQuestion(
            team=me.team_id,
            channel=event.channel,
            channel_type=event.channel_type or "channel",
            ts=ts,
            thread_ts=message.thread if message is not None else ts,
            user=(message.user if message is not None else None) or "",
            text="",
            mentioned=False,
            received_at=self.clock(),
            deleted=True,
        )
        await self.queue.delete(deletion, certain=await self._was_answered(deletion))
        line = deletion.is_line_of_dm
        for key in keys_of(deletion.team, deletion.channel, deletion.thread_ts, is_line_of_dm=line):
            await self.conversations.forget(key, ts)
        await self.records.forget(deletion.message_id)
        logger.info("question.forgotten", extra={"question_id": deletion.message_id})

    async def _accept(self, event: MessageEvent, message: Message, decision: Decision) -> None:
        await self.queue.accept(self._question(event, message, await self.people.me(), decision))

    def _question(self, event: MessageEvent, message: Message, me: Me, decision: Decision) -> QueuedQuestion:
        said = heard(message, me)
        question = QueuedQuestion(
            team=me.team_id,
            channel=event.channel,
            channel_type=event.channel_type or "channel",
            ts=message.ts,
            thread_ts=message.thread,
            user=message.user or "",
            text=said.own,
            added=said.added,
            shown=said.shown,
            unread=said.unread,
            mentioned=mentions(message.text, me.user_id),
            received_at=self.clock(),
            action_token=event.token,
            edited_ts=_edited_ts(event, message),
            reason=decision.reason,
            unasked=decision.with_others or not decision.speaks,
        )
        if said.is_cut:
            logger.info("question.cut", extra={"question_id": question.id})
        return question


def _said(message: Message, me: Me) -> tuple[object, bool]:
    return heard(message, me).words, mentions(message.text, me.user_id)


def _edited_ts(event: MessageEvent, message: Message) -> str | None:
    """When this version was written; None for the first. Slack does not always say, then it is when we were told.

    Slack's own is of a whole second: what tells two edits within one apart is when each was told ("5.000000+5.000200").
    """
    told = (event.event_ts or event.ts) if event.subtype == "message_changed" else ""
    edited = message.edited.ts if message.edited is not None else ""
    return "+".join(filter(None, [edited, told if told != edited else ""])) or None
