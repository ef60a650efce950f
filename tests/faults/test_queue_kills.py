"""Replicas and Valkey die by kill -9 at random moments: every question is answered once, in its thread's order."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from bot.queue.queue import QuestionQueue
from bot.queue.queued_question import QueuedQuestion
from kb.errors import StoreUnavailableError
from kb.store.valkey import EmbeddedValkey, connect_redis
from tests.fakes.questions import a_question
from tests.fakes.waiting import until

ROOT = Path(__file__).parents[2]
NAMESPACE = "kills"
SEEDS = [int(seed) for seed in os.environ.get("FOOTNOTE_KILL_SEEDS", "1").split(",")]
"""One by default: a run takes some 15 seconds, most of them the start of Python after each kill."""
LEASE_S = 3.0
"""Short, for speed; long enough that a busy machine does not make a living worker miss three renewals."""


@pytest.fixture
async def valkey(tmp_path: Path) -> AsyncIterator[EmbeddedValkey]:
    valkey = EmbeddedValkey(tmp_path / "valkey")
    await valkey.start()
    yield valkey
    await valkey.stop()


@pytest.fixture
async def redis(valkey: EmbeddedValkey) -> AsyncIterator[Redis]:
    async with connect_redis(valkey.url) as client:
        yield client


class Replica:
    """A worker process that starts again when it was killed."""

    def __init__(self, valkey: EmbeddedValkey, folder: Path) -> None:
        self._arguments = [str(valkey.unix_socket_path), NAMESPACE, str(folder), str(LEASE_S)]
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        script = ROOT / "tests" / "fakes" / "queue_worker.py"
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(script),
            *self._arguments,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        assert self._process.stdout is not None
        assert await self._process.stdout.readline() == b"ready\n"

    def send(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    async def kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.communicate()


@pytest.fixture
async def replicas(valkey: EmbeddedValkey, tmp_path: Path) -> AsyncIterator[list[Replica]]:
    folder = tmp_path / "locks"
    folder.mkdir()
    replicas = [Replica(valkey, folder) for _ in range(2)]
    await asyncio.gather(*(replica.start() for replica in replicas))
    yield replicas
    await asyncio.gather(*(replica.kill() for replica in replicas))


async def delivered(queue: QuestionQueue, question: QueuedQuestion) -> int:
    """Delivers a question as Slack does: twice, and again after an outage. How often it was accepted."""
    accepted = 0
    for _ in range(2):
        while True:
            try:
                accepted += await queue.accept(question)
                break
            except StoreUnavailableError:
                await asyncio.sleep(0.02)
    return accepted


async def all_finished(queue: QuestionQueue, seconds: float = 60) -> None:
    async with asyncio.timeout(seconds):
        while True:
            try:
                depth = await queue.depth()
                if (depth.waiting, depth.running) == (0, 0):
                    return
            except StoreUnavailableError:
                pass  # Valkey is being restarted: ask again
            await asyncio.sleep(0.05)


async def entries(redis: Redis, key: str) -> list[str]:
    return [entry.decode() for entry in await redis.lrange(key, 0, -1)]


async def assert_answered_once_in_order(redis: Redis, questions: list[QueuedQuestion]) -> None:
    for thread in {question.thread_ts for question in questions}:
        asked = [question.id for question in questions if question.thread_ts == thread]
        assert await entries(redis, f"order:{thread}") == asked
    assert await entries(redis, "overlaps") == []
    assert await entries(redis, "given_up") == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
async def test_every_question_is_answered_once_and_in_order_while_replicas_and_valkey_are_killed(
    valkey: EmbeddedValkey, redis: Redis, replicas: list[Replica], tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    queue = QuestionQueue(redis, namespace=NAMESPACE, lease_s=LEASE_S)
    questions = [a_question(f"{chance.randrange(8)}.0") for _ in range(100)]
    accepted: Counter[str] = Counter()

    async def ask() -> None:
        for question in questions:
            accepted[question.id] += await delivered(queue, question)
            await asyncio.sleep(chance.uniform(0, 0.05))

    async def kill() -> None:
        for number in range(8):
            await asyncio.sleep(chance.uniform(0, 0.3))
            if number in (2, 5):
                os.kill(int((tmp_path / "valkey" / "valkey.pid").read_text()), signal.SIGKILL)
            victim = chance.choice(replicas)
            await victim.kill()
            await victim.start()

    await asyncio.gather(ask(), kill())
    await all_finished(queue)
    await assert_answered_once_in_order(redis, questions)
    assert valkey.restarts == 2
    assert max(accepted.values()) == 1
    leases = int(await redis.get(f"{{{NAMESPACE}}}:queue:fence"))
    assert leases > len(questions), "no kill hit a running question: the test is too tame"


@pytest.mark.slow
async def test_a_dead_replicas_question_is_taken_over_within_the_lease_by_the_other(
    redis: Redis, replicas: list[Replica]
) -> None:
    await replicas[1].kill()
    queue = QuestionQueue(redis, namespace=NAMESPACE, lease_s=LEASE_S)
    question = a_question()
    await queue.accept(question)
    await until(lambda: redis.llen("starts"))
    await replicas[0].kill()
    killed = time.monotonic()
    assert not await redis.exists(f"answer:{question.id}"), "the kill came too late for this test"
    await replicas[1].start()
    await all_finished(queue, seconds=LEASE_S * 5)
    assert await redis.get(f"answer:{question.id}") == b"2"
    assert time.monotonic() - killed < LEASE_S * 2, "a lease, and as much again for a busy machine"


@pytest.mark.slow
async def test_a_replica_that_slept_through_its_lease_changes_nothing_when_it_wakes(
    valkey: EmbeddedValkey, redis: Redis, replicas: list[Replica], tmp_path: Path
) -> None:
    sleeper, other = replicas
    await other.kill()
    other = replicas[1] = Replica(valkey, tmp_path)  # the sleeper holds on to its lock file: use other ones
    queue = QuestionQueue(redis, namespace=NAMESPACE, lease_s=LEASE_S)
    questions = [a_question("1.0") for _ in range(4)]
    for question in questions:
        await queue.accept(question)
    await until(lambda: redis.llen("starts"))
    sleeper.send(signal.SIGSTOP)  # as a paused virtual machine does
    assert await redis.llen("order:1.0") < len(questions), "it fell asleep too late for this test"
    await other.start()
    await all_finished(queue)
    answered = {question.id: await redis.get(f"answer:{question.id}") for question in questions}
    sleeper.send(signal.SIGCONT)
    later = [a_question("1.0") for _ in range(4)]
    for question in later:
        await queue.accept(question)
    await all_finished(queue)
    assert {question.id: await redis.get(f"answer:{question.id}") for question in questions} == answered
    await assert_answered_once_in_order(redis, questions + later)
