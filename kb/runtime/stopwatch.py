"""Time by stage, in milliseconds, on a monotonic clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kb.runtime.tracing import span

STAGES = ("rewrite", "embed", "search", "rerank", "answer", "verify")


class Stopwatch:
    """Adds up what each stage took. `monotonic` gives seconds."""

    def __init__(self, monotonic: Callable[[], float] = time.perf_counter) -> None:
        self._monotonic = monotonic
        self._started = monotonic()
        self._taken = dict.fromkeys(STAGES, 0.0)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Times a stage, which is a span of the question's trace as well."""
        started = self._monotonic()
        try:
            with span(name):
                yield
        finally:
            self.add(name, (self._monotonic() - started) * 1000)

    def add(self, name: str, milliseconds: float) -> None:
        self._taken[name] += milliseconds

    def timings_ms(self) -> dict[str, float]:
        total = (self._monotonic() - self._started) * 1000
        return {name: round(value, 2) for name, value in (*self._taken.items(), ("total", total))}
