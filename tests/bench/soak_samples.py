"""What the soak looks at twice a minute: the bot's memory, handles and
threads, its Valkey, and the answers since the last look.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import linear_regression, median
from typing import Any

import psutil
from redis.asyncio import Redis

from tests.bench.exposed import longest_lag_s
from tests.bench.figures import percentile
from tests.fakes.serving import Serve

MB = 1 << 20
JUDGED_S = 15 * 60.0
"""A shorter run fills caches: nothing is said of its growth."""
WARM_UP = 1 / 3
"""Of the run: caches and pools fill, and the first syncs bring their models."""
GROWTH = 0.1
"""Of the memory, in an hour: more is a leak, or one that will be."""
GROWING = (
    "rss_mb",
    "uss_mb",
    "others_mb",
    "files",
    "others_files",
    "threads",
    "valkey_mb",
    "keys",
    "forever",
)
MORE_HANDLES = 10
"""Open files and threads come and go with connections and syncs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """MB, milliseconds. `others`: the bot's child processes without Valkey. `forever`: keys without an end."""

    at_s: float
    load: float
    rss_mb: float
    uss_mb: float
    others: int
    others_mb: float
    files: int
    others_files: int
    threads: int
    valkey_mb: float
    keys: int
    forever: int
    asked: int
    answered: int
    waiting: int
    late: int
    p50_ms: float | None
    p95_ms: float | None
    lag_max_s: float


class Observer:
    """Takes the samples. `port`: of the bot's HTTP API."""

    def __init__(self, bot: Serve, port: int, redis: Redis) -> None:
        self._port = port
        self._redis = redis
        self._process = psutil.Process(bot.pid)
        self._began = time.monotonic()
        self.samples: list[Sample] = []

    async def look(self, *, asked: int, waiting: int, taken: Sequence[float], late: int) -> Sample:
        """`taken`: seconds of the answers since the last look."""
        others = [one for one in self._process.children(recursive=True) if not _is_valkey(one)]
        memory = await self._redis.info("memory")
        families = await self.families()
        sample = Sample(
            at_s=time.monotonic() - self._began,
            load=os.getloadavg()[0],
            rss_mb=self._process.memory_info().rss / MB,
            uss_mb=self._process.memory_full_info().uss / MB,
            others=len(others),
            others_mb=sum(_of(one, lambda it: it.memory_info().rss) for one in others) / MB,
            files=self._process.num_fds(),
            others_files=int(sum(_of(one, lambda it: it.num_fds()) for one in others)),
            threads=self._process.num_threads(),
            valkey_mb=int(memory["used_memory"]) / MB,
            keys=sum(families.values()),
            forever=sum(number for name, number in families.items() if name.endswith(" forever")),
            asked=asked,
            answered=len(taken),
            waiting=waiting,
            late=late,
            p50_ms=percentile(taken, 50) * 1000 if taken else None,
            p95_ms=percentile(taken, 95) * 1000 if taken else None,
            lag_max_s=await longest_lag_s(self._port),
        )
        self.samples.append(sample)
        return sample

    async def families(self) -> Counter[str]:
        """Keys by family and whether they end; a key with an id of its own counts as one of its kind."""
        found: Counter[str] = Counter()
        names = [name async for name in self._redis.scan_iter(count=1000)]
        for at in range(0, len(names), 500):
            async with self._redis.pipeline(transaction=False) as pipe:
                for name in names[at : at + 500]:
                    pipe.pttl(name)
                for name, left in zip(names[at : at + 500], await pipe.execute(), strict=True):
                    text = name.decode() if isinstance(name, bytes) else str(name)
                    family = re.sub(r"T0HAVIK.*|[0-9a-f]{8,}.*|:[UCDG]0?[A-Z0-9]{3,}.*|\d+.*", "*", text)
                    found[f"{family} forever" if left == -1 else family] += 1
        return found


def growth(samples: Sequence[Sample]) -> dict[str, float]:
    """What an hour adds after the warm-up, in the figure's own unit."""
    warm = samples[int(len(samples) * WARM_UP) :]
    return {name: slope_of(warm, name) for name in GROWING}


def faults(samples: Sequence[Sample]) -> list[str]:
    """What grows without an end. Memory must go on growing in the last third of the run, caches do not."""
    if len(samples) < 6 or samples[-1].at_s < JUDGED_S:
        return []
    told = []
    _, middle, last = thirds(samples)
    for name in ("rss_mb", "others_mb"):
        most = GROWTH * _typical(middle, name)
        slope, of_late = slope_of([*middle, *last], name), slope_of(last, name)
        if min(slope, of_late) > most:
            told.append(f"{name} grows by {slope:.0f} an hour, by {of_late:.0f} in the last third")
    told += [
        f"{name} went from {_typical(middle, name):.0f} to {_typical(last, name):.0f}"
        for name in ("files", "others_files", "threads", "forever")
        if _typical(last, name) > _typical(middle, name) + MORE_HANDLES
    ]
    return told


def slope_of(samples: Sequence[Sample], name: str) -> float:
    return float(
        linear_regression([one.at_s / 3600 for one in samples], [getattr(one, name) for one in samples]).slope
    )


def thirds(samples: Sequence[Sample]) -> tuple[Sequence[Sample], Sequence[Sample], Sequence[Sample]]:
    cut = len(samples) // 3
    return samples[:cut], samples[cut : 2 * cut], samples[2 * cut :]


def _typical(samples: Sequence[Sample], name: str) -> float:
    return float(median(getattr(one, name) for one in samples))


def _is_valkey(process: psutil.Process) -> bool:
    try:
        return "valkey" in process.name() or "redis" in process.name()
    except psutil.Error:
        return False


def _of(process: psutil.Process, figure: Any) -> float:
    """0 for a process that has ended meanwhile."""
    try:
        return float(figure(process))
    except psutil.Error:
        return 0.0
