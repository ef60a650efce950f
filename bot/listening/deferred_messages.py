"""Keeps messages whose thread could not be read when they came, and judges them later.

Slack is told that they were taken. What is kept is where they stand, not what they say; in
Redis, so that a restart loses none. A replica that takes one and dies leaves it to the others.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pydantic import ValidationError
from redis.asyncio import Redis

from bot.frozen_model import FrozenModel
from bot.listening.thread_reads import ReadLaterError, ThreadReads
from kb.errors import StoreUnavailableError
from kb.store.redis import store_failures

logger = logging.getLogger(__name__)

MOST = 2_000
"""Messages: an hour of reads at Slack's rate limit, and 300 kB."""
MOST_OURS = 2_000
"""Further messages, of threads that we are in: other threads take no room from these."""
WITHIN, WITHIN_OURS = timedelta(minutes=10), timedelta(minutes=30)
"""After that an answer is of no use to a conversation that went on
without it; one that we are in waits as questions do.
"""
FIRST_S, LONGEST_S = 2.0, 60.0
"""Seconds between two attempts: as long as the message has waited, within these bounds."""
HELD_S = 60.0
"""Seconds for which a taken message is reserved."""
IDLE_S = 1.0
BETWEEN_S = 0.02
"""Seconds after one that has to wait on: those behind it may be of our own threads, which need not wait."""
AWAY_S = 5.0

_TAKE = """
local first = redis.call('ZRANGE', KEYS[1], '-inf', ARGV[1], 'BYSCORE', 'LIMIT', 0, 1)[1]
if first then redis.call('ZADD', KEYS[1], ARGV[2], first) end
return first
"""


class DeferredMessage(FrozenModel):
    """The place of a deferred message. `since`: when it came, in seconds. `ours`: we take part in its thread."""

    channel: str
    channel_type: str
    thread_ts: str
    ts: str
    since: float
    ours: bool = False

    @property
    def member(self) -> str:
        """Returns it as it is stored; an older version's has no `ours`."""
        return self.model_dump_json(exclude_defaults=True)


class DeferredMessages:
    """See the module. `clock` gives aware datetimes. Every method raises `StoreUnavailableError` when Redis is away."""

    def __init__(self, redis: Redis, *, namespace: str, clock: Callable[[], datetime]) -> None:
        self._redis = redis
        self._name = f"{{{namespace}}}:unread"
        self._clock = clock
        self._script: Any = redis.register_script(_TAKE)

    def place(
        self, *, channel: str, channel_type: str, thread_ts: str, ts: str, ours: bool = False
    ) -> DeferredMessage:
        now = self._clock().timestamp()
        return DeferredMessage(
            channel=channel, channel_type=channel_type, thread_ts=thread_ts, ts=ts, since=now, ours=ours
        )

    async def add(self, place: DeferredMessage) -> bool:
        """Defers one message. False: too many wait."""
        return (await self.add_all([place]))[0]

    async def add_all(self, places: Sequence[DeferredMessage]) -> list[bool]:
        """Defers messages in their order while there is room; returns whether each was deferred."""
        with store_failures("a message cannot be put aside"):
            waiting = await self._redis.zcard(self._name)
            added = []
            for place in places:
                added.append(waiting < MOST + (MOST_OURS if place.ours else 0))
                waiting += added[-1]
            if due := {
                place.member: place.since + FIRST_S
                for place, is_added in zip(places, added, strict=True)
                if is_added
            }:
                await self._redis.zadd(self._name, due)
        return added

    async def take(self) -> DeferredMessage | None:
        """Takes a message that is due and reserves it for `HELD_S`."""
        now = self._clock().timestamp()
        with store_failures("a message that was put aside cannot be taken"):
            taken = await self._script(keys=[self._name], args=[now, now + HELD_S])
            if taken is None:
                return None
            try:
                return DeferredMessage.model_validate_json(taken)
            except ValidationError:  # written by another version
                await self._redis.zrem(self._name, taken)
                logger.warning("unread.unreadable")
                return None

    async def done(self, place: DeferredMessage) -> None:
        with store_failures("a message that was put aside cannot be dropped"):
            await self._redis.zrem(self._name, place.member)

    async def hand_back(self, place: DeferredMessage) -> None:
        """Ends the reservation: the message is due."""
        with store_failures("a message that was put aside cannot be handed back"):
            await self._redis.zadd(self._name, {place.member: self._clock().timestamp()}, xx=True)

    async def postpone(self, place: DeferredMessage) -> bool:
        """Schedules another attempt. False: the message has waited for too long, and is dropped."""
        now = self._clock().timestamp()
        within = WITHIN_OURS if place.ours else WITHIN
        if now - place.since > within.total_seconds():
            await self.done(place)
            return False
        pause = min(max(now - place.since, FIRST_S), LONGEST_S)
        with store_failures("a message cannot be put aside"):
            await self._redis.zadd(self._name, {place.member: now + pause}, xx=True)
        return True

    async def waiting(self) -> int:
        with store_failures("messages that were put aside cannot be counted"):
            return int(await self._redis.zcard(self._name))


@dataclass(frozen=True, kw_only=True)
class DeferredWorker:
    """Judges deferred messages, one after the other. `judge` decides about one, by way of `thread_reads`."""

    deferred: DeferredMessages
    judge: Callable[[DeferredMessage], Awaitable[None]]
    thread_reads: ThreadReads

    async def run(self) -> None:
        """Runs until cancelled; then it cancels all reads."""
        try:
            await self._run()
        finally:
            await self.thread_reads.close()

    async def _run(self) -> None:
        while True:
            try:
                place = await self.deferred.take()
                if place is None:
                    await asyncio.sleep(IDLE_S)
                else:
                    await self._judge(place)
            except StoreUnavailableError as error:
                logger.warning("unread.store_lost", extra={"cause": str(error)})
                await asyncio.sleep(AWAY_S)

    async def _judge(self, place: DeferredMessage) -> None:
        try:
            await self.judge(place)
        except ReadLaterError:
            if not await self.deferred.postpone(place):
                logger.warning(
                    "message.left", extra={"channel": place.channel, "ts": place.ts, "reason": "unread"}
                )
            await asyncio.sleep(BETWEEN_S)
            return
        except asyncio.CancelledError:
            # A bot that stops leaves it to the next one at once; with the store away, after `HELD_S`.
            with contextlib.suppress(StoreUnavailableError):
                await self.deferred.hand_back(place)
            raise
        except StoreUnavailableError:
            raise  # whoever takes it next
        except Exception:  # the process edge of this message: the others go on
            logger.exception("unread.broke", extra={"channel": place.channel, "ts": place.ts})
        await self.deferred.done(place)
