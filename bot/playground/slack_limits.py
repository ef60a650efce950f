"""Applies Slack's limits to the app, each with a switch or a size so that a test need not wait."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

Clock = Callable[[], float]
"""Seconds since 1970."""

TIER_PER_MINUTE = {1: 1, 2: 20, 3: 50, 4: 100}


@dataclass(frozen=True, kw_only=True, slots=True)
class SlackLimits:
    """Slack's numbers by default. Times are in seconds.

    `retry_delays_s`: before the first, second and third redelivery of an event that was not acknowledged.
    `replies_page`: the most messages that a page of conversations.replies holds, whatever the app asks for.
    `streams_told`: whether a message that was streamed says so when it is read back.
    `replies_in_disorder`: shuffles those pages and repeats the thread's first message on each.
    """

    rate_limited: bool = True
    post_burst: int = 4
    ack_timeout_s: float = 3.0
    retry_delays_s: tuple[float, ...] = (0.0, 60.0, 300.0)
    trigger_s: float = 3.0
    response_url_s: float = 30 * 60.0
    response_url_uses: int = 5
    status_s: float = 120.0
    stream_idle_s: float = 300.0
    streams_told: bool = True
    replies_page: int = 1000
    replies_in_disorder: bool = False


class RateLimiter:
    """Token buckets: one for each method, and for posts one for each channel as well."""

    def __init__(self, limits: SlackLimits, clock: Clock) -> None:
        self._limits = limits
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def seconds_to_wait(self, method: str, tier: int, channel: str | None) -> int:
        """Counts the call. Returns 0 when it may go through, else whole seconds for Retry-After."""
        if not self._limits.rate_limited:
            return 0
        if method in ("chat.postMessage", "chat.postEphemeral") and channel:
            return self._take(f"post:{channel}", per_second=1.0, burst=self._limits.post_burst)
        per_minute = TIER_PER_MINUTE.get(tier, 0)
        if not per_minute:  # a "special" tier: hundreds a minute
            return 0
        # A bot that is being restarted opens more connections than tier 1's one a minute; Slack lets it.
        return self._take(method, per_second=per_minute / 60, burst=max(per_minute, 10))

    def _take(self, name: str, *, per_second: float, burst: int) -> int:
        now = self._clock()
        left, counted = self._buckets.get(name, (float(burst), now))
        left = min(float(burst), left + max(0.0, now - counted) * per_second)
        if left < 1:
            self._buckets[name] = (left, now)
            return max(1, math.ceil((1 - left) / per_second))
        self._buckets[name] = (left - 1, now)
        return 0
