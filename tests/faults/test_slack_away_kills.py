"""Replicas die by kill -9 while their questions wait for Slack: the next ones answer each once, in its thread's order.

The edge and queue are real, in processes of their own; Redis and the playground outlive them. The long run of this is
`python -m tests.bench.outages --kills 40`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.playground import SlackLimits, sample_workspace
from bot.queue.dead_letters import DeadLetters
from bot.queue.queue import QuestionQueue
from kb.store.valkey import connect_redis
from tests.fakes.edge_replica import Replica
from tests.fakes.playground import Playground
from tests.fakes.redis_server import RedisServer, a_server
from tests.fakes.slack_outages import OUTAGES
from tests.fakes.waiting import until

NAMESPACE = "away"
LIMITS = SlackLimits(rate_limited=False, ack_timeout_s=3.0, retry_delays_s=(0.0, *[0.5] * 100))


@pytest.fixture
async def slack() -> AsyncIterator[Playground]:
    async with Playground(sample_workspace(), limits=LIMITS) as slack:
        yield slack


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[RedisServer]:
    with a_server("valkey", tmp_path) as server:
        yield server


@pytest.fixture
async def redis(server: RedisServer) -> AsyncIterator[Redis]:
    async with connect_redis(server.socket) as redis:
        yield redis


@pytest.fixture
async def replicas(server: RedisServer, slack: Playground) -> AsyncIterator[list[Replica]]:
    replicas = [Replica(server.socket, slack, NAMESPACE) for _ in range(2)]
    await asyncio.gather(*(replica.start() for replica in replicas))
    await slack.wait_for(lambda: slack.connected == 2, timeout=30)
    yield replicas
    await asyncio.gather(*(replica.kill() for replica in replicas))


def replies(slack: Playground, root: str) -> list[dict[str, Any]]:
    return [one for one in slack.messages("#general", root) if one.get("bot_id")]


def marks(slack: Playground, root: str) -> list[tuple[str, str]]:
    payloads = [one["metadata"]["event_payload"] for one in replies(slack, root)]
    return [(one["question_ts"], one["state"]) for one in payloads]


@pytest.mark.slow
async def test_what_waits_for_slack_is_answered_once_though_every_replica_was_killed(
    slack: Playground, redis: Redis, replicas: list[Replica]
) -> None:
    queue = QuestionQueue(redis, namespace=NAMESPACE)
    first = await slack.say("alice", "#general", "@footnote What is the first rule?")
    await slack.wait_for(lambda: marks(slack, first), timeout=30)
    slack.faults.add("*", **OUTAGES["HTML 503"], times=1_000_000)
    second = await slack.say("alice", "#general", "@footnote And the second?", first)
    third = await slack.say("alice", "#general", "@footnote And the third?", first)
    other = await slack.say("bram", "#general", "@footnote What else?")

    async def all_wait() -> bool:
        depth = await queue.depth()
        return depth.waiting + depth.running == 3 and depth.for_slack > 0

    await until(all_wait, seconds=30, pause=0.02)
    for replica in replicas:
        await replica.kill()
    await replicas[0].start()
    await until(all_wait, seconds=30, pause=0.02)
    slack.faults.clear()
    await replicas[1].start()
    await slack.wait_for(lambda: len(marks(slack, first)) == 3 and marks(slack, other), timeout=60)
    await until(lambda: idle(queue), seconds=30)
    assert marks(slack, first) == [(ts, "answered") for ts in (first, second, third)]
    assert marks(slack, other) == [(other, "answered")]
    assert await DeadLetters(redis, namespace=NAMESPACE).all() == []


async def idle(queue: QuestionQueue) -> bool:
    depth = await queue.depth()
    return depth.waiting + depth.running == 0
