"""Runs work while no sync may write, so that the index is copied as it stands."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from datetime import UTC, datetime
from typing import Any, TypeVar

from redis.asyncio import Redis

from ingest.sync.jobs import FOLLOW_S
from ingest.sync.lock import LEASE, RedisReindexLock
from kb.config.settings import Settings
from kb.errors import FootnoteError
from kb.jobs import ReindexProgress
from kb.runtime.tasks import cancelled

_T = TypeVar("_T")


class SyncUnderWayError(FootnoteError):
    """A sync holds the index; the message says what to do."""


async def between_syncs(redis: Redis, settings: Settings, work: Coroutine[Any, Any, _T]) -> _T:
    """Returns what the work does. A sync that is asked for meanwhile, of any replica, waits for its end.

    Raises:
        SyncUnderWayError: one is under way already; nothing was done.
        StoreUnavailableError: it cannot be told, or the lock was lost; the work was stopped.
    """
    lock = RedisReindexLock(redis, namespace=settings.store.namespace)
    step = ReindexProgress(phase="queued", started_at=datetime.now(UTC))
    try:
        await _acquire(lock)
    except BaseException:
        work.close()
        raise
    working = asyncio.create_task(work)
    keeping = asyncio.create_task(lock.keep(lambda: step))
    try:
        await asyncio.wait({working, keeping}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            keeping.result()  # the lock was lost: raises
        return working.result()
    finally:
        working.cancel()
        await cancelled(keeping)
        await asyncio.gather(working, keeping, return_exceptions=True)
        await lock.release(step)


async def _acquire(lock: RedisReindexLock) -> None:
    """Takes the lock, waiting out the lease of a sync that died; one that is alive renews it."""
    until = time.monotonic() + LEASE.total_seconds() + 2
    while not await lock.acquire():
        if time.monotonic() > until:
            raise SyncUnderWayError(
                "a sync is under way: wait for its end (`footnote status`), then try again"
            )
        await asyncio.sleep(FOLLOW_S)
