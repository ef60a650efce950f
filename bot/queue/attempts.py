"""Runs one attempt at a question: from its lease to an outcome that is recorded, whatever happens to worker, Redis
and Slack.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta

from bot.queue.claims import Claims, Lease
from bot.queue.outcomes import NotNowError, UndeliverableError
from bot.queue.queued_question import QueuedQuestion
from kb.errors import FootnoteError, StoreUnavailableError
from kb.runtime.tasks import cancelled
from kb.runtime.tracing import note, span

logger = logging.getLogger(__name__)

Handler = Callable[[QueuedQuestion, int], Awaitable[None]]
OnGivingUp = Callable[[QueuedQuestion, Exception], Awaitable[None]]

LONGEST_RETRY_S = 30.0
LONGEST_WAIT_S = 300.0
"""Between two attempts while Slack is away."""
LONGEST_PAUSE_S = 3.0
"""Between two calls while Redis is away."""
WOKEN_AFTER_S = 15.0
"""A thread that waits is not woken more often than this by others' success: its trouble may be its own."""


@dataclass(kw_only=True, slots=True)
class StoreOutage:
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


class QuestionAbandonedError(FootnoteError):
    """The workers of this question died again and again: it may be what kills them."""


@dataclass(kw_only=True)
class Attempts:
    """Does what `bot.queue.queue` does with each lease; its arguments are described there. `lease_s` and `beat_s` are
    the shares.
    """

    claims: Claims
    lease_s: float
    beat_s: float
    max_attempts: int
    max_starts: int
    retry_s: float
    longest_wait_s: float
    _slack_was_away: bool = field(default=False, init=False)

    async def work(self, lease: Lease, handler: Handler, on_giving_up: OnGivingUp) -> None:
        """Runs one start of one question, from lease to settlement; all of it is one trace."""
        with span("question", door="slack", question_id=lease.question.id, attempt=lease.attempt):
            await self._work(lease, handler, on_giving_up)

    async def _work(self, lease: Lease, handler: Handler, on_giving_up: OnGivingUp) -> None:
        work = asyncio.create_task(self._handle(lease, handler, on_giving_up))
        keeper = asyncio.create_task(self._keep(lease))
        try:
            await asyncio.wait({work, keeper}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                logger.warning("question.lease_lost", extra=_fields(lease))
        except asyncio.CancelledError:
            await _ended(work)
            await self.release(lease)
            raise
        finally:
            await cancelled(keeper)
            await _ended(work)
        if not work.cancelled() and (error := work.exception()) is not None:
            raise error

    async def _handle(self, lease: Lease, handler: Handler, on_giving_up: OnGivingUp) -> None:
        deaths = lease.attempt - 1 - lease.releases - lease.failures
        if deaths >= self.max_starts:
            error = QuestionAbandonedError(f"{deaths} starts ended without an outcome")
            await self._give_up(lease, error, on_giving_up)
            return
        try:
            await handler(lease.question, lease.attempt)
        except NotNowError as outage:
            await self._wait(lease, outage)
        except UndeliverableError as refusal:
            await self._dead_letter(lease, refusal.code, leftovers=not refusal.clean)
        except Exception as error:
            failures = lease.failures + 1
            note(outcome="failed")
            logger.exception("question.failed", extra=_fields(lease) | {"failures": failures})
            if failures >= self.max_attempts:
                await self._give_up(lease, error, on_giving_up)
            else:
                pause = min(self.retry_s * 2**lease.failures, LONGEST_RETRY_S) * random.uniform(0.5, 1)
                await self._settle(lease, lambda: self.claims.retry(lease, after=timedelta(seconds=pause)))
        else:
            await self._settle(lease, lambda: self.claims.finish(lease))
            if self._slack_was_away:
                self._slack_was_away = False
                await self.wake()

    async def _wait(self, lease: Lease, outage: NotNowError) -> None:
        self._slack_was_away = True
        note(outcome="waits")
        longest = min(self.retry_s * 2 ** min(lease.waits, 30), self.longest_wait_s)
        retry_after = min(outage.after_s, self.longest_wait_s)
        pause = max(longest * random.uniform(0.5, 1), retry_after)
        logger.warning(
            "question.waits", extra=_fields(lease) | {"cause": outage.cause, "seconds": round(pause, 1)}
        )
        after, least = (
            timedelta(seconds=pause),
            timedelta(seconds=max(retry_after, min(pause, WOKEN_AFTER_S))),
        )
        await self._settle(lease, lambda: self.claims.wait(lease, after=after, least=least))

    async def wake(self, *, at_once: bool = False) -> None:
        """Tries the threads that wait for Slack, which is back, or may be."""
        try:
            if woken := await self.claims.wake(at_once=at_once):
                logger.info("queue.woken", extra={"threads": woken})
        except StoreUnavailableError:
            logger.warning("queue.not_woken")  # the threads try again by themselves after their pauses

    async def _dead_letter(self, lease: Lease, reason: str, *, leftovers: bool) -> None:
        logger.error("question.undelivered", extra=_fields(lease) | {"reason": reason})
        note(outcome="undelivered")
        await self._settle(lease, lambda: self.claims.dead_letter(lease, reason=reason, leftovers=leftovers))

    async def _give_up(self, lease: Lease, error: Exception, on_giving_up: OnGivingUp) -> None:
        logger.error("question.given_up", extra=_fields(lease) | {"reason": type(error).__name__})
        leftovers = False
        try:
            await on_giving_up(lease.question, error)
        except NotNowError as outage:  # the apology waits: no asker is left without a word
            await self._wait(lease, outage)
            return
        except UndeliverableError as refusal:
            leftovers = not refusal.clean
        except Exception:
            logger.exception("question.giving_up_failed", extra=_fields(lease))
        await self._dead_letter(lease, type(error).__name__, leftovers=leftovers)

    async def _settle(self, lease: Lease, settle: Callable[[], Awaitable[bool]]) -> None:
        """Records an outcome, through outages; `_work` ends the attempt when the lease is lost meanwhile."""
        outage = StoreOutage()
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
        held_until = time.monotonic() + self.lease_s
        while True:
            await asyncio.sleep(self.beat_s)
            asked = time.monotonic()
            try:
                async with asyncio.timeout(held_until - asked):
                    if not await self.claims.renew(lease):
                        return
            except StoreUnavailableError:
                continue
            except TimeoutError:
                return
            held_until = asked + self.lease_s

    async def release(self, lease: Lease) -> None:
        try:
            if await self.claims.release(lease):
                logger.info("question.handed_back", extra=_fields(lease))
        except StoreUnavailableError:
            logger.warning("question.not_handed_back", extra=_fields(lease))  # the lease runs out by itself


async def _ended(task: asyncio.Task[None]) -> None:
    """Cancels a handler, once, and waits for its end: asked again, it would leave off what it does to stop in order.

    A cancellation that is lost on the way costs time only: a handler comes to its end. A keeper would not.
    """
    task.cancel()
    await asyncio.wait({task})


def _fields(lease: Lease) -> dict[str, object]:
    return {"question_id": lease.question.id, "attempt": lease.attempt, "holder": lease.holder}
