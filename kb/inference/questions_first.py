"""Work in the background pauses, between two of its pieces, while a question is in the air.

Priorities of threads are not enough: two cores share caches and memory, and a piece that is under way goes on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

AFTERWARDS_S = 0.03
"""A question whose words are embedded is searched for next, which takes about so long."""
LONGEST_S = 0.25
"""A piece waits no longer, however many questions come: a rebuild has to end."""


class QuestionsFirst:
    """Threads may share one."""

    def __init__(self, *, afterwards_s: float = AFTERWARDS_S, longest_s: float = LONGEST_S) -> None:
        self._afterwards_s = afterwards_s
        self._longest_s = longest_s
        self._changed = threading.Condition()
        self._asked = 0
        self._free_at = 0.0

    @contextmanager
    def question(self) -> Iterator[None]:
        with self._changed:
            self._asked += 1
        try:
            yield
        finally:
            with self._changed:
                self._asked -= 1
                self._free_at = time.monotonic() + self._afterwards_s
                self._changed.notify_all()

    def wait(self) -> None:
        """Blocks the thread of a piece of work until no question is in the air, `longest_s` at most."""
        if not self._rest_s():
            return
        until = time.monotonic() + self._longest_s
        with self._changed:
            while (rest := min(self._rest_s(), until - time.monotonic())) > 0:
                self._changed.wait(rest)

    def _rest_s(self) -> float:
        return self._longest_s if self._asked else max(0.0, self._free_at - time.monotonic())
