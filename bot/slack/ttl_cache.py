"""A small TTL cache for Slack lookups."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class TtlCache(Generic[Key, Value]):
    """Caches values by key, each for `keep` after it was asked for. A failure is not cached.

    Expired values are dropped when something new is asked for: a year brings many people, a quarter of an hour few.
    """

    def __init__(self, *, keep: timedelta, clock: Callable[[], datetime]) -> None:
        self._keep = keep
        self._clock = clock
        self._cache: dict[Key, tuple[datetime, Value]] = {}

    async def get(self, key: Key, ask: Callable[[Key], Awaitable[Value]]) -> Value:
        """Raises whatever `ask` raises."""
        now = self._clock()
        cached = self._cache.get(key)
        if cached is not None and now - cached[0] < self._keep:
            return cached[1]
        value = await ask(key)
        self._cache.pop(key, None)
        self._cache[key] = (now, value)  # at the end: the oldest come first
        old = takewhile(lambda item: now - item[1][0] >= self._keep, self._cache.items())
        for key, _ in tuple(old):
            del self._cache[key]
        return value

    def __len__(self) -> int:
        return len(self._cache)
