"""The queue of page jobs in Redis, beside the questions' own keys and never before them.

NAMESPACE:pages:wanted        the manifest that the latest sync fills its index with
NAMESPACE:pages:workers       sorted set: worker|KEY -> when it was last heard (milliseconds of the server's clock)
NAMESPACE:pages:lane:KEY      stream of jobs; workers are one consumer group, each job goes to one of them
NAMESPACE:pages:done:RUN      list of outcomes that the sync has not read yet

A worker that falls silent for `LEASE_MS` loses its jobs to another one. A job may therefore
be done twice, never counted twice: who runs the sync takes the first outcome and no other.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, cast

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from ingest.distributed.serialization import (
    Outcome,
    PageJob,
    decode_job,
    decode_outcome,
    encode_job,
    encode_outcome,
)
from kb.store.redis import store_failures, text_of
from kb.store.valkey import blocking_twin

logger = logging.getLogger(__name__)

LEASE_MS = 15_000
SILENT_MS = 15_000
"""Milliseconds after which a worker that was not heard does not count."""
LISTEN_MS = 2_000
"""Milliseconds for which a worker waits for a job before it checks for anything else."""
KEPT = timedelta(minutes=10)
"""Keys of a dead sync expire."""
MOST_OUTCOMES = 16
"""Outcomes read per call."""
_GROUP = "workers"
_SYNC = "sync"
"""Stands for whoever runs the sync among the workers."""
_UNAVAILABLE = "Redis, where syncs are shared, cannot be reached"


class PageJobQueue:
    """Every method raises `StoreUnavailableError` when Redis does not answer."""

    def __init__(self, redis: Redis, *, namespace: str) -> None:
        self._redis = redis
        self._blocking: Redis | None = None
        self._prefix = f"{namespace}:pages"
        self._workers = f"{self._prefix}:workers"
        self._wanted = f"{self._prefix}:wanted"

    async def close(self) -> None:
        if self._blocking is not None:
            await self._blocking.aclose()

    # Whoever runs the sync

    async def want(self, manifest: bytes, manifest_key: str) -> None:
        """Tells workers what to make, and drops what an earlier sync left in the queue."""
        with store_failures(_UNAVAILABLE):
            await self._redis.set(self._wanted, manifest)
            await self._redis.delete(self._queue(manifest_key))

    async def workers(self, manifest_key: str | None = None) -> int:
        """Counts the workers heard of lately: those that make this, or all."""
        with store_failures(_UNAVAILABLE):
            since = await self._now() - SILENT_MS
            names = cast(list[bytes | str], await self._redis.zrangebyscore(self._workers, since, "+inf"))
        return sum(manifest_key is None or text_of(name).rpartition("|")[2] == manifest_key for name in names)

    async def publish(self, jobs: Sequence[PageJob], manifest_key: str) -> list[str]:
        """Adds jobs; returns the ids of their entries."""
        with store_failures(_UNAVAILABLE):
            async with self._redis.pipeline(transaction=False) as batch:
                for job in jobs:
                    batch.xadd(self._queue(manifest_key), cast(Any, encode_job(job)))
                batch.expire(self._queue(manifest_key), KEPT)
                return [text_of(entry) for entry in (await batch.execute())[:-1]]

    async def unstarted(self, manifest_key: str) -> str | None:
        """Takes the oldest job that no worker has begun out of the queue, and tells its id."""
        queue = self._queue(manifest_key)
        with store_failures(_UNAVAILABLE):
            try:
                read = await cast(Any, self._redis.xreadgroup)(_GROUP, _SYNC, {queue: ">"}, count=1)
                if not read:
                    return None
                entry, fields = read[0][1][0]
                await self._withdraw(manifest_key, [text_of(entry)])
            except ResponseError as error:
                _unless_gone(error)
                await self._open(queue)
                return None
        taken = self._job(entry, fields)
        return taken[1].id if taken else None

    async def withdraw(self, manifest_key: str, entries: Sequence[str]) -> None:
        """Removes unstarted jobs; results of running ones are ignored."""
        with store_failures(_UNAVAILABLE):
            try:
                await self._withdraw(manifest_key, entries)
            except ResponseError as error:
                _unless_gone(error)

    async def _withdraw(self, manifest_key: str, entries: Sequence[str]) -> None:
        if entries:
            await self._redis.xdel(self._queue(manifest_key), *entries)
            await self._redis.xack(self._queue(manifest_key), _GROUP, *entries)

    async def outcomes(self, run: str, *, wait_s: float) -> list[tuple[str, Outcome]]:
        """Returns the outcomes that came since; waits up to `wait_s` seconds for a first one."""
        key = self._done(run)
        with store_failures(_UNAVAILABLE):
            popped = await cast(Any, self._twin()).blmpop(
                wait_s, 1, key, direction="LEFT", count=MOST_OUTCOMES
            )
            found = popped[1] if popped else []
        return [outcome for wire in found if (outcome := await self._outcome(wire))]

    async def finish(self, run: str) -> None:
        """Removes the outcomes of a sync that is over. The queue may be another sync's by now, and stays."""
        with store_failures(_UNAVAILABLE):
            await self._redis.delete(self._done(run))

    # A worker

    async def wanted(self) -> bytes | None:
        with store_failures(_UNAVAILABLE):
            return cast(bytes | None, await self._redis.get(self._wanted))

    async def enlist(self, worker: str, manifest_key: str, held: Sequence[str]) -> None:
        """Registers the worker as alive, and renews the jobs that it holds."""
        with store_failures(_UNAVAILABLE):
            now = await self._now()
            await self._redis.zadd(self._workers, {f"{worker}|{manifest_key}": now})
            await self._redis.zremrangebyscore(self._workers, "-inf", now - 100 * SILENT_MS)
            if held:
                try:
                    await cast(Any, self._redis.xclaim)(
                        self._queue(manifest_key), _GROUP, worker, 0, list(held), justid=True
                    )
                except ResponseError as error:
                    _unless_gone(error)  # the sync ended meanwhile

    async def take(
        self, worker: str, manifest_key: str, count: int, *, inherit: bool = True
    ) -> list[tuple[str, PageJob]]:
        """Returns up to `count` jobs with their entries' ids. Waits a little where there is none.

        `inherit`: a dead worker's first.
        """
        queue = self._queue(manifest_key)
        with store_failures(_UNAVAILABLE):
            try:
                entries = await self._inherited(queue, worker, count) if inherit else []
                if not entries:
                    read = await cast(Any, self._twin().xreadgroup)(
                        _GROUP, worker, {queue: ">"}, count=count, block=LISTEN_MS
                    )
                    entries = read[0][1] if read else []
            except ResponseError as error:
                _unless_gone(error)
                await self._open(queue)
                return []
        return [job for entry, fields in entries if fields and (job := self._job(entry, fields))]

    async def _inherited(self, queue: str, worker: str, count: int) -> list[Any]:
        claimed = await cast(Any, self._redis.xautoclaim)(queue, _GROUP, worker, LEASE_MS, count=count)
        return cast(list[Any], claimed[1])

    async def done(self, finished: Sequence[tuple[str, PageJob, Outcome]], manifest_key: str) -> None:
        """Returns entries, their jobs and the outcomes to the sync, in one step."""
        entries = [entry for entry, _, _ in finished]
        written = [(job.run, await encode_outcome(job.id, outcome)) for _, job, outcome in finished]
        with store_failures(_UNAVAILABLE):
            async with self._redis.pipeline(transaction=True) as batch:
                for run, outcome in written:
                    batch.rpush(self._done(run), outcome)
                    batch.expire(self._done(run), KEPT)
                batch.xdel(self._queue(manifest_key), *entries)
                batch.xack(self._queue(manifest_key), _GROUP, *entries)
                await batch.execute()

    async def leave(self, worker: str, manifest_key: str) -> None:
        with store_failures(_UNAVAILABLE):
            await self._redis.zrem(self._workers, f"{worker}|{manifest_key}")

    def _job(self, entry: Any, fields: Any) -> tuple[str, PageJob] | None:
        try:
            return text_of(entry), decode_job(fields)
        except ValueError:
            logger.warning("worker.job_unreadable", extra={"entry": text_of(entry)})
            return None

    async def _outcome(self, wire: bytes) -> tuple[str, Outcome] | None:
        try:
            return await decode_outcome(wire)
        except ValueError:  # of another version: its page comes back as overdue
            logger.warning("sync.outcome_unreadable")
            return None

    async def _open(self, queue: str) -> None:
        try:
            await self._redis.xgroup_create(queue, _GROUP, id="0", mkstream=True)
        except ResponseError as error:
            if not str(error).startswith("BUSYGROUP"):
                raise

    async def _now(self) -> int:
        """Returns milliseconds of the server's clock, so that machines need not agree on the time."""
        seconds, micros = await cast(Any, self._redis.time())
        return int(seconds) * 1000 + int(micros) // 1000

    def _twin(self) -> Redis:
        if self._blocking is None:
            self._blocking = blocking_twin(self._redis)
        return self._blocking

    def _queue(self, manifest_key: str) -> str:
        return f"{self._prefix}:lane:{manifest_key}"

    def _done(self, run: str) -> str:
        return f"{self._prefix}:done:{run}"


def _unless_gone(error: ResponseError) -> None:
    """Raises an error again unless it says that there is no queue yet, or none any more: then there is nothing to do.

    Redis 7.0 has a word of its own for it.
    """
    if not str(error).startswith(("NOGROUP", "UNBLOCKED")):
        raise error
