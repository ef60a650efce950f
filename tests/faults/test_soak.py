"""What the soak makes of an hour's figures: a leak is told, caches that fill are not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.bench.soak_samples import Sample, faults

LOOKS = 120


def samples(**figures: Callable[[float], float]) -> list[Sample]:
    """An hour of looks at a bot at rest, but for `figures`, which tell a figure at so many hours."""
    rest = dict.fromkeys(Sample.__dataclass_fields__, 100)
    hours = [at / LOOKS for at in range(LOOKS)]
    return [
        Sample(**(rest | {"at_s": hour * 3600} | {name: of(hour) for name, of in figures.items()}))  # type: ignore[arg-type]
        for hour in hours
    ]


def test_memory_that_goes_on_growing_is_a_fault() -> None:
    (told,) = faults(samples(rss_mb=lambda hour: 600 + 120 * hour))
    assert told == "rss_mb grows by 120 an hour, by 120 in the last third"


def test_caches_that_fill_are_none() -> None:
    assert faults(samples(rss_mb=lambda hour: 600 + 120 * min(hour, 0.5))) == []


@pytest.mark.parametrize("name", ["files", "others_files", "threads", "forever"])
def test_handles_threads_and_keys_that_grow_are_a_fault(name: str) -> None:
    (told,) = faults(samples(**{name: lambda hour: 30 + 90 * hour}))
    assert told == f"{name} went from 75 to 105"


def test_nothing_is_said_of_the_growth_in_a_short_run() -> None:
    assert faults(samples(rss_mb=lambda hour: 600 + 120 * hour)[:20]) == []
