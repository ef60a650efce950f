"""A loop that is held up is noted, and where it was held up is in the log."""

from __future__ import annotations

import asyncio
import logging
import time

import pytest

from kb.runtime.loop_watch import LoopWatch
from tests.fakes.waiting import until


def holds_the_loop_up(watch: LoopWatch, log: pytest.LogCaptureFixture) -> None:
    while not any(record.message == "loop.stuck" for record in log.records):
        time.sleep(0.01)


async def test_a_loop_that_is_held_up_is_told_with_the_place_and_its_length(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    async with LoopWatch(every_s=0.01, warned_s=0.1) as watch:
        await until(lambda: sum(watch.lag.counts) > 0, seconds=10)
        holds_the_loop_up(watch, caplog)
        await until(lambda: any(one.message == "loop.late" for one in caplog.records), seconds=10)
    (stuck,) = [one for one in caplog.records if one.message == "loop.stuck"]
    assert any("holds_the_loop_up" in where for where in stuck.where)  # type: ignore[attr-defined]
    assert watch.lag.longest >= 0.1


async def test_a_loop_that_waits_is_not_late(caplog: pytest.LogCaptureFixture) -> None:
    async with LoopWatch(every_s=0.001, warned_s=30.0) as watch:
        await until(lambda: sum(watch.lag.counts) > 10, seconds=30)
    assert not [one for one in caplog.records if one.message.startswith("loop.")]
    before = sum(watch.lag.counts)
    await asyncio.sleep(0)
    assert sum(watch.lag.counts) == before
