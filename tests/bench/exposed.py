"""What a bot that was started with `FOOTNOTE_API__PORT` tells Prometheus."""

from __future__ import annotations

import re
from dataclasses import dataclass

import aiohttp


async def exposed(port: int, name: str) -> float:
    """A figure without labels.

    Raises:
        LookupError: it is not told.
    """
    told = await _told(port)
    found = re.search(rf"^{re.escape(name)} (\S+)", told, re.MULTILINE)
    if found is None:
        raise LookupError(f"/metrics does not tell {name}: {told[:200]}")
    return float(found[1])


async def longest_lag_s(port: int) -> float:
    """The latest that the bot's event loop was since it began."""
    return await exposed(port, "footnote_event_loop_lag_max_seconds")


@dataclass(frozen=True, kw_only=True, slots=True)
class Lateness:
    """How often the event loop was how late. `counts`: upper bound in
    seconds -> times, those of lower bounds left out.
    """

    counts: dict[float, int]

    def since(self, earlier: Lateness) -> Lateness:
        return Lateness(counts={bound: times - earlier.counts[bound] for bound, times in self.counts.items()})

    @property
    def at_most_s(self) -> float:
        """The bound of the latest."""
        return max((bound for bound, times in self.counts.items() if times), default=0.0)

    def times_above(self, seconds: float) -> int:
        return sum(times for bound, times in self.counts.items() if bound > seconds)


async def lateness(port: int) -> Lateness:
    """Since the bot began."""
    told = await _told(port)
    found = re.findall(r'^footnote_event_loop_lag_seconds_bucket\{le="([^"]+)"\} (\S+)', told, re.MULTILINE)
    up_to = [(float(bound), int(float(times))) for bound, times in found]
    below = [0, *(times for _, times in up_to)]
    return Lateness(
        counts={bound: times - before for (bound, times), before in zip(up_to, below, strict=False)}
    )


async def _told(port: int) -> str:
    async with aiohttp.ClientSession() as http, http.get(f"http://127.0.0.1:{port}/metrics") as reply:
        return await reply.text()
