"""Remembers in Redis, for all replicas, which threads Footnote takes part in and which it does not.

    ours       we were mentioned there, and have perhaps not answered yet: answers make a thread ours by its turns
    not ours   we were not in it when we looked
    gone       Slack does not show it to us

A look that began before a mention may end after it. It does not make us
deaf: of what is known of a thread, the first counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from redis.asyncio import Redis

from kb.models import ThreadKey
from kb.store.redis import store_failures

ThreadState = Literal["ours", "not ours", "gone"]

KEEP: dict[ThreadState, timedelta] = {
    "ours": timedelta(days=2),
    "not ours": timedelta(hours=12),
    "gone": timedelta(hours=1),
}
"""A question waits for its answer for a day at most. What Slack hides may be shown later: an app is given a scope, or
is invited.
"""
MOST = 50_000
"""Threads, the ones that are kept for longest: some 6 MB."""


@dataclass(frozen=True, kw_only=True)
class KnownThreads:
    """Every method raises `StoreUnavailableError` when Redis does not answer."""

    redis: Redis
    namespace: str
    clock: Callable[[], datetime]

    async def of(self, thread: ThreadKey) -> ThreadState | None:
        """Returns what is known of a thread; None: nobody has looked lately."""
        return (await self.all_of([thread]))[0]

    async def all_of(self, threads: Sequence[ThreadKey]) -> list[ThreadState | None]:
        """Returns what is known of each, with one call."""
        members = [f"{state}:{thread}" for thread in threads for state in KEEP]
        with store_failures("threads cannot be looked up"):
            expiries = await self.redis.zmscore(self._threads, members)
        now = self.clock().timestamp()
        valid = [expiry is not None and float(expiry) > now for expiry in expiries]
        return [
            next((state for state, is_valid in zip(KEEP, valid[start:], strict=False) if is_valid), None)
            for start in range(0, len(valid), len(KEEP))
        ]

    async def note(self, thread: ThreadKey, state: ThreadState) -> None:
        now = self.clock()
        with store_failures("a thread cannot be remembered"):
            async with self.redis.pipeline(transaction=True) as pipe:
                pipe.zadd(self._threads, {f"{state}:{thread}": (now + KEEP[state]).timestamp()})
                pipe.zremrangebyscore(self._threads, "-inf", now.timestamp())
                pipe.zremrangebyrank(self._threads, 0, -MOST - 1)
                await pipe.execute()

    @property
    def _threads(self) -> str:
        return f"{{{self.namespace}}}:left-threads"
