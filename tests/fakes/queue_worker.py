"""A replica to be killed: `python queue_worker.py SOCKET NAMESPACE FOLDER LEASE_S`.

Its handler is what the queue asks for: it may run twice and answers once. It holds a lock file of the thread while it
works; the kernel frees that with the process, so finding it held proves two live workers on one thread.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import random
import sys
from pathlib import Path

from redis.asyncio import Redis

from bot.queue.queue import QuestionQueue
from bot.queue.queued_question import QueuedQuestion
from kb.store.valkey import connect_redis

ANSWER_ONCE = """
if redis.call('SET', KEYS[1], ARGV[2], 'NX') then return redis.call('RPUSH', KEYS[2], ARGV[1]) end
return 0
"""


class Desk:
    def __init__(self, redis: Redis, folder: Path) -> None:
        self._redis = redis
        self._folder = folder
        self._answer_once = redis.register_script(ANSWER_ONCE)

    async def handle(self, question: QueuedQuestion, attempt: int) -> None:
        with (self._folder / f"{question.thread_ts}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                await self._redis.rpush("overlaps", f"{question.id} attempt {attempt} pid {os.getpid()}")
                raise
            await self._redis.rpush("starts", question.id)
            await asyncio.sleep(random.uniform(0.02, 0.1))
            await self._answer_once(
                keys=[f"answer:{question.id}", f"order:{question.thread_ts}"], args=[question.id, attempt]
            )
            await asyncio.sleep(random.uniform(0, 0.03))  # a kill here repeats an answered question

    async def give_up(self, question: QueuedQuestion, error: Exception) -> None:
        await self._redis.rpush("given_up", f"{question.id} {type(error).__name__}")


async def main(socket: str, namespace: str, folder: Path, lease_s: float) -> None:
    async with connect_redis(socket) as redis:
        # Handlers fail during an outage of Redis; that must not use up a question's attempts here.
        queue = QuestionQueue(
            redis, namespace=namespace, lease_s=lease_s, max_attempts=50, max_starts=50, retry_s=0.05
        )
        desk = Desk(redis, folder)
        print("ready", flush=True)
        await queue.run(desk.handle, workers=3, on_giving_up=desk.give_up)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), float(sys.argv[4])))
