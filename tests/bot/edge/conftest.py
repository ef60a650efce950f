"""An office for each test, with a Valkey that they share."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from bot.listening import deferred_messages, thread_reads
from bot.playground import SlackLimits
from tests.fakes.office import Office, open_office


@pytest.fixture
def limits() -> SlackLimits:
    return SlackLimits(rate_limited=False, ack_timeout_s=1.0, retry_delays_s=(0.0, 0.05, 0.05))


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was put aside is looked at again at once, not seconds later."""
    monkeypatch.setattr(deferred_messages, "FIRST_S", 0.1)
    monkeypatch.setattr(deferred_messages, "IDLE_S", 0.02)
    monkeypatch.setattr(thread_reads, "PAUSE_S", 0.05)


@pytest.fixture
async def office(redis: Redis, limits: SlackLimits) -> AsyncIterator[Office]:
    async with open_office(redis, limits) as running:
        yield running


@pytest.fixture(params=["socket", "http"])
async def either_office(
    request: pytest.FixtureRequest, redis: Redis, limits: SlackLimits
) -> AsyncIterator[Office]:
    """The same office over Socket Mode and over signed HTTP."""
    async with open_office(redis, limits, request.param) as running:
        yield running
