"""Pages that an operator removed by hand. They stay out, whatever their source lists, until that is undone."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from redis.asyncio import Redis

from kb.store.redis import store_failures, text_of

_UNAVAILABLE = "the forgotten pages do not answer"


class ForgottenPages(Protocol):
    """Page ids. Raises `StoreUnavailableError` when its server does not answer."""

    async def ids(self) -> frozenset[str]: ...

    async def add(self, page_ids: Collection[str]) -> None: ...

    async def discard(self, page_ids: Collection[str]) -> None: ...


class InMemoryForgotten:
    """For tests and one-off indexes: lost with the process."""

    def __init__(self) -> None:
        self._ids: set[str] = set()

    async def ids(self) -> frozenset[str]:
        return frozenset(self._ids)

    async def add(self, page_ids: Collection[str]) -> None:
        self._ids.update(page_ids)

    async def discard(self, page_ids: Collection[str]) -> None:
        self._ids.difference_update(page_ids)


class RedisForgotten:
    """One set, without an end: every replica's next sync must know it."""

    def __init__(self, redis: Redis, *, namespace: str) -> None:
        self._redis = redis
        self._key = f"{namespace}:forgotten"

    async def ids(self) -> frozenset[str]:
        with store_failures(_UNAVAILABLE):
            stored = await self._redis.smembers(self._key)
        return frozenset(text_of(page_id) for page_id in stored)

    async def add(self, page_ids: Collection[str]) -> None:
        if page_ids:
            with store_failures(_UNAVAILABLE):
                await self._redis.sadd(self._key, *page_ids)

    async def discard(self, page_ids: Collection[str]) -> None:
        if page_ids:
            with store_failures(_UNAVAILABLE):
                await self._redis.srem(self._key, *page_ids)
