"""Lanes before Bolt, and asks that share a call."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from bot.edge.draining import DispatchQueue, DispatchQueueFullError
from bot.queue.batching import MOST_AT_ONCE, BatchedCalls
from kb.errors import StoreUnavailableError


async def test_a_lane_lets_in_so_many_and_the_others_in_their_order() -> None:
    lane, full, ended = DispatchQueue(2), asyncio.Event(), asyncio.Event()
    begun: list[int] = []

    async def one(n: int) -> None:
        async with lane.turn():
            begun.append(n)
            if len(begun) == 2:
                full.set()
            await ended.wait()

    async with asyncio.TaskGroup() as group:
        for n in range(5):
            group.create_task(one(n))
        await full.wait()
        assert lane.is_busy
        assert begun == [0, 1]
        ended.set()
    assert begun == [0, 1, 2, 3, 4]
    assert not lane.is_busy


async def test_who_would_wait_for_too_long_is_told_so_and_takes_no_place() -> None:
    lane = DispatchQueue(1, longest_wait_s=0.02)
    async with lane.turn():
        with pytest.raises(DispatchQueueFullError):
            async with lane.turn():
                raise AssertionError("let in")
        gone = asyncio.create_task(lane.turn().__aenter__())
        await asyncio.sleep(0)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
    async with lane.turn():
        assert lane.is_busy


async def test_asks_that_come_while_one_runs_share_the_next_call() -> None:
    calls: list[list[int]] = []

    async def doubled(all_of: Sequence[int]) -> list[int]:
        calls.append(list(all_of))
        await asyncio.sleep(0)
        return [2 * one for one in all_of]

    together = BatchedCalls(doubled)
    asks = [asyncio.create_task(together.of(n)) for n in range(3 * MOST_AT_ONCE)]
    await asyncio.sleep(0)
    asks[5].cancel()  # whoever asked has gone
    told = await asyncio.gather(*asks, return_exceptions=True)
    assert isinstance(told[5], asyncio.CancelledError)
    assert [one for n, one in enumerate(told) if n != 5] == [2 * n for n in range(3 * MOST_AT_ONCE) if n != 5]
    assert len(calls) <= 4
    assert max(map(len, calls)) == MOST_AT_ONCE
    assert await together.of(21) == 42


async def test_a_call_that_fails_is_told_to_all_who_asked_and_the_next_one_is_made() -> None:
    outages = [StoreUnavailableError("away")]

    async def ask(all_of: Sequence[int]) -> Sequence[int]:
        if outages:
            raise outages.pop()
        return all_of

    together = BatchedCalls(ask)
    told = await asyncio.gather(*(together.of(n) for n in range(3)), return_exceptions=True)
    assert [type(one) for one in told] == [StoreUnavailableError] * 3
    assert await together.of(7) == 7
