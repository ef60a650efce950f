"""Handles message events: a listener decides whether a message is for Footnote and puts the question on the queue.

An error here means that the event is not acknowledged, so that Slack sends it again.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.listening.deferred_messages import DeferredMessage, DeferredMessages
from bot.listening.reply_decider import ReplyDecider
from bot.listening.reply_policy import Decision
from bot.listening.thread_reads import ReadLaterError
from bot.queue.queue import QuestionQueue
from bot.queue.queued_question import QueuedQuestion, question_id
from bot.slack.events import FORM_SUBTYPES, READ_SUBTYPES, Message, MessageEvent
from bot.slack.message_text import message_text
from bot.slack.people import Me, People
from kb.conversation.conversations import RedisConversations
from kb.models import ThreadKey

logger = logging.getLogger(__name__)

MENTIONED = Decision(speaks=True, reason="mentioned")


@dataclass(frozen=True, kw_only=True)
class Listeners:
    """`decider` says which messages are for us, `deferred` keeps those that cannot be judged now.

    `forget_record` deletes what is kept of the answer to a question, by its id.
    """

    queue: QuestionQueue
    conversations: RedisConversations
    forget_record: Callable[[str], Awaitable[None]]
    decider: ReplyDecider
    deferred: DeferredMessages
    people: People
    clock: Callable[[], datetime]

    async def on_mention(self, event: dict[str, Any]) -> None:
        """Handles `app_mention`; the `message` event of the mention is the same question."""
        message = Message.read(event)
        if await self._is_listened_to(message):
            await self._accept(MessageEvent.read(event), message, MENTIONED)

    async def on_message(self, event: dict[str, Any]) -> None:
        """Handles `message` in a channel, a direct message or a group: posted, edited or deleted."""
        message_event = MessageEvent.read(event)
        if message_event.is_deletion:
            await self.on_message_deleted(message_event)
        elif message_event.subtype == "message_changed":
            await self.on_message_edited(message_event)
        else:
            message = Message.read(event)
            if await self._is_listened_to(message):
                await self._judge(message_event, message)

    async def judge_deferred(self, place: DeferredMessage) -> None:
        """Decides about a deferred message. Raises as `ReplyDecider.decide`."""
        found = await self.decider.load_deferred(place)
        if found is None or not await self._is_listened_to(found[1]):
            return
        decision = await self.decider.decide(*found)
        if decision.speaks or await self._was_accepted(*found):
            await self._accept(*found, decision)

    async def _judge(self, event: MessageEvent, message: Message, *, was_accepted: bool = False) -> None:
        """Accepts a message that is for us. `was_accepted`: a version of it was, so it is."""
        try:
            decision = await self.decider.decide(event, message)
        except ReadLaterError as later:
            place = self.deferred.place(
                channel=event.channel,
                channel_type=event.channel_type,
                thread_ts=message.thread,
                ts=message.ts,
                ours=later.ours,
            )
            kept = await self.deferred.add(place)
            if not kept and (was_accepted or later.ours):
                raise  # not acknowledged: Slack sends it again
            where = {"channel": event.channel, "ts": message.ts}
            logger.info("message.put_aside" if kept else "message.left", extra=where | {"reason": "unread"})
            return
        if decision.speaks or was_accepted:
            await self._accept(event, message, decision)

    async def _is_listened_to(self, message: Message) -> bool:
        """Tells whether the writer is a person, or a form that starts a thread and mentions us. Other bots are ignored.

        A form in a thread is ignored, so that no bot is ever talked with.
        """
        if message.by_a_person:
            return message.subtype in READ_SUBTYPES
        if not (message.by_a_form and message.subtype in FORM_SUBTYPES and message.thread == message.ts):
            return False
        me = await self.people.me()
        ours = me.wrote(message)
        return not ours and me.is_mentioned(message)

    async def on_message_edited(self, event: MessageEvent) -> None:
        """Accepts an edit with new words, of a message that was accepted before or that speaks to us now.

        Whether the words are new is judged where they are accepted: Slack tells an edit that adds a mention twice, in
        any order, and tells revisions that change nothing.
        """
        message, before = event.message, event.previous_message
        if message is None or not message.by_a_person:
            return
        me = await self.people.me()
        if before is not None and question_text(before, me) == question_text(message, me):
            return
        overtaken = before is not None and me.is_mentioned(before)
        await self._judge(event, message, was_accepted=overtaken or await self._was_accepted(event, message))

    async def _was_accepted(self, event: MessageEvent, message: Message) -> bool:
        team = (await self.people.me()).team_id
        if await self.queue.is_known(question_id(team, event.channel, message.ts)):
            return True
        return await self._was_answered(
            ThreadKey(team=team, channel=event.channel, thread=message.thread), message.ts
        )

    async def _was_answered(self, thread: ThreadKey, ts: str) -> bool:
        """Tells whether the conversation holds an answer to it; a conversation is kept for longer than a claim."""
        return any(turn.question_ts == ts for turn in await self.conversations.load(thread))

    async def on_message_deleted(self, event: MessageEvent) -> None:
        """Forgets the question at once; the queue takes its answer away, after what runs there."""
        me, message = await self.people.me(), event.previous_message
        ts = message.ts if message is not None else event.deleted_ts
        if ts is None or (message is not None and me.wrote(message)):
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
        await self.queue.delete(deletion, certain=await self._was_answered(deletion.conversations[-1], ts))
        for key in deletion.conversations:
            await self.conversations.forget(key, ts)
        await self.forget_record(deletion.message_id)
        logger.info("question.forgotten", extra={"question_id": deletion.message_id})

    async def _accept(self, event: MessageEvent, message: Message, decision: Decision) -> None:
        question = self._question(event, message, await self.people.me(), decision)
        if question.mentioned:
            await self.decider.known_threads.note(question.conversations[-1], "ours")
        await self.queue.accept(question)

    def _question(self, event: MessageEvent, message: Message, me: Me, decision: Decision) -> QueuedQuestion:
        text = message_text(message, me)
        question = QueuedQuestion(
            team=me.team_id,
            channel=event.channel,
            channel_type=event.channel_type or "channel",
            ts=message.ts,
            thread_ts=message.thread,
            user=message.user or "",
            text=text.own,
            added=text.added,
            shown=text.shown,
            unread=text.unread,
            mentioned=me.is_mentioned(message),
            received_at=self.clock(),
            action_token=event.token,
            edited_ts=_edited_ts(event, message),
            reason=decision.reason,
            unasked=decision.with_others or not decision.speaks,
        )
        if text.is_cut:
            logger.info("question.cut", extra={"question_id": question.id})
        return question


def question_text(message: Message, me: Me) -> tuple[object, bool]:
    return message_text(message, me).words, me.is_mentioned(message)


def _edited_ts(event: MessageEvent, message: Message) -> str | None:
    """Returns when this version was written; None for the first. Where Slack does not say: when we were told.

    Slack's own is of a whole second: what tells two edits within one apart is when each was told ("5.000000+5.000200").
    """
    event_ts = (event.event_ts or event.ts) if event.subtype == "message_changed" else ""
    edited = message.edited.ts if message.edited is not None else ""
    return "+".join(filter(None, [edited, event_ts if event_ts != edited else ""])) or None
