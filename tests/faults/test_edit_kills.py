"""A question is edited and its bot dies by kill -9, before and after its
answer stands: the last wording is answered, once.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from bot.playground import SlackLimits, sample_workspace
from bot.queue.dead_letters import DeadLetters
from bot.queue.queue import QuestionQueue
from kb.store.valkey import connect_redis
from tests.fakes.edge_replica import Replica
from tests.fakes.playground import Playground
from tests.fakes.redis_server import RedisServer
from tests.fakes.waiting import until
from tests.faults.test_slack_away_kills import idle, marks, replies

LIMITS = SlackLimits(rate_limited=False, ack_timeout_s=3.0, retry_delays_s=(0.0, *[0.5] * 100))
HELD_S = 3600.0
"""Slack's answer to a call does not come before its caller is dead."""
FIRST, SECOND, THIRD = "What is the first rule?", "What is the second rule?", "What is the third rule?"


@pytest.fixture
async def slack() -> AsyncIterator[Playground]:
    async with Playground(sample_workspace(), limits=LIMITS) as slack:
        yield slack


@pytest.fixture
async def bot(
    redis_server: RedisServer, redis: Redis, slack: Playground, namespace: str
) -> AsyncIterator[Replica]:
    replica = Replica(redis_server.socket, slack, namespace)
    await replica.start()
    await slack.wait_for(lambda: slack.connected == 1, timeout=60)
    yield replica
    await replica.kill()


def times(slack: Playground, method: str) -> int:
    return sum(call.method == method for call in slack.calls)


async def edited(slack: Playground, ts: str, words: str) -> None:
    await slack.edit("alice", "#general", ts, f"@footnote {words}")


@pytest.mark.slow
@pytest.mark.parametrize(
    "moment", ["first answer begun", "first answer stands", "edit waits", "edit's answer stands"]
)
@pytest.mark.parametrize("last_edit", ["before the kill", "while it is dead"])
async def test_the_last_wording_is_answered_once_whenever_the_bot_is_killed(
    slack: Playground, redis_server: RedisServer, namespace: str, bot: Replica, moment: str, last_edit: str
) -> None:
    async with connect_redis(redis_server.socket) as redis:
        queue = QuestionQueue(redis, namespace=namespace)
        if moment.startswith("first answer"):
            slack.faults.add("chat.postMessage", delay=HELD_S, after="stands" in moment)
        ts = await slack.say("alice", "#general", f"@footnote {FIRST}")
        if moment == "first answer begun":
            await slack.wait_for(lambda: times(slack, "chat.postMessage") == 1, timeout=60)
        else:
            await slack.wait_for(lambda: marks(slack, ts), timeout=60)
        if moment.startswith("edit"):
            await until(lambda: idle(queue), seconds=60)
            if moment == "edit's answer stands":
                slack.faults.add("chat.update", delay=HELD_S, after=True)
        await edited(slack, ts, SECOND)
        if moment == "edit's answer stands":
            await slack.wait_for(lambda: SECOND in str(replies(slack, ts)[0]["text"]), timeout=60)
        else:
            await slack.wait_for(lambda: slack.deliveries[-1].outcome == "acknowledged", timeout=60)
        if last_edit == "before the kill":
            await edited(slack, ts, THIRD)
            await slack.wait_for(lambda: slack.deliveries[-1].outcome == "acknowledged", timeout=60)
        await bot.kill()
        if last_edit == "while it is dead":
            await edited(slack, ts, THIRD)
        await bot.start()
        await slack.wait_for(lambda: any(THIRD in str(one["text"]) for one in replies(slack, ts)), timeout=60)
        await until(lambda: idle(queue), seconds=60)
        assert len(replies(slack, ts)) == 1
        assert marks(slack, ts) == [(ts, "answered")]
        assert THIRD in str(replies(slack, ts)[0]["text"])
        assert await DeadLetters(redis, namespace=namespace).all() == []
