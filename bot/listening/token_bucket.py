"""A token bucket: how many calls a minute may be made, and how many at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(kw_only=True, slots=True)
class TokenBucket:
    """`burst`: the most tokens it holds; it begins full. `clock` counts seconds from anywhere."""

    per_minute: float
    burst: float
    clock: Callable[[], float]
    _tokens: float = field(init=False)
    _filled_at: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._tokens = self.burst

    def take(self) -> bool:
        """Takes one token; False: there is none."""
        now = self.clock()
        self._tokens = min(self.burst, self._tokens + (now - self._filled_at) * self.per_minute / 60)
        self._filled_at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True
