"""Where a model's replies are kept, so that the same question at the same point of a thread is not paid for twice.

A question is asked again when it is redelivered, edited back, or answered anew after a crash. What is kept is what the
model said, not what became of it: it is checked again each time it is used.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from datetime import timedelta
from typing import Protocol

from redis.asyncio import Redis

from kb.store.redis import store_failures, text_of


class ReplyCache(Protocol):
    """Texts by key, each for a limited time. Raises `StoreUnavailableError` when its server does not answer."""

    async def load(self, key: str) -> str | None:
        """None: never saved, or no longer kept."""

    async def save(self, key: str, reply: str) -> None:
        """Keeps `reply`, in the place of what was kept under `key`."""


class InMemoryReplies:
    """Lost with the process. `limit` replies at most, the latest; `monotonic` gives seconds."""

    def __init__(
        self, *, keep: timedelta, limit: int = 1000, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._keep_s = keep.total_seconds()
        self._limit = limit
        self._monotonic = monotonic
        self._replies: OrderedDict[str, tuple[float, str]] = OrderedDict()

    async def load(self, key: str) -> str | None:
        saved_at, reply = self._replies.get(key, (0.0, None))
        return reply if reply is not None and self._monotonic() - saved_at < self._keep_s else None

    async def save(self, key: str, reply: str) -> None:
        self._replies.pop(key, None)
        self._replies[key] = (self._monotonic(), reply)
        while len(self._replies) > self._limit:
            self._replies.popitem(last=False)


class RedisReplies:
    """One string a reply, which Redis drops after `keep`."""

    def __init__(self, redis: Redis, *, namespace: str, keep: timedelta) -> None:
        self._redis = redis
        self._namespace = namespace
        self._keep = keep

    async def load(self, key: str) -> str | None:
        with store_failures("the kept rewrites cannot be read"):
            reply = await self._redis.get(self._name(key))
        return None if reply is None else text_of(reply)

    async def save(self, key: str, reply: str) -> None:
        with store_failures("the kept rewrites cannot be written"):
            await self._redis.set(self._name(key), reply, px=self._keep)

    def _name(self, key: str) -> str:
        return f"{self._namespace}:rewrite:{key}"
