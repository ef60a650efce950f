"""A Redis whose memory is full takes no new question; those that it has are answered, each once, and leave it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from bot.queue.dead_letters import DeadLetters
from kb.errors import StoreFullError
from tests.fakes.office import Office
from tests.fakes.questions import a_question


@pytest.fixture
async def full_when_asked(office: Office) -> AsyncIterator[Office]:
    """Its Redis has memory again when a test is done with it."""
    yield office
    await office.redis.config_set("maxmemory", "0")


async def test_questions_that_a_full_store_has_are_answered_once_and_leave_it(
    full_when_asked: Office,
) -> None:
    office = full_when_asked
    office.knowledge.hold = asyncio.Event()
    text = "@footnote How many days of holiday do I get?"
    asked = [await office.ask("alice", "#general", text) for _ in range(3)]
    asked.append(await office.ask("alice", "#general", text, asked[0]))
    await office.accepted(4)
    await office.redis.config_set("maxmemory", "1")
    office.knowledge.hold.set()
    await office.answers("#general", asked[0], 2)
    for ts in asked[1:3]:
        await office.answers("#general", ts)
    await office.idle()
    assert [len(office.replies("#general", ts)) for ts in asked[:3]] == [2, 1, 1]
    assert await DeadLetters(office.redis, namespace=office.namespace).all() == []
    with pytest.raises(StoreFullError, match="memory is full"):
        await office.queue.accept(a_question())
