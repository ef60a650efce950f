"""What the cache of a model's replies does, in a real Valkey."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from redis.asyncio import Redis

from kb.errors import StoreUnavailableError
from kb.rewriting.cache import ReplyCache
from kb.store.valkey import connect_redis

KEEP = timedelta(hours=1)


@pytest.fixture
def cache(redis: Redis) -> ReplyCache:
    return ReplyCache(redis, namespace="test", keep=KEEP)


async def test_a_reply_comes_back_as_it_was_saved(cache: ReplyCache):
    await cache.save("k", '{"query": "naïve € 😀"}')
    assert await cache.load("k") == '{"query": "naïve € 😀"}'


async def test_an_unknown_key_has_no_reply(cache: ReplyCache):
    await cache.save("k", "a")
    assert await cache.load("other") is None


async def test_a_later_reply_takes_the_place_of_the_earlier(cache: ReplyCache):
    await cache.save("k", "a")
    await cache.save("k", "b")
    assert await cache.load("k") == "b"


async def test_a_reply_is_not_kept_for_ever(cache: ReplyCache, redis: Redis):
    await cache.save("k", "a")
    [key] = await redis.keys("test:rewrite:*")
    assert 0 < await redis.pttl(key) <= KEEP / timedelta(milliseconds=1)
    await redis.pexpire(key, 1)
    await asyncio.sleep(0.01)
    assert await cache.load("k") is None


async def test_an_outage_is_told_apart_from_an_empty_cache(tmp_path: Path):
    async with connect_redis(str(tmp_path / "nobody.sock")) as redis:
        cache = ReplyCache(redis, namespace="test", keep=KEEP)
        with pytest.raises(StoreUnavailableError):
            await cache.load("k")
        with pytest.raises(StoreUnavailableError):
            await cache.save("k", "a")
