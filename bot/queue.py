"""Durable questions: accepted once, worked on in order within a thread, taken up again when their worker dies.

`accept` is what stands between a Slack event and its acknowledgement. `run` is a replica's pool of workers: it takes a
thread's first question, keeps the lease while the handler runs, and settles the outcome. A question is finished only
after the handler returned, so a handler may see one twice and must not answer twice.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta

from redis.asyncio import Redis

from bot.claims import Claims, DeadLetter, Depth, Idle, Lease, QueuedQuestion, question_id
from kb.errors import FootnoteError, StoreUnavailableError
from kb.store import process_name
from kb.tasks import cancelled
from kb.valkey import blocking_twin

__all__ = ["DeadLetter", "Depth", "QuestionAbandonedError", "QuestionQueue", "QueuedQuestion", "question_id"]

logger = logging.getLogger(__name__)

Handler = Callable[[QueuedQuestion, int], Awaitable[None]]
OnGivingUp = Callable[[QueuedQuestion, Exception], Awaitable[None]]

LEASE_SHARE, BEAT_SHARE, LOOKOUT_SHARE = 0.75, 0.2, 0.25
"""Shares of `lease_s`: the lease itself, the time between two renewals (three may fail), and between two looks for
dead workers. Lease and look-out together are `lease_s`, which is therefore the longest wait for a takeover."""

LONGEST_RETRY_S = 30.0
LONGEST_PAUSE_S = 3.0


class QuestionAbandonedError(FootnoteError):
    """The workers of this question died again and again: it may be what kills them."""


class QuestionQueue:
    """One replica's view of the queue; all replicas of a namespace share it.

    Args:
        lease_s: a dead worker's question is taken over within this time.
        max_attempts: handler errors after which a question is given up.
        max_starts: starts after which a question whose workers keep dying is given up.
        keep_claims: how long a repeated Slack event is recognised.
        worker_id: names this replica in Redis and in the log.
        retry_s: pause before the second attempt; doubles with each.
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
    ) -> None:
        self._redis = redis
        self._lease_s = lease_s * LEASE_SHARE
        self._beat_s = lease_s * BEAT_SHARE
        self._lookout_s = lease_s * LOOKOUT_SHARE
        self._max_attempts = max_attempts
        self._max_starts = max_starts
        self._retry_s = retry_s
        self._worker_id = worker_id or process_name()
        lease = timedelta(seconds=self._lease_s)
        self._claims = Claims(
            redis,
            namespace=namespace,
            lease=lease,
            keep_claims=keep_claims,
            settle=timedelta(seconds=settle_s),
        )

    async def accept(self, question: QueuedQuestion) -> bool:
        """Claims a question and queues it, durably, in one step. True only for the first event of its message, and for an
        edited version with new words, which takes the place of one that still waits.

        Raises:
            StoreUnavailableError: not accepted, as far as we know. Do not acknowledge the event: Slack sends it again.
        """
        first = await self._claims.accept(question, token=uuid.uuid4().hex)
        logger.info("question.accepted" if first else "question.known", extra={"question_id": question.id})
        return first

    async def delete(self, deletion: QueuedQuestion, *, certain: bool = False) -> bool:
        """The message was deleted. True: it still waited and is dropped; False: it runs or ran, or comes later.

        It will not be started again, and where there may be an answer (`certain`: there is one), the deletion becomes
        work of its thread: after what runs there, durably, once. Raises as `accept` does.
        """
        return await self._claims.delete(deletion, token=uuid.uuid4().hex, certain=certain)

    async def is_known(self, message_id: str) -> bool:
        """Whether a version of this message was accepted, and the message is still there."""
        return await self._claims.is_known(message_id)

    async def is_deleted(self, message_id: str) -> bool:
        """Whether the message is gone: then nothing may be posted for it."""
        return await self._claims.is_deleted(message_id)

    async def depth(self) -> Depth:
        return await self._claims.depth()

    async def oldest_age(self) -> timedelta | None:
        """How long ago the oldest unfinished question was accepted; None when there is none."""
        return await self._claims.oldest_age()

    async def dead_letters(self, limit: int = 100) -> list[DeadLetter]:
        """What was given up in the last 30 days, newest first, 1,000 at most."""
        return await self._claims.dead_letters(limit)

    async def run(
        self, handler: Handler, *, workers: int, on_giving_up: OnGivingUp, drain_s: float = 10.0
    ) -> None:
        """Works on questions, `workers` at a time, until cancelled; outages of Redis are waited out.

        When cancelled it takes no more, gives what runs `drain_s` to finish and hands the rest back.

        Args:
            handler: gets the question and the attempt, from 1. It is cancelled when the lease is lost.
            on_giving_up: called before a question becomes a dead letter; may be called again after a kill.
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
            try:
                while True:
                    await free.acquire()
                    lease = await self._next(blocking)
                    task = asyncio.create_task(self._work(lease, handler, on_giving_up))
                    running.add(task)
                    task.add_done_callback(over)
            finally:
                await self._drain(running, drain_s)

    async def _next(self, blocking: Redis) -> Lease:
        outage = _Outage()
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
        """Takes; when cancelled meanwhile, gives back what it took rather than let the lease run out."""
        taking = asyncio.create_task(self._claims.take(self._worker_id))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            await asyncio.wait({taking})
            if taking.exception() is None and isinstance(lease := taking.result(), Lease):
                await self._hand_back(lease)
            raise

    async def _work(self, lease: Lease, handler: Handler, on_giving_up: OnGivingUp) -> None:
        """One start of one question, from lease to settlement."""
        work = asyncio.create_task(self._handle(lease, handler, on_giving_up))
        keeper = asyncio.create_task(self._keep(lease))
        try:
            await asyncio.wait({work, keeper}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                logger.warning("question.lease_lost", extra=_fields(lease))
        except asyncio.CancelledError:
            await _ended(work)
            await self._hand_back(lease)
            raise
        finally:
            await cancelled(keeper)
            await _ended(work)
        if not work.cancelled() and (error := work.exception()) is not None:
            raise error

    async def _handle(self, lease: Lease, handler: Handler, on_giving_up: OnGivingUp) -> None:
        deaths = lease.attempt - 1 - lease.handed_back
        if deaths >= self._max_starts:
            error = QuestionAbandonedError(f"{deaths} starts ended without an outcome")
            await self._give_up(lease, error, on_giving_up)
            return
        try:
            await handler(lease.question, lease.attempt)
        except Exception as error:
            failures = lease.failures + 1
            logger.exception("question.failed", extra=_fields(lease) | {"failures": failures})
            if failures >= self._max_attempts:
                await self._give_up(lease, error, on_giving_up)
            else:
                pause = min(self._retry_s * 2**lease.failures, LONGEST_RETRY_S) * random.uniform(0.5, 1)
                await self._settle(lease, lambda: self._claims.retry(lease, after=timedelta(seconds=pause)))
        else:
            await self._settle(lease, lambda: self._claims.finish(lease))

    async def _give_up(self, lease: Lease, error: Exception, on_giving_up: OnGivingUp) -> None:
        logger.error("question.given_up", extra=_fields(lease) | {"reason": type(error).__name__})
        try:
            await on_giving_up(lease.question, error)
        except Exception:
            logger.exception("question.giving_up_failed", extra=_fields(lease))
        await self._settle(lease, lambda: self._claims.bury(lease, reason=type(error).__name__))

    async def _settle(self, lease: Lease, settle: Callable[[], Awaitable[bool]]) -> None:
        """Records an outcome, through outages; `_work` ends the attempt when the lease is lost meanwhile."""
        outage = _Outage()
        while True:
            try:
                if not await settle():
                    logger.warning("question.not_ours", extra=_fields(lease))
            except StoreUnavailableError as error:
                await outage.pause(error)
            else:
                return

    async def _keep(self, lease: Lease) -> None:
        """Renews the lease for as long as that is certain; returns when it is lost, or may be.

        After an outage longer than the lease another worker may hold the thread, so silence counts as loss.
        """
        held_until = time.monotonic() + self._lease_s
        while True:
            await asyncio.sleep(self._beat_s)
            asked = time.monotonic()
            try:
                async with asyncio.timeout(held_until - asked):
                    if not await self._claims.renew(lease):
                        return
            except StoreUnavailableError:
                continue
            except TimeoutError:
                return
            held_until = asked + self._lease_s

    async def _hand_back(self, lease: Lease) -> None:
        try:
            if await self._claims.hand_back(lease):
                logger.info("question.handed_back", extra=_fields(lease))
        except StoreUnavailableError:
            logger.warning("question.not_handed_back", extra=_fields(lease))  # the lease runs out by itself

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


@dataclass(kw_only=True, slots=True)
class _Outage:
    """Growing, jittered pauses while Redis is away, and two lines in the log: when it left, when it came back."""

    pauses: int = field(default=0)

    async def pause(self, error: StoreUnavailableError) -> None:
        if self.pauses == 0:
            logger.warning("queue.store_lost", extra={"cause": str(error.__cause__)})
        longest = min(0.05 * 2**self.pauses, LONGEST_PAUSE_S)
        self.pauses = min(self.pauses + 1, 10)
        await asyncio.sleep(random.uniform(longest / 2, longest))

    def over(self) -> None:
        if self.pauses:
            logger.info("queue.store_back")
            self.pauses = 0


async def _ended(task: asyncio.Task[None]) -> None:
    """Cancels a handler, once, and waits for its end: asked again, it would leave off what it does to stop in order.

    A cancellation that is lost on the way costs time only: a handler comes to its end. A keeper would not.
    """
    task.cancel()
    await asyncio.wait({task})


def _fields(lease: Lease) -> dict[str, object]:
    return {"question_id": lease.question.id, "attempt": lease.attempt, "holder": lease.holder}
