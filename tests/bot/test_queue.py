"""The pool of workers: parallel, prompt, patient with outages, and careful with leases."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.queue.attempts import QuestionAbandonedError
from bot.queue.claims import Claims, Lease
from bot.queue.dead_letters import DeadLetters
from bot.queue.queue import QuestionQueue
from bot.queue.queued_question import QueuedQuestion
from kb.errors import StoreUnavailableError
from kb.store.valkey import connect_redis
from tests.fakes.questions import a_question
from tests.fakes.redis_server import Proxy, RedisServer, binaries
from tests.fakes.waiting import until

FOR_EVER = 60.0
"""A lease, in seconds, during which no look-out happens: what the test sees came by itself."""


class Desk:
    """A handler that writes down what it saw and, where told so, waits or fails."""

    def __init__(self, *, fail: int = 0, hold: bool = False, seconds: float = 0.0) -> None:
        self.seen: list[tuple[str, int]] = []
        self.done: list[str] = []
        self.given_up: list[tuple[str, Exception]] = []
        self.cancelled: list[str] = []
        self.most_at_once = 0
        self.let_go = asyncio.Event()
        self._fail, self._seconds, self._running = fail, seconds, 0
        if not hold:
            self.let_go.set()

    async def handle(self, question: QueuedQuestion, attempt: int) -> None:
        self.seen.append((question.id, attempt))
        self._running += 1
        self.most_at_once = max(self.most_at_once, self._running)
        try:
            await asyncio.sleep(self._seconds)
            await self.let_go.wait()
        except asyncio.CancelledError:
            self.cancelled.append(question.id)
            raise
        finally:
            self._running -= 1
        if attempt <= self._fail:
            raise ValueError("the handler failed")
        self.done.append(question.id)

    async def give_up(self, question: QueuedQuestion, error: Exception) -> None:
        self.given_up.append((question.id, error))


@contextlib.asynccontextmanager
async def running(queue: QuestionQueue, desk: Desk, **options: Any) -> AsyncIterator[asyncio.Task[None]]:
    settings = {"workers": 4, "on_giving_up": desk.give_up, "drain_s": 1.0} | options
    task = asyncio.create_task(queue.run(desk.handle, **settings))
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait({task})


async def all_finished(queue: QuestionQueue) -> bool:
    depth = await queue.depth()
    return (depth.waiting, depth.running) == (0, 0)


async def test_an_idle_worker_starts_a_question_without_waiting_for_its_next_look(
    redis: Redis, namespace: str
) -> None:
    queue, desk = QuestionQueue(redis, namespace=namespace, lease_s=FOR_EVER), Desk()
    async with running(queue, desk):
        await asyncio.sleep(0.1)  # it listens now, for 15 s
        for _ in range(3):
            question = a_question()
            await queue.accept(question)
            await until(lambda asked=question.id: asked in desk.done, seconds=5)


async def test_a_question_waiting_behind_another_starts_when_that_one_is_done(
    redis: Redis, namespace: str
) -> None:
    first, second = a_question("1.0"), a_question("1.0")
    queue, desk = QuestionQueue(redis, namespace=namespace, lease_s=FOR_EVER), Desk(hold=True)
    async with running(queue, desk):
        await queue.accept(first)
        await queue.accept(second)
        await until(lambda: desk.seen)
        await asyncio.sleep(0.05)
        assert desk.seen == [(first.id, 1)]
        desk.let_go.set()
        await until(lambda: desk.done == [first.id, second.id], seconds=5)


async def test_a_replica_works_on_as_many_threads_as_it_has_workers_and_no_more(
    redis: Redis, namespace: str
) -> None:
    queue, desk = QuestionQueue(redis, namespace=namespace, lease_s=FOR_EVER), Desk(hold=True)
    questions = [a_question() for _ in range(7)]
    async with running(queue, desk, workers=3):
        for question in questions:
            await queue.accept(question)
        await until(lambda: len(desk.seen) == 3)
        await asyncio.sleep(0.05)
        assert (await queue.depth()).running == 3
        desk.let_go.set()
        await until(lambda: len(desk.done) == 7, seconds=5)
    assert desk.most_at_once == 3


async def test_two_replicas_share_the_work_and_keep_each_threads_order(redis: Redis, namespace: str) -> None:
    desk = Desk(seconds=0.002)
    replicas = [QuestionQueue(redis, namespace=namespace, lease_s=FOR_EVER) for _ in range(2)]
    questions = [a_question(f"{n % 5}.0") for n in range(50)]
    async with running(replicas[0], desk), running(replicas[1], desk):
        for question in questions:
            await replicas[0].accept(question)
        await until(lambda: all_finished(replicas[0]))
    for thread in {question.thread for question in questions}:
        asked = [question.id for question in questions if question.thread == thread]
        assert [identity for identity in desk.done if identity in asked] == asked


async def test_a_failing_handler_is_tried_again_in_order(redis: Redis, namespace: str) -> None:
    first, second = a_question("1.0"), a_question("1.0")
    queue = QuestionQueue(redis, namespace=namespace, lease_s=FOR_EVER, retry_s=0.02)
    desk = Desk(fail=1)
    async with running(queue, desk):
        await queue.accept(first)
        await queue.accept(second)
        await until(lambda: all_finished(queue))
    assert desk.seen == [(first.id, 1), (first.id, 2), (second.id, 1), (second.id, 2)]
    assert desk.given_up == []


async def test_a_question_that_fails_every_time_is_given_up_and_its_thread_goes_on(
    redis: Redis, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    question = a_question(text="a secret question")
    queue = QuestionQueue(redis, namespace=namespace, lease_s=FOR_EVER, retry_s=0.02)
    desk = Desk(fail=3)
    async with running(queue, desk):
        await queue.accept(question)
        await until(lambda: all_finished(queue))
    assert desk.seen == [(question.id, attempt) for attempt in (1, 2, 3)]
    [(given_up, error)] = desk.given_up
    assert (given_up, type(error)) == (question.id, ValueError)
    [letter] = await DeadLetters(redis, namespace=namespace).all()
    assert (letter.question, letter.reason, letter.attempts) == (question, "ValueError", 3)
    assert "question.given_up" in caplog.messages
    assert "a secret question" not in caplog.text


async def test_a_question_is_a_dead_letter_even_when_saying_so_fails(redis: Redis, namespace: str) -> None:
    async def broken(question: QueuedQuestion, error: Exception) -> None:
        raise OSError("Slack is down")

    queue, desk = QuestionQueue(redis, namespace=namespace, max_attempts=1), Desk(fail=1)
    async with running(queue, desk, on_giving_up=broken):
        await queue.accept(a_question())
        await until(lambda: all_finished(queue))
    assert len(await DeadLetters(redis, namespace=namespace).all()) == 1


async def test_a_question_whose_workers_keep_dying_is_given_up_unstarted(
    redis: Redis, namespace: str
) -> None:
    question = a_question()
    queue = QuestionQueue(redis, namespace=namespace, max_starts=2)
    await queue.accept(question)
    dying = Claims(redis, namespace=namespace, lease=timedelta(milliseconds=1), keep_claims=timedelta(days=1))
    for _ in range(2):
        assert isinstance(await dying.take("dying"), Lease)
        await asyncio.sleep(0.01)
    desk = Desk()
    async with running(queue, desk):
        await until(lambda: all_finished(queue))
    assert desk.seen == []
    [(given_up, error)] = desk.given_up
    assert (given_up, type(error)) == (question.id, QuestionAbandonedError)


async def test_a_handler_that_takes_longer_than_the_lease_keeps_its_thread(
    redis: Redis, namespace: str
) -> None:
    slow, idle = Desk(seconds=5), Desk()
    queue = QuestionQueue(redis, namespace=namespace, lease_s=2.4)
    async with running(queue, slow):
        await queue.accept(a_question())
        await until(lambda: slow.seen)
        async with running(QuestionQueue(redis, namespace=namespace, lease_s=2.4), idle):
            await until(lambda: slow.done)
    assert (len(slow.seen), idle.seen) == (1, [])


async def test_a_worker_that_lost_its_lease_stops_and_the_thread_goes_on_elsewhere(
    redis: Redis, namespace: str
) -> None:
    question, second = a_question("1.0"), a_question("1.0")
    loser, heir = Desk(hold=True), Desk()
    queue = QuestionQueue(redis, namespace=namespace, lease_s=1.0, worker_id="loser")
    async with running(queue, loser):
        await queue.accept(question)
        await queue.accept(second)
        await until(lambda: loser.seen)
        await redis.hset(f"{{{namespace}}}:queue:holders", question.thread, "somebody#0")
        await until(lambda: loser.cancelled == [question.id])
    async with running(QuestionQueue(redis, namespace=namespace, lease_s=1.0), heir):
        await until(lambda: heir.done == [question.id, second.id])
    assert loser.done == []
    assert heir.seen[0] == (question.id, 2)


async def test_a_graceful_stop_lets_a_running_question_finish_and_takes_no_other(
    redis: Redis, namespace: str
) -> None:
    question, waiting = a_question("1.0"), a_question("1.0")
    queue, desk = QuestionQueue(redis, namespace=namespace, lease_s=FOR_EVER), Desk(hold=True)
    async with running(queue, desk, drain_s=10) as run:
        await queue.accept(question)
        await queue.accept(waiting)
        await until(lambda: desk.seen)
        run.cancel()
        await asyncio.sleep(0.05)
        assert not run.done()
        desk.let_go.set()
        await asyncio.wait({run})
    assert (desk.done, desk.cancelled) == ([question.id], [])
    depth = await queue.depth()
    assert (depth.waiting, depth.running) == (1, 0)


async def test_a_graceful_stop_hands_back_what_does_not_finish_for_another_replica_to_start_at_once(
    redis: Redis, namespace: str
) -> None:
    question = a_question()
    queue, desk = QuestionQueue(redis, namespace=namespace, lease_s=FOR_EVER), Desk(hold=True)
    async with running(queue, desk, drain_s=0.05):
        await queue.accept(question)
        await until(lambda: desk.seen)
    assert desk.cancelled == [question.id]
    heir = Desk()
    async with running(QuestionQueue(redis, namespace=namespace, lease_s=FOR_EVER), heir):
        await until(lambda: heir.done, seconds=5)
    assert heir.seen == [(question.id, 2)]


async def test_a_stop_does_not_wait_for_a_renewal_that_swallowed_it(redis: Redis, namespace: str) -> None:
    class Deaf(Redis):
        """Loses the first cancellation of a renewal, as a client may in its time-out, and takes nothing back."""

        renewing = asyncio.Event()
        lost = False

        async def execute_command(self, *command: Any, **options: Any) -> Any:
            if "release" in command:
                raise ConnectionError
            if "renew" not in command:
                return await super().execute_command(*command, **options)
            self.renewing.set()
            while not self.lost:
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError as error:
                    self.lost = True
                    raise TimeoutError from error
            return 1

    deaf, desk = Deaf(connection_pool=redis.connection_pool), Desk(hold=True)
    queue = QuestionQueue(deaf, namespace=namespace, lease_s=5.0)
    async with running(queue, desk, drain_s=0.0) as run:
        await queue.accept(a_question())
        await deaf.renewing.wait()
        run.cancel()
        async with asyncio.timeout(30):
            await asyncio.wait({run})
    assert deaf.lost


async def test_a_stop_in_the_middle_of_taking_a_question_gives_it_back(
    redis_server: RedisServer, redis: Redis, namespace: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    question, desk = a_question(), Desk()
    await QuestionQueue(redis, namespace=namespace).accept(question)
    path = str(tmp_path_factory.mktemp("proxy") / "p.sock")
    async with (
        Proxy(redis_server.socket, path, lose=lambda _: False, delay_s=0.2),
        connect_redis(path) as slow,
        running(QuestionQueue(slow, namespace=namespace, lease_s=FOR_EVER), desk) as run,
    ):
        await until(lambda: redis.hlen(f"{{{namespace}}}:queue:holders"))
        run.cancel()
        await asyncio.wait({run})
    assert desk.seen == []
    heir = Desk()
    async with running(QuestionQueue(redis, namespace=namespace, lease_s=FOR_EVER), heir):
        await until(lambda: heir.done, seconds=5)
    assert heir.seen == [(question.id, 2)]


async def test_the_queue_outlives_a_crash_of_its_server(
    tmp_path_factory: pytest.TempPathFactory, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    binary = binaries()["valkey"]
    assert binary is not None
    mortal = RedisServer(binary, tmp_path_factory.mktemp("mortal"))
    mortal.start()
    before, after, desk = a_question(), a_question(), Desk()
    try:
        async with connect_redis(mortal.socket) as redis:
            queue = QuestionQueue(redis, namespace=namespace, lease_s=FOR_EVER)
            await queue.accept(before)
            mortal.kill()
            with pytest.raises(StoreUnavailableError):
                await queue.accept(after)
            async with running(queue, desk):
                await until(lambda: "queue.store_lost" in caplog.messages)
                mortal.start()
                await until(lambda: desk.done == [before.id])
                await queue.accept(after)
                await until(lambda: desk.done == [before.id, after.id])
    finally:
        mortal.kill()
    assert caplog.messages.count("queue.store_lost") == 1
    assert caplog.messages.count("queue.store_back") == 1


async def test_an_outage_is_waited_out_without_a_busy_loop(
    redis_server: RedisServer, namespace: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = str(tmp_path_factory.mktemp("proxy") / "p.sock")
    async with (
        Proxy(redis_server.socket, path, lose=lambda _: True) as dead,
        connect_redis(path) as redis,
        running(QuestionQueue(redis, namespace=namespace), Desk()),
    ):
        await asyncio.sleep(1)
        assert dead.connections <= 15
        await until(lambda: dead.connections >= 2)
