"""What every cache of a model's replies does: in memory, and in Redis (a real Valkey)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest
from redis.asyncio import Redis

from kb.errors import StoreUnavailableError
from kb.rewriting.cache import InMemoryReplies, RedisReplies, ReplyCache
from kb.store.valkey import connect_redis

KEEP = timedelta(hours=1)


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


class Shelf:
    """A cache and a way to let its time pass."""

    def __init__(self, cache: ReplyCache, expire: Callable[[], Awaitable[None]]) -> None:
        self.cache = cache
        self.expire = expire


@pytest.fixture(params=["memory", "redis"])
def shelf(request: pytest.FixtureRequest, redis: Redis) -> Shelf:
    clock = Clock()

    async def later() -> None:
        clock.now_s += KEEP.total_seconds()

    async def expired() -> None:
        for key in await redis.keys("test:rewrite:*"):
            assert 0 < await redis.pttl(key) <= KEEP / timedelta(milliseconds=1)
            await redis.pexpire(key, 1)
        await asyncio.sleep(0.01)

    if request.param == "memory":
        return Shelf(InMemoryReplies(keep=KEEP, monotonic=clock), later)
    return Shelf(RedisReplies(redis, namespace="test", keep=KEEP), expired)


async def test_a_reply_comes_back_as_it_was_saved(shelf: Shelf):
    await shelf.cache.save("k", '{"query": "naïve € 😀"}')
    assert await shelf.cache.load("k") == '{"query": "naïve € 😀"}'


async def test_an_unknown_key_has_no_reply(shelf: Shelf):
    await shelf.cache.save("k", "a")
    assert await shelf.cache.load("other") is None


async def test_a_later_reply_takes_the_place_of_the_earlier(shelf: Shelf):
    await shelf.cache.save("k", "a")
    await shelf.cache.save("k", "b")
    assert await shelf.cache.load("k") == "b"


async def test_a_reply_is_not_kept_for_ever(shelf: Shelf):
    await shelf.cache.save("k", "a")
    await shelf.expire()
    assert await shelf.cache.load("k") is None


async def test_the_memory_holds_the_latest_replies_only():
    cache = InMemoryReplies(keep=KEEP, limit=2)
    for key in ("a", "b", "a", "c"):
        await cache.save(key, key)
    assert [await cache.load(key) for key in ("a", "b", "c")] == ["a", None, "c"]


async def test_an_outage_is_told_apart_from_an_empty_cache(tmp_path: Path):
    async with connect_redis(str(tmp_path / "nobody.sock")) as redis:
        cache = RedisReplies(redis, namespace="test", keep=KEEP)
        with pytest.raises(StoreUnavailableError):
            await cache.load("k")
        with pytest.raises(StoreUnavailableError):
            await cache.save("k", "a")
