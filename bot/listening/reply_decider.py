"""Decides whether a Slack message is for Footnote: reads what `bot.listening.reply_policy` needs, with few calls.

    mentioned, direct                -> nothing is read
    text that asks and answers nothing, or speaks to somebody else -> nothing is read
    an unknown thread                -> read once, where the text asks something; that we are not in it is remembered
    else                             -> the thread, and the names of who is in it

An event has three seconds until Slack sends it again, so that a look has two. A question
whose thread takes longer, or may not be read now, is put aside (`bot.listening.deferred_messages`):
Slack is told that it was taken, and one that may be for us is not lost.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.listening.channel_settings import ChannelSettings, ChannelSettingsStore
from bot.listening.deferred_messages import DeferredMessage
from bot.listening.known_threads import KnownThreads
from bot.listening.reply_policy import Decision, Place, Reason, ThreadMessage, decide, decide_by_text
from bot.listening.thread_reads import ReadLaterError, ThreadGoneError, ThreadReads
from bot.listening.threads import order
from bot.slack.events import READ_SUBTYPES, Message, MessageEvent, answer_metadata
from bot.slack.message_text import message_text
from bot.slack.people import Me, People
from bot.slack.slack_text import addresses_others
from kb.conversation.conversations import RedisConversations
from kb.models import ThreadKey

logger = logging.getLogger(__name__)

READ_S = 2.0
"""Seconds to read a thread and the names of its people."""
USUAL: frozenset[Reason] = frozenset({"no_thread", "not_our_thread", "says_nothing"})
"""Reasons of most decisions in a channel: logged at debug level."""
SHOWN = 2000
"""Characters of each of our own messages that the policy reads."""


@dataclass(frozen=True, kw_only=True)
class ReplyDecider:
    thread_reads: ThreadReads
    known_threads: KnownThreads
    people: People
    conversations: RedisConversations
    channel_settings: ChannelSettingsStore
    read_s: float = READ_S

    async def decide(self, event: MessageEvent, message: Message) -> Decision:
        """
        Raises:
            StoreUnavailableError: nobody knows whether the message is for us.
            ReadLaterError: the message asks something, and its thread cannot be read now.
        """
        decision = await self._decide(event, message)
        logger.log(
            logging.DEBUG if decision.reason in USUAL else logging.INFO,
            "message.taken" if decision.speaks else "message.left",
            extra={"channel": event.channel, "ts": message.ts, "reason": decision.reason},
        )
        return decision

    async def _decide(self, event: MessageEvent, message: Message) -> Decision:
        me = await self.people.me()
        place = place_of(event)
        new = thread_message(message, me)
        if place == "dm" or new.mentions_us or new.addresses_others:
            return decide([new], place=place)
        settings = await self.channel_settings.of(event.channel)
        if message.thread == message.ts:
            return decide([new], place=place, unasked=settings.unasked)
        if settings.follow_ups == "mention":
            return Decision(speaks=False, reason="mention_only")
        thread = ThreadKey(team=me.team_id, channel=event.channel, thread=message.thread)
        ours = event.parent_user_id == me.user_id or bool(await self.conversations.load(thread))
        state = await self.known_threads.of(thread)
        ours = ours or state == "ours"
        if state is not None and not ours:
            return Decision(speaks=False, reason="not_our_thread" if state == "not ours" else "unread")
        decision = decide_by_text(new)
        if decision is not None:
            return decision
        if state == "gone":
            return Decision(speaks=False, reason="unread")
        if not ours and not new.asks:
            return Decision(speaks=False, reason="not_our_thread")
        return await self._in_thread(event, message, new, settings, thread, ours=ours)

    async def _in_thread(
        self,
        event: MessageEvent,
        message: Message,
        new: ThreadMessage,
        settings: ChannelSettings,
        thread: ThreadKey,
        *,
        ours: bool,
    ) -> Decision:
        me = await self.people.me()
        try:
            async with asyncio.timeout(self.read_s):
                messages = await self.thread_reads.of(
                    event.channel, message.thread, ts=message.ts, probably_ours=ours
                )
                before = [earlier for earlier in messages if order(earlier.ts) < order(message.ts)]
                if not ours and not _is_ours(messages, me):
                    await self.known_threads.note(thread, "not ours")
                    return Decision(speaks=False, reason="not_our_thread")
                names = await self._names(before, message, me)
        except ThreadGoneError as error:
            logger.info("thread.gone", extra={"channel": event.channel, "cause": str(error)})
            await self.known_threads.note(thread, "gone")
            return Decision(speaks=False, reason="unread")
        except (TimeoutError, ReadLaterError) as error:
            if new.asks:
                raise ReadLaterError("the thread was not read in time", ours=ours) from error
            return Decision(speaks=False, reason="unread")
        earlier = thread_messages(before, me, names)
        return decide([*earlier, new], place=place_of(event), follow_ups=settings.follow_ups)

    async def load_deferred(self, place: DeferredMessage) -> tuple[MessageEvent, Message] | None:
        """Reads a deferred message; None: it is gone, or its thread is not ours. Raises as `decide`."""
        me = await self.people.me()
        thread = ThreadKey(team=me.team_id, channel=place.channel, thread=place.thread_ts)
        state = await self.known_threads.of(thread)
        ours = state == "ours" or bool(await self.conversations.load(thread))
        if not ours and state is not None:
            return None
        try:
            messages = await self.thread_reads.of(
                place.channel, place.thread_ts, ts=place.ts, probably_ours=ours
            )
        except ThreadGoneError:
            await self.known_threads.note(thread, "gone")
            return None
        message = next((message for message in messages if message.ts == place.ts), None)
        if message is None:
            return None
        event = MessageEvent(
            type="message", channel=place.channel, channel_type=place.channel_type, ts=place.ts
        )
        return event, message

    async def _names(self, before: Sequence[Message], message: Message, me: Me) -> Mapping[str, str]:
        writers = {earlier.user for earlier in before if earlier.by_a_person and earlier.user is not None}
        return await self.people.names(writers - {message.user, me.user_id})


def _is_ours(messages: Sequence[Message], me: Me) -> bool:
    """Tells whether we wrote in this thread or were mentioned there."""
    return any(
        me.wrote(message) or (message.by_a_person and me.is_mentioned(message)) for message in messages
    )


def place_of(event: MessageEvent) -> Place:
    if event.is_direct:
        return "dm"
    return "group" if event.channel_type == "mpim" else "channel"


def thread_message(message: Message, me: Me, name: str = "") -> ThreadMessage:
    """Builds what the policy reads of a person's message: what was forwarded or attached is not their words."""
    return ThreadMessage(
        user=message.user or "",
        text=message_text(message, me).own,
        mentions_us=me.is_mentioned(message),
        addresses_others=addresses_others(message.text, me.user_id),
        name=name,
    )


def thread_messages(messages: Sequence[Message], me: Me, names: Mapping[str, str]) -> list[ThreadMessage]:
    """Builds what the policy reads of a thread, oldest first: not other apps, Slack itself, nor our own notices."""
    by_ts = {message.ts: message for message in messages}
    read = []
    for message in messages:
        if not me.wrote(message):
            if message.by_a_person and message.subtype in READ_SUBTYPES:
                read.append(thread_message(message, me, names.get(message.user or "", "")))
            continue
        metadata = answer_metadata(message.metadata)
        if (message.metadata is not None and metadata is None) or (
            metadata is not None and metadata.state not in {"answered", "failed"}
        ):
            continue
        asked = by_ts.get(metadata.question_ts) if metadata is not None else None
        read.append(
            ThreadMessage(
                user=None,
                text=message.text[:SHOWN],
                outcome=metadata.outcome if metadata is not None else None,
                to=asked.user if asked is not None else None,
            )
        )
    return read
