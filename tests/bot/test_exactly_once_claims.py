"""What Footnote says by itself is said once, and what it promised is handed on."""

from __future__ import annotations

from datetime import timedelta

import pytest
from redis.asyncio import Redis

from bot.listening import exactly_once as module
from bot.listening.exactly_once import ExactlyOnce


@pytest.fixture
def once(redis: Redis, namespace: str) -> ExactlyOnce:
    return ExactlyOnce(redis, namespace=namespace)


async def test_one_of_two_replicas_may_say_it(once: ExactlyOnce, redis: Redis, namespace: str) -> None:
    other = ExactlyOnce(redis, namespace=namespace)
    assert (await once.begin("gaps-2026-W48"), await other.begin("gaps-2026-W48")) == ("mine", "held")
    await once.complete("gaps-2026-W48")
    assert await other.begin("gaps-2026-W48") == await once.begin("gaps-2026-W48") == "said"
    assert await other.begin("gaps-2026-W49") == "mine"


async def test_what_a_dead_holder_held_is_free_again_and_its_promise_stays(
    once: ExactlyOnce, monkeypatch: pytest.MonkeyPatch
) -> None:
    import asyncio

    monkeypatch.setattr(module, "LEASE", timedelta(milliseconds=50))
    await once.promise("owner-of-q1", {"who": "U1"})
    assert await once.begin("owner-of-q1") == "mine"
    await asyncio.sleep(0.1)
    assert await once.promised() == {"owner-of-q1": {"who": "U1"}}
    assert await once.begin("owner-of-q1") == "mine"
    await once.complete("owner-of-q1")
    assert await once.promised() == {}
    assert await once.is_complete("owner-of-q1")


async def test_a_promise_can_be_withdrawn(once: ExactlyOnce) -> None:
    await once.promise("owner-of-q1", {})
    await once.withdraw("owner-of-q1")
    assert await once.promised() == {}
    assert not await once.is_complete("owner-of-q1")
