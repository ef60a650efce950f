"""Syncs by the clock: each source as often as its settings say, whichever replica comes first."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from redis.asyncio import Redis

from kb.jobs import Reindexer, ReindexRequest
from kb.store.redis import STORE_FAILURES, store_failures

logger = logging.getLogger(__name__)

LOOK_S = 15.0
"""Seconds between two looks at what is due."""
JITTER = 0.1
"""Share by which an interval varies, so that sources of one host do not always meet."""
REQUESTED_BY = "schedule"


class Schedule:
    """A source is due when its mark in Redis has run out: all replicas see the same marks, and a restart keeps them.

    `intervals` is asked at every look: a source may be added while the bot runs.
    """

    def __init__(
        self,
        redis: Redis,
        reindexer: Reindexer,
        *,
        namespace: str,
        intervals: Callable[[], Mapping[str, timedelta]],
        chance: random.Random | None = None,
    ) -> None:
        self._redis = redis
        self._reindexer = reindexer
        self._namespace = namespace
        self._intervals = intervals
        self._chance = chance or random.Random()

    async def run(self) -> None:
        """Looks until it is cancelled. A Redis that is away is logged, and asked again at the next look."""
        while True:
            try:
                await self.look()
            except STORE_FAILURES as error:
                logger.warning("schedule.unavailable", extra={"cause": type(error).__name__})
            await asyncio.sleep(LOOK_S)

    async def look(self) -> None:
        """Syncs the sources that are due, one after another."""
        for source, every in self._intervals().items():
            until_next = every * self._chance.uniform(1 - JITTER, 1 + JITTER)
            if await self._redis.set(_mark(self._namespace, source), "1", nx=True, px=until_next):
                await self._sync(source)

    async def _sync(self, source: str) -> None:
        request = ReindexRequest(requested_by=REQUESTED_BY, source=source)
        last = None
        async for last in self._reindexer.reindex(request):
            if last.joined:  # the sync under way may be another source's: this one is still due
                await self._redis.delete(_mark(self._namespace, source))
        if last is not None:
            logger.info("schedule.synced", extra={"source": source, "phase": last.phase})


async def due_in(redis: Redis, *, namespace: str, sources: Sequence[str]) -> dict[str, timedelta]:
    """Returns the time until each source's next sync by the clock, without those that are due.

    Raises:
        StoreUnavailableError: Redis does not answer.
    """
    with store_failures("it cannot be told when sources are due"):
        left = {source: await redis.pttl(_mark(namespace, source)) for source in sources}
    return {source: timedelta(milliseconds=time) for source, time in left.items() if time > 0}


def _mark(namespace: str, source: str) -> str:
    return f"{namespace}:synced:{source}"
