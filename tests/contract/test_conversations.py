"""What the conversation store does, in a real Valkey."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from redis.asyncio import Redis

from kb.conversation.conversations import (
    KEPT_CHARACTERS,
    KEPT_TURNS,
    WHOLE_TURNS,
    RedisConversations,
    compacted,
)
from kb.errors import StoreUnavailableError
from kb.models import Retrieved, ThreadKey, Turn
from kb.store.valkey import EmbeddedValkey, connect_redis

THREAD = ThreadKey(team="T1", channel="C1", thread="1.0")


def a_turn(question: str, *, ts: str | None = None) -> Turn:
    return Turn(
        question=question,
        answer=f"About {question} – naïve € 😀\n- a list",
        rewritten=f"{question}?",
        topics=("leave", "Phase C"),
        retrieved=(Retrieved(page_id="p1", chunk_id="c1", title="Leave", cited=True),),
        asked_at=datetime(2026, 11, 27, 12, tzinfo=UTC),
        question_ts=ts,
    )


@pytest.fixture
def store(redis: Redis) -> RedisConversations:
    return in_redis(redis)


def in_redis(redis: Redis) -> RedisConversations:
    return RedisConversations(redis, namespace="test", keep=timedelta(days=1))


async def test_turns_come_back_whole_and_oldest_first(store: RedisConversations):
    turns = [a_turn("first", ts="1.0"), a_turn("second", ts="2.0")]
    for turn in turns:
        await store.append(THREAD, turn)
    assert await store.load(THREAD) == turns


async def test_an_unknown_thread_is_empty(store: RedisConversations):
    assert await store.load(THREAD) == []


async def test_of_many_threads_those_are_known_that_have_turns(store: RedisConversations):
    others = [replace(THREAD, thread=f"{n}.0") for n in range(2, 5)]
    await store.append(THREAD, a_turn("first", ts="1.0"))
    await store.append(others[0], a_turn("second", ts="2.0"))
    await store.forget(others[0], "2.0")
    assert await store.known([*others, THREAD]) == {THREAD}
    assert await store.known([]) == frozenset()


@pytest.mark.parametrize("other", [{"team": "T2"}, {"channel": "C2"}, {"thread": "2.0"}])
async def test_threads_of_another_team_channel_or_root_are_kept_apart(
    store: RedisConversations, other: dict[str, str]
):
    await store.append(THREAD, a_turn("first"))
    assert await store.load(replace(THREAD, **other)) == []


async def test_the_answer_to_an_edited_question_takes_the_place_of_the_old_one(store: RedisConversations):
    for turn in (a_turn("first", ts="1.0"), a_turn("second", ts="2.0"), a_turn("first, edited", ts="1.0")):
        await store.append(THREAD, turn)
    assert [turn.question for turn in await store.load(THREAD)] == ["first, edited", "second"]


async def test_a_deleted_question_is_forgotten_and_the_others_stay(store: RedisConversations):
    for turn in (a_turn("first", ts="1.0"), a_turn("second", ts="2.0")):
        await store.append(THREAD, turn)
    await store.forget(THREAD, "1.0")
    await store.forget(THREAD, "9.0")
    assert [turn.question for turn in await store.load(THREAD)] == ["second"]


async def test_what_was_stored_is_there_after_a_restart(tmp_path: Path):
    for round_ in range(2):
        valkey = EmbeddedValkey(tmp_path / "valkey")
        await valkey.start()
        async with connect_redis(valkey.url) as redis:
            store = in_redis(redis)
            if round_ == 0:
                await store.append(THREAD, a_turn("first"))
            assert [turn.question for turn in await store.load(THREAD)] == ["first"]
        await valkey.stop()


async def test_a_long_thread_keeps_its_latest_turns_whole_and_of_the_others_what_a_return_needs(
    store: RedisConversations,
):
    for n in range(WHOLE_TURNS + 3):
        turn = a_turn(f"question {n} {'x' * 500}", ts=f"{n}.0")
        await store.append(THREAD, replace(turn, answer=f"**Topic {n}** " + "y" * 5000))
    turns = await store.load(THREAD)
    assert len(turns) == WHOLE_TURNS + 3
    assert all(len(turn.answer) > 5000 for turn in turns[-WHOLE_TURNS:])
    for n, turn in enumerate(turns[:-WHOLE_TURNS]):
        assert turn.answer == ""
        assert turn.question.startswith(f"question {n} ")
        assert len(turn.question) == len(turn.rewritten or "") == KEPT_CHARACTERS
        assert (turn.topics, [one.page_id for one in turn.retrieved]) == (
            ("leave", "Phase C", f"Topic {n}"),
            ["p1"],
        )


def test_of_an_endless_thread_the_latest_turns_are_kept():
    turns = compacted([a_turn(f"question {n}", ts=f"{n}.0") for n in range(KEPT_TURNS + 5)])
    assert [turn.question_ts for turn in turns] == [f"{n}.0" for n in range(5, KEPT_TURNS + 5)]
    assert compacted(turns) == turns


async def test_a_turn_without_its_text_is_still_replaced_and_forgotten(store: RedisConversations):
    for n in range(WHOLE_TURNS + 2):
        await store.append(THREAD, a_turn(f"question {n}", ts=f"{n}.0"))
    await store.append(THREAD, a_turn("question 0, edited", ts="0.0"))
    await store.forget(THREAD, "1.0")
    questions = [turn.question for turn in await store.load(THREAD)]
    assert questions[:2] == ["question 0, edited", "question 2"]


async def test_what_another_replica_wrote_or_forgot_is_seen_at_once(redis: Redis):
    one, other = in_redis(redis), in_redis(redis)
    await one.append(THREAD, a_turn("first", ts="1.0"))
    await other.append(THREAD, a_turn("second", ts="2.0"))
    assert [turn.question for turn in await one.load(THREAD)] == ["first", "second"]
    await other.forget(THREAD, "1.0")
    assert [turn.question for turn in await one.load(THREAD)] == ["second"]
    await other.forget(THREAD, "2.0")
    assert await one.load(THREAD) == []


async def test_who_changes_what_was_loaded_changes_no_thread(store: RedisConversations):
    await store.append(THREAD, a_turn("first"))
    (await store.load(THREAD)).clear()
    assert [turn.question for turn in await store.load(THREAD)] == ["first"]


async def test_an_outage_is_an_outage_and_not_an_empty_thread(tmp_path: Path):
    async with connect_redis(str(tmp_path / "nobody.sock")) as redis:
        store = RedisConversations(redis, namespace="test", keep=timedelta(days=1))
        with pytest.raises(StoreUnavailableError):
            await store.load(THREAD)
        with pytest.raises(StoreUnavailableError):
            await store.append(THREAD, a_turn("first"))


UNREADABLE = [
    b"", b"{", b"null", b"1", b"{}", b'"text"', b"[1]", b"[null]", b"\xff", b'[{"question": 1, "answer": "secret"}]',
    b'[{"question": "secret"}]', b'[{"question": "a", "answer": "secret", "outcome": "of another version"}]',
    b'[{"question": "a", "answer": "b", "retrieved": [{"page": "secret"}]}]', b"[" * 100_000, b'["\\ud800"]',
]  # fmt: skip


@pytest.mark.parametrize("stored", UNREADABLE)
async def test_turns_that_cannot_be_read_are_none_and_the_next_one_takes_their_place(
    redis: Redis, stored: bytes, caplog: pytest.LogCaptureFixture
):
    store = in_redis(redis)
    await redis.set(f"test:turns:{THREAD}", stored)
    assert await store.load(THREAD) == []
    await store.append(THREAD, a_turn("next", ts="2.0"))
    assert [turn.question for turn in await in_redis(redis).load(THREAD)] == ["next"]
    assert "secret" not in caplog.text


async def test_a_key_of_another_type_is_no_turns_and_no_outage(redis: Redis):
    await redis.hset(f"test:turns:{THREAD}", "0", "of another version")
    store = in_redis(redis)
    await store.forget(THREAD, "1.0")
    await redis.lpush(f"test:turns:{THREAD}", "of another version")
    assert await store.load(THREAD) == []
    await store.append(THREAD, a_turn("next", ts="2.0"))
    assert [turn.question for turn in await store.load(THREAD)] == ["next"]


async def test_a_turn_of_a_later_version_with_more_to_tell_is_read(redis: Redis):
    await redis.set(
        f"test:turns:{THREAD}", b'[{"question": "a", "answer": "b", "mood": "of another version"}]'
    )
    assert [turn.answer for turn in await in_redis(redis).load(THREAD)] == ["b"]
