"""What is kept of each question: who asked where, what came near, what
was cited, who missed it, and that it is forgotten whole.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from redis.asyncio import Redis

from bot.questions.answer_record import AskedIn
from bot.stats.analytics import KEEP, Analytics
from kb.answer import Answer, NearestPage
from kb.errors import StoreUnavailableError
from kb.store.valkey import connect_redis
from tests.fakes.answers import a_citation, a_page, a_quote, an_answer, quotes_of

PARKING = NearestPage(title="Parking", url="https://kb/p", owner="Facilities", page_id="kb:p.md")
IN_GENERAL = AskedIn(place="public", team="T1", channel="C1", channel_name="general", ts="1.1", user="U1")


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 11, 2, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def analytics(redis: Redis, namespace: str, clock: Clock) -> Analytics:
    return Analytics(redis, namespace, clock=clock)


def citing(*page_ids: str) -> Answer:
    return an_answer(citations=tuple(a_citation(n, a_page(id=one)) for n, one in enumerate(page_ids, 1)))


async def test_a_record_tells_who_asked_where_and_which_pages_came_near_with_their_owners(
    analytics: Analytics, clock: Clock
) -> None:
    other = replace(PARKING, title="Bikes", page_id="kb:b.md", owner=None)
    await analytics.record("q1", an_answer(outcome="declined", nearest=(PARKING, other)), IN_GENERAL)
    [asked] = await analytics.asked()
    record = asked.record
    assert (asked.question_id, record.asked_in, record.language, record.asked_at) == (
        "q1", IN_GENERAL, "en", clock.now,
    )  # fmt: skip
    assert [(page.page_id, page.owner) for page in record.nearest] == [
        ("kb:p.md", "Facilities"),
        ("kb:b.md", None),
    ]
    assert record.cited == ()


async def test_the_page_that_is_quoted_as_the_closest_stands_first(analytics: Analytics) -> None:
    quoted = a_page(id="kb:q.md", title="Quoted", owner="Finance")
    answer = quotes_of(a_quote(page=quoted), outcome="closest", nearest=(PARKING,))
    await analytics.record("q1", answer, IN_GENERAL)
    [asked] = await analytics.asked()
    assert [(page.title, page.owner) for page in asked.record.nearest] == [
        ("Quoted", "Finance"),
        ("Parking", "Facilities"),
    ]


async def test_the_latest_come_first_and_those_of_one_person_alone(
    analytics: Analytics, clock: Clock
) -> None:
    for number, user in enumerate(["U1", "U2", "U1"]):
        clock.now += timedelta(minutes=1)
        await analytics.record(f"q{number}", an_answer(), IN_GENERAL.model_copy(update={"user": user}))
    assert [one.question_id for one in await analytics.asked()] == ["q2", "q1", "q0"]
    assert [one.question_id for one in await analytics.asked(2)] == ["q2", "q1"]
    assert [one.question_id for one in await analytics.asked_by("U1")] == ["q2", "q0"]
    assert await analytics.asked_by("U9") == []


async def test_an_edited_question_takes_the_place_of_the_one_before(analytics: Analytics) -> None:
    await analytics.record("q1", an_answer(outcome="declined", question="parkng?"), IN_GENERAL)
    await analytics.close(["q1"])
    await analytics.record("q1", an_answer(outcome="declined", question="parking?"), IN_GENERAL)
    [asked] = await analytics.asked()
    assert (asked.record.question, asked.closed_at) == ("parking?", None)


async def test_what_was_closed_tells_when(analytics: Analytics, clock: Clock) -> None:
    await analytics.record("q1", an_answer(outcome="declined"), IN_GENERAL)
    await analytics.close(["q1", "never recorded"])
    [asked] = await analytics.asked()
    assert asked.closed_at == clock.now
    assert await analytics.one_asked("never recorded") is None


async def test_somebody_misses_a_page_once_and_only_of_a_question_that_is_known(analytics: Analytics) -> None:
    await analytics.record("q1", an_answer(outcome="declined"), IN_GENERAL)
    told = [await analytics.miss("q1", user) for user in ("U1", "U1", "U2")]
    assert told == [True, False, True]
    assert not await analytics.miss("q2", "U1")
    [asked] = await analytics.asked()
    assert asked.missed_by == {"U1", "U2"}


async def test_votes_and_reasons_come_with_the_question(analytics: Analytics) -> None:
    await analytics.record("q1", an_answer(), IN_GENERAL)
    await analytics.feedback("q1", "U1", "bad")
    await analytics.explain("q1", "U1", reason="outdated", comment="30 days now")
    asked = await analytics.one_asked("q1")
    assert asked is not None
    assert (asked.votes, asked.reasons) == (
        {"U1": "bad"},
        {"U1": {"reason": "outdated", "comment": "30 days now"}},
    )


async def test_a_forgotten_question_is_nowhere_any_more(
    analytics: Analytics, redis: Redis, namespace: str
) -> None:
    await analytics.record(
        "q1", an_answer(outcome="declined", question="my secret", nearest=(PARKING,)), IN_GENERAL
    )
    await analytics.save_trace("q1", {"query": "my secret"})
    await analytics.feedback("q1", "U1", "bad")
    await analytics.explain("q1", "U1", reason="wrong", comment="my secret")
    await analytics.miss("q1", "U1")
    await analytics.forget("q1")
    assert await analytics.asked() == await analytics.asked_by("U1") == []
    assert not await analytics.miss("q1", "U2")
    kept = [await redis.dump(key) for key in await redis.keys(f"*{namespace}*")]
    assert kept
    assert all(b"my secret" not in (dump or b"") for dump in kept)
    assert await redis.keys("*:missed:*") == []


async def test_citations_count_an_answer_once_a_page_and_follow_an_edit(analytics: Analytics) -> None:
    await analytics.record("q1", citing("leave", "pay", "leave"), IN_GENERAL)
    await analytics.record("q2", citing("leave"), IN_GENERAL)
    assert await analytics.citations() == {"leave": 2, "pay": 1}
    await analytics.record("q1", citing("bikes"), IN_GENERAL)
    assert await analytics.citations() == {"leave": 1, "bikes": 1}
    await analytics.record("q2", an_answer(outcome="declined"), IN_GENERAL)
    assert await analytics.citations() == {"bikes": 1}


async def test_what_is_only_shown_as_the_closest_is_not_cited(analytics: Analytics) -> None:
    await analytics.record("q1", quotes_of(outcome="closest"), IN_GENERAL)
    assert await analytics.citations() == {}


async def test_an_answer_that_is_given_anew_weeks_later_leaves_no_count_behind(
    analytics: Analytics, clock: Clock
) -> None:
    await analytics.record("q1", citing("leave"), IN_GENERAL)
    clock.now += timedelta(weeks=3)
    await analytics.record("q1", citing("leave"), IN_GENERAL)
    assert await analytics.citations() == {"leave": 1}


async def test_citations_and_questions_are_kept_as_long_as_what_people_wrote(
    analytics: Analytics, clock: Clock, redis: Redis, namespace: str
) -> None:
    await analytics.record("q1", citing("leave"), IN_GENERAL)
    keys = await redis.keys(f"*{namespace}*:cited:*")
    assert [
        KEEP.total_seconds() <= await redis.ttl(key) <= KEEP.total_seconds() + 7 * 86400 for key in keys
    ] == [True]
    clock.now += KEEP + timedelta(days=8)
    assert await analytics.citations() == {}
    await analytics.record("q2", citing("pay"), IN_GENERAL)
    assert [one.question_id for one in await analytics.asked()] == ["q2"]


async def test_a_record_of_an_earlier_version_loads_and_tells_nobody_its_words(
    analytics: Analytics, redis: Redis, namespace: str
) -> None:
    old = {
        "question": "How much leave?",
        "rewritten": None,
        "is_follow_up": False,
        "outcome": "answered",
        "mode": "extractive",
        "confidence": 0.7,
        "notes": [],
        "sources": [{"title": "Leave", "url": "https://kb/leave", "score": 0.8}],
        "checked": None,
        "timings_ms": {"total": 1.0},
    }
    about = f"{{{namespace}}}:analytics:answer:q1"
    await redis.hset(about, mapping={"outcome": "answered", "rewritten": "0", "context": json.dumps(old)})
    asked = await analytics.one_asked("q1")
    assert asked is not None
    assert (asked.record.asked_in.place, asked.record.asked_at) == ("private", None)
    await analytics.record("q1", citing("leave"), IN_GENERAL)
    assert await analytics.citations() == {"leave": 1}


async def test_an_outage_is_told_as_one(tmp_path: Path) -> None:
    async with connect_redis(str(tmp_path / "nobody.sock")) as redis:
        analytics = Analytics(redis, "test")
        for call in (
            analytics.asked(),
            analytics.citations(),
            analytics.miss("q1", "U1"),
            analytics.close(["q1"]),
        ):
            with pytest.raises(StoreUnavailableError):
                await call
