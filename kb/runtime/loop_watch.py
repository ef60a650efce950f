"""Measures how late the event loop is, and where it stood then: whatever holds it up holds up every question.

A task asks to be woken at short intervals and notes how much later it was. A thread of its own checks that the task
still does so; if not, it logs where the loop's thread stands. Work in another thread that holds Python's lock stops
both: then the stacks are those of the moment at which it let go.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
import traceback
from bisect import bisect_left
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Self

from kb.runtime.tasks import cancelled

logger = logging.getLogger(__name__)

EVERY_S = 0.05
WARNED_S = 0.5
"""Seconds from which people notice."""
BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_FRAMES = 8
"""Innermost frames that are told: names of functions, no values."""


@dataclass(kw_only=True, slots=True)
class LoopLag:
    """Seconds by which the loop was late. `counts`: by the bucket that holds them, the last for all above."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS_S) + 1))
    total: float = 0.0
    longest: float = 0.0

    def note(self, seconds: float) -> None:
        self.counts[bisect_left(BUCKETS_S, seconds)] += 1
        self.total += seconds
        self.longest = max(self.longest, seconds)


class LoopWatch:
    """Watches the loop that it is entered in, for as long as the block runs."""

    def __init__(self, *, every_s: float = EVERY_S, warned_s: float = WARNED_S) -> None:
        self.lag = LoopLag()
        self._every_s = every_s
        self._warned_s = warned_s
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, name="footnote-loop-watch", daemon=True)
        self._due = 0.0

    async def __aenter__(self) -> Self:
        self._loop_thread = threading.get_ident()
        self._due = time.monotonic() + self._every_s
        self._ticking = asyncio.create_task(self._tick(), name="loop watch")
        self._thread.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._over.set()
        await cancelled(self._ticking)

    async def _tick(self) -> None:
        while True:
            self._due = time.monotonic() + self._every_s
            await asyncio.sleep(self._every_s)
            late = max(0.0, time.monotonic() - self._due)
            self.lag.note(late)
            if late >= self._warned_s:
                logger.warning("loop.late", extra={"seconds": round(late, 3)})

    def _look(self) -> None:
        warned = 0.0
        while not self._over.wait(self._every_s):
            due = self._due
            if due != warned and time.monotonic() - due >= self._warned_s:
                warned = due  # once per delay
                frames = sys._current_frames()
                logger.warning(
                    "loop.stuck",
                    extra={
                        "where": _where(frames.get(self._loop_thread)),
                        "threads": self._others(frames),
                    },
                )

    def _others(self, frames: dict[int, FrameType]) -> dict[str, list[str]]:
        """Returns where the other threads stand that run code of ours."""
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        stacks = {
            names.get(thread, str(thread)): _where(frame)
            for thread, frame in frames.items()
            if thread not in (self._loop_thread, threading.get_ident())
        }
        return {name: where for name, where in stacks.items() if not where[-1].startswith(_WAITING)}


_WAITING = ("threading.py", "thread.py", "queue.py", "selectors.py", "unix_events.py")


def _where(frame: FrameType | None) -> list[str]:
    stack = traceback.extract_stack(frame)[-_FRAMES:] if frame else []
    return [f"{Path(entry.filename).name}:{entry.lineno} {entry.name}" for entry in stack] or ["gone"]
