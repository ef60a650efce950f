"""Claims questions and leases threads: who may work on what. Redis is the only memory.

`Claims` is the Redis side of `bot.queue.queue`: each method is one atomic call of `queue_operations.lua`;
`queue_state.lua` draws the states. A method may be called again after a lost reply: a second `accept` with the same
token gives the first one's answer, and a `take` whose reply was lost leaves a lease that expires. Every method raises
`StoreUnavailableError` when the server does not answer or cannot write.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from pydantic import ValidationError
from redis.asyncio import Redis

from bot.queue.dead_letters import KEEP_DEAD
from bot.queue.queued_question import QueuedQuestion
from bot.queue.script import QuestionsScript
from kb.store.redis import milliseconds, store_failures, text_of

logger = logging.getLogger(__name__)

FORGOTTEN_BEFORE_ARRIVAL = timedelta(hours=1)
"""How long a deletion waits for its own message: Slack's last redelivery comes within minutes."""

LONGEST_SETTLING = timedelta(minutes=1)
"""Somebody who keeps correcting a question sees an answer this often."""

SILENCE_S = 1.5
"""Grace after a blocking call's timeout before the connection is treated as dead: its socket has no timeout."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Lease:
    """The right to work on a thread's first question until the lease runs out. `thread` is where it was queued.

    `attempt` counts the starts from 1, those that ended with their worker's death or were handed back included;
    `failures` the handler's errors before this start, `waits` how often it waited for Slack since it last got through,
    `releases` the starts that ended in order without an outcome: in waiting, or because their worker stopped.
    """

    question: QueuedQuestion
    thread: str
    attempt: int
    failures: int
    waits: int
    releases: int
    holder: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Idle:
    """Nothing may start now. `seconds` until that changes by itself (a retry, an expired lease); None: never."""

    seconds: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Depth:
    """Questions of all replicas: `waiting` for a worker, or `running` with one. `for_slack`: threads of which the first
    question waits because Slack, or Redis, did not answer."""

    waiting: int
    running: int
    for_slack: int = 0


class Claims:
    """See the module. `lease` is how long a thread stays with a worker that gives no sign
    of life, `settle` how long the words of an edit have to stand before they are asked."""

    def __init__(
        self,
        redis: Redis,
        *,
        namespace: str,
        lease: timedelta,
        keep_claims: timedelta,
        settle: timedelta = timedelta(0),
    ) -> None:
        self._redis = redis
        self._lease = lease
        self._settle = settle
        self._keep_claims = keep_claims
        self._script = QuestionsScript(redis, namespace=namespace)

    async def accept(self, question: QueuedQuestion, *, token: str) -> bool:
        """Claims the question and puts it at the end of its thread; True for the token that came first.

        An edited version of a message is a question only where its words are new and no later version is known. It
        takes the place of one that still waits, and is asked when no other came for a while.
        """
        body, keep = question.model_dump_json(), milliseconds(self._keep_claims)
        edited = question.edited_ts or ""
        reply = await self._call(
            "accept", question.id, question.thread, body, token, keep,
            question.message_id, question.digest, edited,
            milliseconds(self._settle), milliseconds(LONGEST_SETTLING),
        )  # fmt: skip
        return bool(reply)

    async def delete(self, deletion: QueuedQuestion, *, token: str, certain: bool) -> bool:
        """Drops all versions of a message that wait, and queues its deletion behind the one that runs.

        `certain`: there is an answer to take away, also where the claim on the message is no longer kept. Returns
        whether one version still waited.
        """
        body, keep = deletion.model_dump_json(), milliseconds(self._keep_claims)
        reply = await self._call(
            "delete", deletion.message_id, milliseconds(FORGOTTEN_BEFORE_ARRIVAL),
            deletion.id, deletion.thread, body, token, keep, int(certain),
        )  # fmt: skip
        return bool(reply)

    async def is_known(self, message_id: str) -> bool:
        """Tells whether a version of this message was accepted, and the message is still there."""
        return bool(await self._call("is_known", message_id))

    async def is_deleted(self, message_id: str) -> bool:
        return bool(await self._call("is_deleted", message_id))

    async def take(self, worker: str) -> Lease | Idle:
        """Leases the thread that has been ready for longest. Threads of dead workers become ready first."""
        while True:
            reply = await self._call("take", worker, milliseconds(self._lease))
            if len(reply) == 1:
                return Idle(seconds=None if reply[0] < 0 else reply[0] / 1000)
            identity, thread, holder, attempt, failures, releases, waits, body = reply
            try:
                question = QueuedQuestion.model_validate_json(body)
            except ValidationError as error:  # written by another version
                logger.error(  # noqa: TRY400 - the validation error would print the message
                    "question.unreadable",
                    extra={"question_id": text_of(identity), "problems": error.error_count()},
                )
                await self._call("dead_letter", thread, holder, "unreadable", milliseconds(KEEP_DEAD), 0)
                continue
            return Lease(
                question=question,
                thread=text_of(thread),
                attempt=attempt,
                failures=failures,
                waits=waits,
                releases=releases,
                holder=text_of(holder),
            )

    async def renew(self, lease: Lease) -> bool:
        """Renews a lease. False: it is lost, another worker may hold the thread."""
        return bool(await self._call("renew", *_held(lease), milliseconds(self._lease)))

    async def finish(self, lease: Lease) -> bool:
        """Removes the question. False: the lease is lost, nothing was changed; so for the next three."""
        return bool(await self._call("finish", *_held(lease)))

    async def retry(self, lease: Lease, *, after: timedelta) -> bool:
        """Counts a failure and lets the thread wait; the question stays its first."""
        return bool(await self._call("retry", *_held(lease), milliseconds(after)))

    async def release(self, lease: Lease) -> bool:
        """Lets any worker start the question at once; this start does not count towards giving it up."""
        return bool(await self._call("release", *_held(lease)))

    async def wait(self, lease: Lease, *, after: timedelta, least: timedelta = timedelta(0)) -> bool:
        """Lets the thread wait for Slack; the question stays its first, and is no step nearer to being given up.

        `least`: how long it is not woken.
        """
        return bool(await self._call("wait", *_held(lease), milliseconds(after), milliseconds(least)))

    async def wake(self, *, at_once: bool) -> int:
        """Starts threads that wait for Slack. Returns how many start sooner than they would have.

        `at_once`: whatever they were told to wait for at least.
        """
        return int(await self._call("wake", int(at_once)))

    async def dead_letter(self, lease: Lease, *, reason: str, leftovers: bool = False) -> bool:
        """Moves the question to the dead letters and lets its thread go on.

        `leftovers`: a placeholder or a status may be left in Slack.
        """
        return bool(
            await self._call("dead_letter", *_held(lease), reason, milliseconds(KEEP_DEAD), int(leftovers))
        )

    async def listen(self, blocking: Redis, *, seconds: float) -> None:
        """Returns when a thread becomes ready, at the latest after `seconds`.

        Args:
            blocking: a client without socket time-out.
        """
        with _failures("waiting for questions"):
            async with asyncio.timeout(seconds + SILENCE_S):
                await blocking.blpop([f"{self._script.root}:bell"], timeout=seconds)

    async def depth(self) -> Depth:
        with _failures("counting questions"):
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.zcard(f"{self._script.root}:unfinished")
                pipe.hlen(f"{self._script.root}:holders")
                pipe.zcard(f"{self._script.root}:waiting")
                unfinished, running, for_slack = await pipe.execute()
        return Depth(waiting=unfinished - running, running=running, for_slack=for_slack)

    async def oldest_age(self) -> timedelta | None:
        with _failures("reading the oldest question"):
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.zrange(f"{self._script.root}:unfinished", 0, 0, withscores=True)
                pipe.time()
                first, (seconds, microseconds) = await pipe.execute()
        if not first:
            return None
        return timedelta(seconds=seconds, microseconds=microseconds) - timedelta(milliseconds=first[0][1])

    async def _call(self, operation: str, *arguments: str | int) -> Any:
        with _failures(operation):
            return await self._script(operation, *arguments)


def _held(lease: Lease) -> tuple[str, str]:
    return lease.thread, lease.holder


def _failures(doing: str) -> AbstractContextManager[None]:
    return store_failures(f"the queue's Redis failed: {doing}")
