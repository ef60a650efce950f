"""Drops channel messages that are not for Footnote before Bolt handles them; most messages of a workspace are.

    no event, or not a person's message in a channel    -> for Bolt: presses, commands, mentions, direct messages,
                                                           edits, deletions
    it names us, or stands in a thread that we are in   -> for Bolt
    it starts a thread, and the channel wants no unasked answers -> settled
    a thread that we are known not to be in             -> settled
    another thread                                      -> for Bolt, but so many at a time and a second: the rest
                                                           is put aside

It drops only what `bot.listening.reply_decider` would leave, and has no rules of its own. Judging a text takes
milliseconds: in a flood, messages of unknown threads are deferred and judged later.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import Field, ValidationError

from bot.listening.deferred_messages import DeferredMessages
from bot.listening.reply_decider import ReplyDecider
from bot.listening.token_bucket import TokenBucket
from bot.queue.batching import BatchedCalls
from bot.slack.errors import SLACK_FAILURES
from bot.slack.events import ActionContext, Ts
from bot.slack.message_parts import Payload
from bot.slack.slack_text import addresses_others
from kb.errors import UnavailableError
from kb.models import ThreadKey

logger = logging.getLogger(__name__)

Verdict = Literal["settled", "first", "other"]
"""For Bolt, "first" is what speaks to us or waits for us; "other" what may not be for us."""

JUDGED_A_MINUTE, JUDGED_AT_ONCE = 1500.0, 100.0
"""Messages of unknown threads whose words are judged as they come: a
tenth of a core. A workspace of thousands has one.
"""
LOG_EVERY_S = 10.0


class _PlainMessage(Payload):
    """A plain message of a person in a channel; anything with more to it goes to Bolt."""

    type: Literal["message"]
    subtype: Literal["thread_broadcast", "file_share"] | None = None
    channel: str
    channel_type: Literal["channel", "group", "mpim"]
    user: str = Field(min_length=1)
    text: str = Field(default="", repr=False)
    ts: Ts
    thread_ts: Ts | None = None
    parent_user_id: str | None = None
    username: str | None = None
    streaming_state: str | None = None
    deleted_ts: Ts | None = None
    assistant_thread: ActionContext = ActionContext()
    action_token: str | None = Field(default=None, repr=False)
    bot_id: None = None
    bot_profile: None = None
    edited: None = None
    metadata: None = None
    message: None = None
    previous_message: None = None


class Prefilter:
    """`noting` is called for each event that is dropped here, since Bolt never gets it. `clock` counts seconds."""

    def __init__(
        self,
        *,
        decider: ReplyDecider,
        deferred: DeferredMessages,
        noting: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._decider = decider
        self._noting = noting
        self._judged = TokenBucket(per_minute=JUDGED_A_MINUTE, burst=JUDGED_AT_ONCE, clock=clock)
        self._shed = _ShedLog(clock=clock)
        self._threads = BatchedCalls(self._known)
        self._aside = BatchedCalls(deferred.add_all)
        self._place = deferred.place

    async def judge(self, payload: Mapping[str, Any], *, busy: Callable[[], bool]) -> Verdict:
        """
        Args:
            busy: whether Bolt has as much as it may have of what may not be for us.

        Raises:
            UnavailableError: nobody knows whether the message is for us.
        """
        event = payload.get("event")
        if payload.get("type") != "event_callback" or not isinstance(event, Mapping):
            return "first"
        if event.get("type") != "message" or event.get("channel_type") == "im":
            return "first"
        try:
            me = await self._decider.people.me()
        except SLACK_FAILURES as error:
            raise UnavailableError("Slack does not say who we are") from error
        try:
            written = _PlainMessage.model_validate(event)
        except ValidationError:
            return "other"
        if me.user_id in written.text:
            return "first"
        if written.user in {me.user_id, "USLACKBOT"}:
            return "other"
        verdict = await self._judge(written, me.team_id, me.user_id, busy=busy)
        if verdict == "settled":
            self._noting()
        return verdict

    async def _judge(
        self, written: _PlainMessage, team: str, us: str, *, busy: Callable[[], bool]
    ) -> Verdict:
        settings = await self._decider.channel_settings.of(written.channel)
        if written.thread_ts is None or written.thread_ts == written.ts:
            return "other" if settings.unasked else "settled"
        if settings.follow_ups == "mention" or addresses_others(written.text, us):
            return "settled"
        if written.parent_user_id == us:
            return "other"
        state = await self._threads.of(
            ThreadKey(team=team, channel=written.channel, thread=written.thread_ts)
        )
        if state != "unknown":
            return "settled" if state == "left" else "other"
        if not busy() and self._judged.take():
            return "other"
        place = self._place(
            channel=written.channel,
            channel_type=written.channel_type,
            thread_ts=written.thread_ts,
            ts=written.ts,
        )
        self._shed.count(kept=await self._aside.of(place))
        return "settled"

    async def _known(self, threads: Sequence[ThreadKey]) -> list[Literal["ours", "left", "unknown"]]:
        answered, states = await asyncio.gather(
            self._decider.conversations.known(threads), self._decider.known_threads.all_of(threads)
        )
        return [
            "ours" if thread in answered or state == "ours" else "left" if state else "unknown"
            for thread, state in zip(threads, states, strict=True)
        ]


@dataclass(kw_only=True, slots=True)
class _ShedLog:
    """Logs one line for many shed messages."""

    clock: Callable[[], float]
    _kept: int = 0
    _left: int = 0
    _told_at: float = field(default=-LOG_EVERY_S)

    def count(self, *, kept: bool) -> None:
        self._kept, self._left = self._kept + kept, self._left + (not kept)
        now = self.clock()
        if now - self._told_at >= LOG_EVERY_S:
            logger.warning("messages.shed", extra={"put_aside": self._kept, "left": self._left})
            self._kept, self._left, self._told_at = 0, 0, now
