"""What is kept for a while, and asked for again after that."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.slack.ttl_cache import TtlCache

KEEP = timedelta(minutes=5)


class Asked:
    """Counts how often it is asked, and tells that number; fails where told so."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 28, tzinfo=UTC)
        self.times = 0
        self.fails = False

    def clock(self) -> datetime:
        return self.now

    async def ask(self, key: str) -> str:
        if self.fails:
            raise ConnectionError
        self.times += 1
        return f"{key} {self.times}"


async def test_a_value_is_asked_for_once_while_it_is_fresh_and_each_key_by_itself() -> None:
    asked = Asked()
    cache: TtlCache[str, str] = TtlCache(keep=KEEP, clock=asked.clock)
    assert [await cache.get(key, asked.ask) for key in ("a", "b", "a")] == ["a 1", "b 2", "a 1"]
    asked.now += KEEP - timedelta(seconds=1)
    assert await cache.get("a", asked.ask) == "a 1"
    asked.now += timedelta(seconds=1)
    assert await cache.get("a", asked.ask) == "a 3"


async def test_a_failure_is_not_kept() -> None:
    asked = Asked()
    cache: TtlCache[str, str] = TtlCache(keep=KEEP, clock=asked.clock)
    asked.fails = True
    with pytest.raises(ConnectionError):
        await cache.get("a", asked.ask)
    asked.fails = False
    assert await cache.get("a", asked.ask) == "a 1"


async def test_what_is_out_of_date_does_not_pile_up() -> None:
    asked = Asked()
    cache: TtlCache[str, str] = TtlCache(keep=KEEP, clock=asked.clock)
    for number in range(100):
        await cache.get(f"person {number}", asked.ask)
        asked.now += KEEP / 10
    assert len(cache) == 10


async def test_what_is_fresh_stays_when_something_else_is_asked_again() -> None:
    asked = Asked()
    cache: TtlCache[str, str] = TtlCache(keep=KEEP, clock=asked.clock)
    await cache.get("a", asked.ask)
    asked.now += KEEP / 2
    await cache.get("b", asked.ask)
    asked.now += KEEP / 2
    assert await cache.get("a", asked.ask) == "a 3"
    assert await cache.get("b", asked.ask) == "b 2"
