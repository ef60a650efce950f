"""A loop that is held up is noted, and where it was held up is in the log."""

from __future__ import annotations

import asyncio
import logging
import time

import pytest

from kb.runtime.loop_watch import LoopWatch
from tests.fakes.waiting import until


def stuck_here(log: pytest.LogCaptureFixture) -> bool:
    """Whether it is noted that the function below holds the loop up; a busy machine does so elsewhere too."""
    places = [one.where for one in log.records if one.message == "loop.stuck"]  # type: ignore[attr-defined]
    return any("holds_the_loop_up" in place for where in places for place in where)


def holds_the_loop_up(log: pytest.LogCaptureFixture) -> None:
    while not stuck_here(log):
        time.sleep(0.01)


async def test_a_loop_that_is_held_up_is_told_with_the_place_and_its_length(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    async with LoopWatch(every_s=0.01, warned_s=0.1) as watch:
        await until(lambda: sum(watch.lag.counts) > 0, seconds=10)
        holds_the_loop_up(caplog)
        await until(lambda: any(one.message == "loop.late" for one in caplog.records), seconds=10)
    assert watch.lag.longest >= 0.1


async def test_a_loop_that_waits_is_not_late(caplog: pytest.LogCaptureFixture) -> None:
    async with LoopWatch(every_s=0.001, warned_s=30.0) as watch:
        await until(lambda: sum(watch.lag.counts) > 10, seconds=30)
    assert not [one for one in caplog.records if one.message.startswith("loop.")]
    before = sum(watch.lag.counts)
    await asyncio.sleep(0)
    assert sum(watch.lag.counts) == before
