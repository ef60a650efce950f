"""The lock that lets one replica reindex at a time, and what its holder tells the others.

NAMESPACE:reindex:turn       token of the replica at work; expires when that replica dies
NAMESPACE:reindex:last       token of the last holder: the lock is still its own after a silence in which nobody
                             else took it
NAMESPACE:reindex:progress   the latest step, as JSON
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Protocol, cast

from pydantic import TypeAdapter
from redis.asyncio import Redis

from kb.errors import StoreUnavailableError
from kb.jobs import ReindexProgress
from kb.store.redis import milliseconds, store_failures

LEASE = timedelta(seconds=15)
"""Time after which a replica that died is known to be dead."""
BEAT_S = 1.0
"""Seconds between two renewals, each with the latest step: fourteen may fail."""
KEPT = timedelta(minutes=1)
"""Time for which those who followed can read the last step."""
_UNAVAILABLE = "it cannot be told whether another replica is reindexing"

_PROGRESS: TypeAdapter[ReindexProgress] = TypeAdapter(ReindexProgress)
_ACQUIRE = """
local holder = redis.call('get', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])
redis.call('set', KEYS[3], ARGV[1], 'ex', 86400)
redis.call('del', KEYS[2])
return 1
"""
"""A client that asks again, since the first reply was lost, finds the lock taken by itself."""
_IF_MINE = """
local holder = redis.call('get', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
if not holder and redis.call('get', KEYS[3]) ~= ARGV[1] then return 0 end
redis.call('set', KEYS[2], ARGV[2], 'px', ARGV[3])
"""
_KEEP = f"{_IF_MINE} redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[4]) return 1"
_RELEASE = f"{_IF_MINE} redis.call('del', KEYS[1]) return 1"


class ReindexLock(Protocol):
    """Raises `StoreUnavailableError` when its server does not answer."""

    async def acquire(self) -> bool:
        """Takes the lock and returns True; False while another replica is at work."""

    async def keep(self, latest: Callable[[], ReindexProgress]) -> None:
        """Renews the lock and tells the others the latest step, until it is cancelled.

        Raises:
            StoreUnavailableError: the lock was lost, or it cannot be told any more who holds it.
        """

    async def release(self, last: ReindexProgress) -> None: ...

    async def latest(self) -> ReindexProgress | None:
        """Returns the latest step of whoever is at work, or was a moment ago."""


class OnlyReplica:
    """Stands for the lock where one process has the index to itself."""

    async def acquire(self) -> bool:
        return True

    async def keep(self, latest: Callable[[], ReindexProgress]) -> None:  # noqa: ARG002 - nobody to tell it to
        await asyncio.Event().wait()

    async def release(self, last: ReindexProgress) -> None:
        """Does nothing: no other replica waits for the lock."""

    async def latest(self) -> ReindexProgress | None:
        return None


class RedisReindexLock:
    def __init__(
        self, redis: Redis, *, namespace: str, lease: timedelta = LEASE, beat_s: float = BEAT_S
    ) -> None:
        self._redis = redis
        self._held_by = f"{namespace}:reindex:turn"
        self._progress = f"{namespace}:reindex:progress"
        self._last = f"{namespace}:reindex:last"
        self._lease = lease
        self._beat_s = beat_s
        self._token = uuid.uuid4().hex

    async def acquire(self) -> bool:
        return bool(await self._eval(_ACQUIRE, milliseconds(self._lease)))

    async def keep(self, latest: Callable[[], ReindexProgress]) -> None:
        while True:
            if not await self._tell(_KEEP, latest(), milliseconds(self._lease)):
                raise StoreUnavailableError("another replica took over: this one was silent for too long")
            await asyncio.sleep(self._beat_s)

    async def release(self, last: ReindexProgress) -> None:
        """Tells the last step; where the lock was lost, the step that stands is another replica's, and stays."""
        await self._tell(_RELEASE, last)

    async def latest(self) -> ReindexProgress | None:
        with store_failures(_UNAVAILABLE):
            stored = await self._redis.get(self._progress)
        return None if stored is None else _PROGRESS.validate_json(stored)

    async def _tell(self, script: str, step: ReindexProgress, *more: int) -> bool:
        """Writes the step in one script with what that does to the lock; returns whether the lock was ours."""
        return bool(await self._eval(script, _PROGRESS.dump_json(step), milliseconds(KEPT), *more))

    async def _eval(self, script: str, *arguments: bytes | int) -> object:
        with store_failures(_UNAVAILABLE):
            keys = (self._held_by, self._progress, self._last)
            return await cast(Any, self._redis.eval(script, len(keys), *keys, self._token, *arguments))
