"""Reindexing across replicas: one at a time, the second follows, a dead one is taken over; and by the clock."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError
from redis.asyncio import Redis

from ingest.sync.jobs import ReindexJobs
from ingest.sync.lock import RedisReindexLock
from ingest.sync.schedule import JITTER, Schedule
from ingest.sync.sync import Sync
from kb.config.sources import AnySourceSettings
from tests.fakes.embedder import HashEmbedder
from tests.fakes.waiting import until

from .conftest import REQUEST, Clock, all_of, write

Build = Callable[..., Sync]


@pytest.fixture
def replica(a_sync: Build, clock: Clock, redis: Redis, pages: Path) -> Callable[[], ReindexJobs]:
    write(pages, "a.md", "Alpha.")

    def build() -> ReindexJobs:
        return ReindexJobs(a_sync(), clock=clock, lock=a_lock(redis))

    return build


def a_lock(redis: Redis) -> RedisReindexLock:
    return RedisReindexLock(redis, namespace="t", lease=timedelta(seconds=2), beat_s=0.1)


async def test_a_second_replica_follows_the_first_and_ends_with_its_report(
    replica: Callable[[], ReindexJobs], embedder: HashEmbedder
) -> None:
    embedder.gate.clear()
    first = asyncio.create_task(all_of(replica()))
    await embedder.arrived.wait()
    followed = []
    async for step in replica().reindex(REQUEST):
        followed.append(step)
        if step.joined:
            embedder.gate.set()
    steps = await first

    assert (followed[-1].phase, followed[-1].joined) == ("done", True)
    assert followed[-1].report == steps[-1].report
    assert not any(step.joined for step in steps)
    assert len(embedder.calls) == 1


async def test_the_work_of_a_replica_that_died_is_taken_over(
    replica: Callable[[], ReindexJobs], redis: Redis
) -> None:
    assert await a_lock(redis).acquire()  # and is never heard of again

    steps = await all_of(replica())

    assert steps[-1].report is not None
    assert steps[-1].report.added == ["a.md"]


async def test_after_a_reindex_the_turn_is_free(replica: Callable[[], ReindexJobs], redis: Redis) -> None:
    await all_of(replica())
    assert await a_lock(redis).acquire()


async def test_a_replica_that_lost_its_turn_stops(
    replica: Callable[[], ReindexJobs], redis: Redis, embedder: HashEmbedder
) -> None:
    embedder.gate.clear()
    running = asyncio.create_task(all_of(replica()))
    await embedder.arrived.wait()
    await redis.set("t:reindex:turn", "another")

    last = (await asyncio.wait_for(running, 10))[-1]

    assert last.phase == "failed"
    assert await redis.get("t:reindex:turn") in ("another", b"another")


async def test_a_replica_that_was_silent_for_too_long_goes_on_where_nobody_else_took_over(
    replica: Callable[[], ReindexJobs], redis: Redis, embedder: HashEmbedder
) -> None:
    embedder.gate.clear()
    running = asyncio.create_task(all_of(replica()))
    await embedder.arrived.wait()
    await redis.delete("t:reindex:turn")  # as it runs out

    async def holds_it_again() -> bool:
        return bool(await redis.exists("t:reindex:turn"))

    await until(holds_it_again, seconds=10)
    embedder.gate.set()
    assert (await running)[-1].phase == "done"


async def test_a_replica_that_was_silent_while_another_did_the_work_and_left_stops(
    replica: Callable[[], ReindexJobs], redis: Redis, embedder: HashEmbedder
) -> None:
    embedder.gate.clear()
    running = asyncio.create_task(all_of(replica()))
    await embedder.arrived.wait()
    async with redis.pipeline(transaction=True) as batch:
        batch.set("t:reindex:last", "another")
        batch.delete("t:reindex:turn")
        await batch.execute()

    last = (await asyncio.wait_for(running, 10))[-1]

    assert last.phase == "failed"
    assert "another replica took over" in (last.error or "")


async def test_a_source_is_synced_once_an_interval_by_one_of_the_replicas(
    replica: Callable[[], ReindexJobs], redis: Redis, embedder: HashEmbedder, index: object
) -> None:
    every = timedelta(hours=1)
    schedules = [
        Schedule(
            redis,
            replica(),
            namespace="t",
            intervals=lambda: {"handbook": every},
            chance=random.Random(number),
        )
        for number in range(2)
    ]

    await asyncio.gather(*(schedule.look() for schedule in schedules))
    await schedules[0].look()

    assert len(embedder.calls) == 1
    left_s = await redis.pttl("t:synced:handbook") / 1000
    assert 3600 * (1 - JITTER) - 60 < left_s <= 3600 * (1 + JITTER)
    await redis.delete("t:synced:handbook")
    await schedules[1].look()
    assert await redis.exists("t:synced:handbook")


@pytest.mark.parametrize(("written", "minutes"), [("30m", 30), ("6h", 360), ("1d", 1440), ("PT2H", 120)])
def test_an_interval_is_written_as_people_do(written: str, minutes: int) -> None:
    source = TypeAdapter(AnySourceSettings).validate_python(
        {"name": "kb", "path": "/kb", "sync_every": written}
    )
    assert source.sync_every == timedelta(minutes=minutes)


def test_an_interval_below_a_minute_is_rejected() -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(AnySourceSettings).validate_python({"name": "kb", "path": "/kb", "sync_every": "0m"})
