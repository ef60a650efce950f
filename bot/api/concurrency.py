"""Limits how many questions are worked on at once: one more is refused, not queued behind a client's time-out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bot.api.errors import BusyError

RETRY_AFTER_S = 1


class ConcurrencyLimit:
    def __init__(self, most: int) -> None:
        self._most = most
        self.taken = 0

    def check(self) -> None:
        """Requires that a place is free.

        Raises:
            BusyError: none is free.
        """
        if self.taken >= self._most:
            raise BusyError(retry_after_s=RETRY_AFTER_S)

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Takes one while the block runs. Raises what `check` does."""
        self.check()
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1
