"""Pages that an operator took out by hand: they stay out, whatever their source lists, until that is undone."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Protocol

from redis.asyncio import Redis
from redis.exceptions import RedisError

from kb.errors import StoreUnavailableError


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
        with _translated():
            stored = await self._redis.smembers(self._key)
        return frozenset(one.decode() if isinstance(one, bytes) else str(one) for one in stored)

    async def add(self, page_ids: Collection[str]) -> None:
        if page_ids:
            with _translated():
                await self._redis.sadd(self._key, *page_ids)

    async def discard(self, page_ids: Collection[str]) -> None:
        if page_ids:
            with _translated():
                await self._redis.srem(self._key, *page_ids)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (RedisError, OSError) as error:
        raise StoreUnavailableError("the forgotten pages do not answer") from error
