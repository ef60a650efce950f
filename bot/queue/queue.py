"""Runs the durable queue: accepts questions once, answers those of a thread in order, takes over from workers that
died.

`accept` is what stands between a Slack event and its acknowledgement. `run` is a replica's pool of workers: it takes a
thread's first question, keeps the lease while the handler runs, and settles the outcome. A question is
finished only after the handler returned, so a handler may see one twice and must not answer twice. While
Slack is away a question waits at the head of its thread; other threads go on, and nothing but its age ends that
(`bot.questions.handlers`).
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from datetime import timedelta

from redis.asyncio import Redis

from bot.queue.attempts import LONGEST_WAIT_S, Attempts, Handler, OnGivingUp, StoreOutage
from bot.queue.claims import Claims, Depth, Idle, Lease
from bot.queue.queued_question import QueuedQuestion
from kb.errors import StoreUnavailableError
from kb.runtime.tasks import cancelled
from kb.store.redis import process_name
from kb.store.valkey import blocking_twin

logger = logging.getLogger(__name__)

LEASE_SHARE, BEAT_SHARE, LOOKOUT_SHARE = 0.6, 0.15, 0.15
"""Shares of `lease_s`: the lease itself, the time between two renewals (three may fail), and between two
looks for dead workers. What is left over is for a clock that was set back: it costs one look-out, and the
time until a blocking call that goes by that clock is given up. So `lease_s` is the longest wait for a
takeover."""


class QuestionQueue:
    """One replica's view of the queue; all replicas of a namespace share it.

    Args:
        lease_s: a dead worker's question is taken over within this time.
        max_attempts: handler errors after which a question is given up.
        max_starts: starts after which a question whose workers keep dying is given up.
        keep_claims: how long a repeated Slack event is recognised.
        worker_id: names this replica in Redis and in the log.
        retry_s: pause before the second attempt; doubles with each, also while Slack is away.
        longest_wait_s: to which pauses grow while Slack is away.
        settle_s: how long the words of an edited question stand before they are asked: each further edit within that
            time is the same question.
    """

    def __init__(
        self,
        redis: Redis,
        *,
        namespace: str,
        lease_s: float = 15.0,
        max_attempts: int = 3,
        max_starts: int = 10,
        keep_claims: timedelta = timedelta(days=7),
        worker_id: str | None = None,
        retry_s: float = 1.0,
        settle_s: float = 2.0,
        longest_wait_s: float = LONGEST_WAIT_S,
    ) -> None:
        self._redis = redis
        self._lookout_s = lease_s * LOOKOUT_SHARE
        self._worker_id = worker_id or process_name()
        self._claims = Claims(
            redis,
            namespace=namespace,
            lease=timedelta(seconds=lease_s * LEASE_SHARE),
            keep_claims=keep_claims,
            settle=timedelta(seconds=settle_s),
        )
        self._attempts = Attempts(
            claims=self._claims,
            lease_s=lease_s * LEASE_SHARE,
            beat_s=lease_s * BEAT_SHARE,
            max_attempts=max_attempts,
            max_starts=max_starts,
            retry_s=retry_s,
            longest_wait_s=longest_wait_s,
        )

    async def accept(self, question: QueuedQuestion) -> bool:
        """Claims a question and queues it, durably, in one step. True only for the first event of its
        message, and for an edited version with new words, which takes the place of one that still waits.

        Raises:
            StoreUnavailableError: not accepted, as far as we know. Do not acknowledge the event: Slack sends it again.
        """
        first = await self._claims.accept(question, token=uuid.uuid4().hex)
        logger.info("question.accepted" if first else "question.known", extra={"question_id": question.id})
        return first

    async def delete(self, deletion: QueuedQuestion, *, certain: bool = False) -> bool:
        """Deletes a question with its message. True: it still waited and is dropped; False: it runs, ran, or comes
        later.

        It will not be started again, and where there may be an answer (`certain`: there is one), the deletion becomes
        work of its thread: after what runs there, durably, once. Raises as `accept` does.
        """
        return await self._claims.delete(deletion, token=uuid.uuid4().hex, certain=certain)

    async def is_known(self, message_id: str) -> bool:
        """Tells whether a version of this message was accepted, and the message is still there."""
        return await self._claims.is_known(message_id)

    async def is_deleted(self, message_id: str) -> bool:
        """Tells whether the message is gone: then nothing may be posted for it."""
        return await self._claims.is_deleted(message_id)

    async def depth(self) -> Depth:
        return await self._claims.depth()

    async def oldest_age(self) -> timedelta | None:
        """Returns how long ago the oldest unfinished question was accepted; None when there is none."""
        return await self._claims.oldest_age()

    async def run(
        self, handler: Handler, *, workers: int, on_giving_up: OnGivingUp, drain_s: float = 10.0
    ) -> None:
        """Works on questions, `workers` at a time, until cancelled; outages of Redis are waited out.

        When cancelled it takes no more, gives what runs `drain_s` to finish and hands the rest back.
        What waited for Slack is tried at once: whatever kept it may have gone while no bot was there.

        Args:
            handler: gets the question and the attempt, from 1. It is cancelled when the lease is lost. Its
            errors: `bot.queue.outcomes`.
            on_giving_up: called before a question that broke becomes a dead letter; may be called again after a kill.
        """
        running: set[asyncio.Task[None]] = set()
        free = asyncio.Semaphore(workers)

        def over(task: asyncio.Task[None]) -> None:
            running.discard(task)
            free.release()
            if not task.cancelled() and (error := task.exception()) is not None:
                # the lease expires, the question comes back
                logger.error("queue.worker_broke", exc_info=error)

        async with blocking_twin(self._redis) as blocking:
            waking = asyncio.create_task(self._attempts.wake(at_once=True))
            try:
                while True:
                    await free.acquire()
                    lease = await self._next(blocking)
                    task = asyncio.create_task(self._attempts.work(lease, handler, on_giving_up))
                    running.add(task)
                    task.add_done_callback(over)
            finally:
                await self._drain(running, drain_s)
                await cancelled(waking)

    async def _next(self, blocking: Redis) -> Lease:
        outage = StoreOutage()
        while True:
            try:
                taken = await self._take()
                outage.over()
                if isinstance(taken, Lease):
                    return taken
                seconds = self._lookout_s if taken.seconds is None else min(taken.seconds, self._lookout_s)
                # 0 would block for ever; a retry that is due in under a millisecond is due now
                await self._claims.listen(blocking, seconds=max(seconds, 0.001))
            except StoreUnavailableError as error:
                await outage.pause(error)

    async def _take(self) -> Lease | Idle:
        """Takes a lease; when cancelled meanwhile, gives back what it took rather than let the lease run out."""
        taking = asyncio.create_task(self._claims.take(self._worker_id))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            await asyncio.wait({taking})
            if taking.exception() is None and isinstance(lease := taking.result(), Lease):
                await self._attempts.release(lease)
            raise

    async def _drain(self, running: set[asyncio.Task[None]], drain_s: float) -> None:
        if not running:
            return
        logger.info("queue.draining", extra={"running": len(running)})
        left = set(running)
        try:
            await asyncio.wait(left, timeout=drain_s)
        finally:  # a second cancellation ends the wait, not the handing back
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)
