"""Reads Slack threads to decide whether a message there is for us: shares reads, limits how many run, and keeps to
Slack's rate limit.

    two messages of one thread      -> one read, where it shows both
    a thread that we may be in      -> at once, unless Slack has just refused
    another thread                  -> at once as well, but so many a minute: answering needs Slack's allowance, too
    no read now                     -> `ReadLaterError`

Slack allows some 50 calls of conversations.replies a minute.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bot.listening.threads import Threads
from bot.listening.token_bucket import TokenBucket
from bot.slack.errors import NO_ACCESS, SLACK_FAILURES, cause_of, failure_kind, retry_after_s
from bot.slack.events import Message
from kb.errors import UnavailableError
from kb.runtime.tasks import cancelled

logger = logging.getLogger(__name__)

READS_PER_MINUTE, BURST = 20, 20
"""Looks into threads in which we probably are not: for how long, and how many in a row."""
MOST_READS = 8
"""Reads that run at the same time."""
LONGEST_READ_S = 10.0
PAUSE_S = 2.0
"""Seconds without reads after one that failed, where Slack names no time."""
KEPT_S = 10.0
KEPT_THREADS, KEPT_MESSAGES = 32, 200
"""Threads, and the messages of one of them, that stay known for so long:
who edits a reply five times asks for one look.
"""

LATER_CHANGED = frozenset({"missing_scope", "no_permission", "not_allowed_token_type"})
"""Refusals of this call alone; Slack still takes others."""


class ReadLaterError(UnavailableError):
    """The thread cannot be read now. `ours`: we take part in it."""

    def __init__(self, why: str, *, ours: bool = False) -> None:
        super().__init__(why)
        self.ours = ours


class ThreadGoneError(Exception):
    """Slack refuses to show the thread."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _CachedThread:
    messages: Sequence[Message]
    read_at: float


@dataclass(kw_only=True)
class ThreadReads:
    """`threads` must not wait out rate limits. `clock` counts seconds from anywhere."""

    threads: Threads
    clock: Callable[[], float] = time.monotonic
    per_minute: float = READS_PER_MINUTE
    at_once: int = BURST
    _running: dict[tuple[str, str], asyncio.Task[Sequence[Message]]] = field(default_factory=dict)
    _cache: OrderedDict[tuple[str, str], _CachedThread] = field(default_factory=OrderedDict)
    _not_before: float = 0.0
    _bucket: TokenBucket = field(init=False)

    def __post_init__(self) -> None:
        self._bucket = TokenBucket(per_minute=self.per_minute, burst=self.at_once, clock=self.clock)

    async def of(self, channel: str, thread_ts: str, *, ts: str, probably_ours: bool) -> Sequence[Message]:
        """Returns the messages of a thread, oldest first, as they were after the one at `ts` was written.

        Raises:
            ReadLaterError: Slack does not answer, or may not be asked now.
            ThreadGoneError: it refuses.
        """
        key = (channel, thread_ts)
        cached = self._cache.get(key)
        if cached is not None and self.clock() - cached.read_at < KEPT_S and _shows(cached.messages, ts):
            return cached.messages
        running = self._running.get(key)
        if running is not None and _shows(messages := await asyncio.shield(running), ts):
            return messages
        # That read began before the message was written. One of those who waited for it starts the next.
        running = self._running.get(key)
        return await asyncio.shield(running or self._begin(key, probably_ours=probably_ours))

    async def close(self) -> None:
        """Ends what is running; whoever waits for it is cancelled."""
        for task in list(self._running.values()):
            await cancelled(task)

    def _begin(self, key: tuple[str, str], *, probably_ours: bool) -> asyncio.Task[Sequence[Message]]:
        if self.clock() < self._not_before or len(self._running) >= MOST_READS:
            raise ReadLaterError("Slack has just refused, or has too much to answer")
        if not probably_ours and not self._bucket.take():
            raise ReadLaterError("so many threads were read in the last minute")
        task = asyncio.create_task(self._read(key), name="thread read")
        self._running[key] = task
        task.add_done_callback(lambda done: self._ended(key, done))
        return task

    async def _read(self, key: tuple[str, str]) -> Sequence[Message]:
        try:
            async with asyncio.timeout(LONGEST_READ_S):
                messages = await self.threads.messages(*key)
        except SLACK_FAILURES as error:
            code = cause_of(error)
            if failure_kind(error) == "lasting" and code not in NO_ACCESS - LATER_CHANGED:
                raise ThreadGoneError(code) from error
            self._not_before = self.clock() + max(PAUSE_S, retry_after_s(error))
            logger.warning("thread.unread", extra={"channel": key[0], "thread_ts": key[1], "cause": code})
            raise ReadLaterError(code) from error
        if len(messages) <= KEPT_MESSAGES:
            self._cache[key] = _CachedThread(messages=messages, read_at=self.clock())
            self._cache.move_to_end(key)
            while len(self._cache) > KEPT_THREADS:
                self._cache.popitem(last=False)
        return messages

    def _ended(self, key: tuple[str, str], task: asyncio.Task[Sequence[Message]]) -> None:
        del self._running[key]
        if not task.cancelled():
            task.exception()  # retrieved here, since perhaps nobody awaits it


def _shows(messages: Sequence[Message], ts: str) -> bool:
    return any(message.ts == ts for message in messages)
