"""Remembers in Redis which messages show a reindex, so that another bot keeps them up to date when theirs has died.

NAMESPACE:reindex:messages          hash: "CHANNEL:TS" -> the message and what was asked for, as JSON
NAMESPACE:reindex:message:CHANNEL:TS   held by the bot that updates it; runs out when that bot dies
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta

from pydantic import ValidationError
from redis.asyncio import Redis

from bot.frozen_model import FrozenModel
from kb.store.redis import STORE_FAILURES, store_failures, text_of

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=15)
"""A bot that died is known to be dead after this."""
BEAT_S = 4.0
"""Between two renewals, of which two may fail, and between two looks for what a dead bot left."""
_UNAVAILABLE = "the messages that show a reindex do not answer"


class ProgressNote(FrozenModel):
    """A message in Slack, and the reindex that it shows. `times`: how often it was begun; `end`: its last text."""

    channel: str
    ts: str
    user: str
    source: str | None
    full: bool
    dry_run: bool
    force: bool
    begun_at: datetime
    times: int = 1
    end: str | None = None

    @property
    def key(self) -> str:
        return f"{self.channel}:{self.ts}"


class ProgressNotes:
    """Raises `StoreUnavailableError` when Redis does not answer."""

    def __init__(
        self, redis: Redis, *, namespace: str, lease: timedelta = LEASE, beat_s: float = BEAT_S
    ) -> None:
        self._redis = redis
        self._notes = f"{namespace}:reindex:messages"
        self._lease_of = f"{namespace}:reindex:message:"
        self._lease = lease
        self.beat_s = beat_s

    async def write(self, note: ProgressNote) -> None:
        """Remembers a message, held by us."""
        with store_failures(_UNAVAILABLE):
            await self._redis.set(f"{self._lease_of}{note.key}", "1", px=self._lease)
            await self._redis.hset(self._notes, note.key, note.model_dump_json())

    async def hold(self, note: ProgressNote) -> None:
        """Keeps others from taking the message up, until it is cancelled. A Redis that is away is asked again."""
        while True:
            try:
                await self._redis.set(f"{self._lease_of}{note.key}", "1", px=self._lease)
            except STORE_FAILURES as error:
                logger.warning("progress.not_held", extra={"cause": type(error).__name__})
            await asyncio.sleep(self.beat_s)

    async def drop(self, note: ProgressNote) -> None:
        """Forgets a message that shows its end."""
        with store_failures(_UNAVAILABLE):
            await self._redis.hdel(self._notes, note.key)
            await self._redis.delete(f"{self._lease_of}{note.key}")

    async def left_behind(self) -> list[ProgressNote]:
        """Returns messages that no living bot follows. Each is held by us now."""
        with store_failures(_UNAVAILABLE):
            stored = await self._redis.hgetall(self._notes)
        found = []
        for key, written in stored.items():
            with store_failures(_UNAVAILABLE):
                ours = await self._redis.set(f"{self._lease_of}{text_of(key)}", "1", nx=True, px=self._lease)
            if ours:
                found += await self._read(text_of(key), written)
        return found

    async def _read(self, key: str, written: bytes | str) -> list[ProgressNote]:
        try:
            return [ProgressNote.model_validate_json(written)]
        except ValidationError:
            logger.warning("progress.unreadable", extra={"note": key})
            with store_failures(_UNAVAILABLE):
                await self._redis.hdel(self._notes, key)
            return []
