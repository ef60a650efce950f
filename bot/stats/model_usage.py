"""Sums tokens and calls by model, over all processes and restarts, in one hash of Redis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from redis.asyncio import Redis

from kb.errors import StoreUnavailableError
from kb.llm.usage import USAGE_FIGURES, ModelUsage, UsageByModel
from kb.store.redis import store_failures, text_of

_UNAVAILABLE = "the figures' Redis failed"


class UsageTotals:
    """`usage` tells what this process has asked of each model so far."""

    def __init__(self, redis: Redis, key: str, usage: Callable[[], UsageByModel]) -> None:
        self.key = key
        self._redis = redis
        self._usage = usage
        self._saved: dict[str, ModelUsage] = {}

    async def save(self) -> None:
        """Adds what is new. It counts as saved before Redis is asked, so that two calls at once do not add it twice.

        Raises:
            StoreUnavailableError: Redis does not answer; the next call adds it.
        """
        now = dict(self._usage())
        new = {name: used - self._saved.get(name, ModelUsage()) for name, used in now.items()}
        steps = [
            (f"{name}:{figure}", count)
            for name, used in new.items()
            for figure, count in asdict(used).items()
            if count
        ]
        if not steps:
            return
        self._saved |= now
        try:
            with store_failures(_UNAVAILABLE):
                async with self._redis.pipeline(transaction=True) as pipe:
                    for figure, count in steps:
                        pipe.hincrby(self.key, figure, count)
                    await pipe.execute()
        except StoreUnavailableError:
            for name, used in new.items():
                self._saved[name] -= used
            raise


def usage_of(stored: Mapping[Any, Any]) -> dict[str, ModelUsage]:
    """Returns the hash by model. A model's own name may hold colons; figures of another version are left out."""
    figures: dict[str, dict[str, int]] = {}
    for name, count in sorted((text_of(name), int(count)) for name, count in stored.items()):
        model, _, figure = name.rpartition(":")
        if figure in USAGE_FIGURES:
            figures.setdefault(model, {})[figure] = count
    return {model: ModelUsage(**counts) for model, counts in figures.items()}
