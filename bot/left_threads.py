"""Threads that need no look: those that we are not in, and those that Slack does not show us. In Redis, for all replicas.

A thread that we were not in becomes ours when we are mentioned there. A look that began before that may end after it; it
does not make us deaf: the mention is remembered for longer than a look takes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from redis.asyncio import Redis

from kb.models import ThreadKey
from kb.store import store_failures

Left = Literal["not ours", "gone"]

KEEP: dict[Left, timedelta] = {"not ours": timedelta(hours=12), "gone": timedelta(hours=1)}
"""What Slack does not show may be shown later: an app is given a scope, or is invited."""
JOINED = timedelta(minutes=2)
MOST = 50_000
"""Threads, the ones that are kept for longest: some 6 MB."""


@dataclass(frozen=True, kw_only=True)
class LeftThreads:
    """Every method raises `StoreUnavailableError` when Redis does not answer."""

    redis: Redis
    namespace: str
    clock: Callable[[], datetime]

    async def why(self, thread: ThreadKey) -> Left | None:
        """None: nobody has looked lately, or we are in it."""
        return (await self.all_of([thread]))[0]

    async def all_of(self, threads: Sequence[ThreadKey]) -> list[Left | None]:
        """Why of each, asked at once."""
        members = [f"{name}:{thread}" for thread in threads for name in KEEP]
        with store_failures("threads cannot be looked up"):
            until = await self.redis.zmscore(self._left, members)
        now = self.clock().timestamp()
        left = [at is not None and float(at) > now for at in until]
        return [
            next((name for name, is_left in zip(KEEP, left[at:], strict=False) if is_left), None)
            for at in range(0, len(left), len(KEEP))
        ]

    async def leave(self, thread: ThreadKey, why: Left) -> None:
        now, member = self.clock(), f"{why}:{thread}"
        with store_failures("a thread cannot be remembered"):
            async with self.redis.pipeline(transaction=True) as pipe:
                pipe.zadd(self._left, {member: (now + KEEP[why]).timestamp()})
                pipe.zremrangebyscore(self._left, "-inf", now.timestamp())
                pipe.zremrangebyrank(self._left, 0, -MOST - 1)
                pipe.exists(self._joined(thread))
                joined = (await pipe.execute())[-1]
            if joined:
                await self.redis.zrem(self._left, member)

    async def join(self, thread: ThreadKey) -> None:
        """Somebody speaks to us there."""
        with store_failures("a thread cannot be remembered"):
            async with self.redis.pipeline(transaction=True) as pipe:
                pipe.set(self._joined(thread), b"", px=JOINED)
                pipe.zrem(self._left, f"not ours:{thread}", f"gone:{thread}")
                await pipe.execute()

    @property
    def _left(self) -> str:
        return f"{{{self.namespace}}}:left-threads"

    def _joined(self, thread: ThreadKey) -> str:
        return f"{{{self.namespace}}}:joined-thread:{thread}"
