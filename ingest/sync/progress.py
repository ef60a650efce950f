"""How far a sweep is and how long it will still take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from kb.jobs import Phase, ReindexProgress

OnProgress = Callable[[ReindexProgress], None]

_PAGE = 400
"""Bytes that a page costs whatever its size (opening, parsing, one short chunk), for the estimate."""


class ProgressEstimator:
    """Counts pages and tells a listener. The time left goes by bytes: a long page may outweigh many short ones."""

    def __init__(self, *, clock: Callable[[], datetime], listen: OnProgress | None) -> None:
        self._clock = clock
        self._listen = listen
        self._started_at = clock()
        self._work_started_at = self._started_at
        self._done = self._total = 0
        self._weight_done = self._weight_total = 0

    def starts(self, sizes: Sequence[int]) -> None:
        """Takes the sizes of the pages in bytes, once they are known."""
        self._work_started_at = self._clock()
        self._total = len(sizes)
        self._weight_total = sum(size + _PAGE for size in sizes)
        self.says("indexing")

    def finished(self, sizes: Sequence[int]) -> None:
        if sizes:
            self._done += len(sizes)
            self._weight_done += sum(size + _PAGE for size in sizes)
            self.says("indexing")

    def says(self, phase: Phase) -> None:
        if self._listen is not None:
            self._listen(
                ReindexProgress(
                    phase=phase,
                    done=self._done,
                    total=self._total,
                    started_at=self._started_at,
                    seconds_left=self._seconds_left(),
                )
            )

    def _seconds_left(self) -> float | None:
        if not self._weight_done:
            return None
        elapsed = (self._clock() - self._work_started_at).total_seconds()
        return elapsed * (self._weight_total - self._weight_done) / self._weight_done
