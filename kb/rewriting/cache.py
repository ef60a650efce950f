"""Caches a model's replies, so that the same question at the same point of a thread is not paid for twice.

A question is asked again when it is redelivered, edited back, or answered anew after a crash. What is kept is the
model's reply, not what became of it: it is checked again each time it is used.
"""

from __future__ import annotations

from datetime import timedelta

from redis.asyncio import Redis

from kb.store.redis import store_failures, text_of


class ReplyCache:
    """Keeps each reply in Redis for `keep`. Raises `StoreUnavailableError` when Redis does not answer."""

    def __init__(self, redis: Redis, *, namespace: str, keep: timedelta) -> None:
        self._redis = redis
        self._namespace = namespace
        self._keep = keep

    async def load(self, key: str) -> str | None:
        """Returns None for a reply that was never saved or is no longer kept."""
        with store_failures("the kept rewrites cannot be read"):
            reply = await self._redis.get(self._name(key))
        return None if reply is None else text_of(reply)

    async def save(self, key: str, reply: str) -> None:
        with store_failures("the kept rewrites cannot be written"):
            await self._redis.set(self._name(key), reply, px=self._keep)

    def _name(self, key: str) -> str:
        return f"{self._namespace}:rewrite:{key}"
