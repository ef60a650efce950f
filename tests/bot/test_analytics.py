"""Figures that count once, votes that move, texts that expire."""

import asyncio
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.stats.analytics import KEEP, REMEMBERED_TIMES, Analytics
from bot.stats.counts import percentile
from kb.answer import Answer, Checked, Citation, Trace
from kb.answering.language_offer import LATEST
from kb.errors import StoreUnavailableError
from kb.llm.usage import ModelUsage
from kb.models import Chunk, Page, PageDates, Rewrite
from kb.store.valkey import connect_redis
from tests.fakes.figures import some_stats


@pytest.fixture
def analytics(redis: Redis, namespace: str) -> Analytics:
    return Analytics(redis, namespace)


def an_answer(
    *,
    rewritten: str | None = None,
    rewrite_ms: float = 0.0,
    total_ms: float = 100.0,
    lost: str = "",
    **changes: Any,
) -> Answer:
    page = Page(
        id="leave",
        source="handbook",
        path="leave.md",
        title="Leave",
        url="https://kb/leave",
        dates=PageDates(edited=date(2026, 1, 1)),
    )
    chunk = Chunk(id="leave#0", page=page, position=0, text="25 days.", url="https://kb/leave#annual")
    rewrite = Rewrite(
        query=rewritten or "How much leave?",
        needs_rewrite=rewritten is not None,
        is_follow_up=rewritten is not None,
        lost=lost,
    )
    fields: dict[str, Any] = {
        "question": "How much leave?",
        "outcome": "answered",
        "mode": "extractive",
        "language": "en",
        "citations": (Citation(n=1, chunk=chunk, quote="25 days.", score=0.8, freshness="current"),),
        "notes": ("extractive mode",),
        "confidence": 0.7,
        "trace": Trace(rewrite=rewrite),
        "timings_ms": {"rewrite": rewrite_ms, "total": total_ms},
    }
    return Answer(**fields | changes)


async def test_nothing_was_asked_yet(analytics: Analytics) -> None:
    assert await analytics.stats() == some_stats()
    assert (await analytics.stats()).satisfaction is None
    assert (await analytics.stats()).rewrite_rate == 0


async def test_the_figures_of_a_few_questions(analytics: Analytics) -> None:
    await analytics.record("q1", an_answer(total_ms=100))
    await analytics.record(
        "q2", an_answer(rewritten="How much leave in 2026?", rewrite_ms=10.5, total_ms=300)
    )
    await analytics.record(
        "q3", an_answer(rewritten="When does leave expire?", rewrite_ms=20.5, total_ms=200)
    )
    await analytics.record("q4", an_answer(outcome="declined", total_ms=50))
    await analytics.record("q5", an_answer(outcome="unavailable", total_ms=1000))
    await analytics.feedback("q1", "U1", "good")
    await analytics.feedback("q1", "U2", "bad")
    await analytics.feedback("q2", "U1", "good")
    stats = await analytics.stats()
    assert stats == some_stats(
        questions=5,
        rewritten=2,
        mean_rewrite_ms=15.5,
        positive=2,
        negative=1,
        declined=1,
        unavailable=1,
        p50_ms=200,
        p95_ms=1000,
    )
    assert stats.rewrite_rate == 0.4
    assert stats.satisfaction == pytest.approx(2 / 3)


async def test_a_lost_rewrite_counts_until_its_question_is_answered_anew(analytics: Analytics) -> None:
    await analytics.record("q1", an_answer(lost="late"))
    await analytics.record("q2", an_answer(lost="language_changed"))
    assert (await analytics.stats()).lost_rewrites == 2
    await analytics.record("q1", an_answer(rewritten="How much leave in 2026?"))
    assert (await analytics.stats()).lost_rewrites == 1


async def test_what_the_check_of_citations_found_is_added_up_and_counts_once_a_question(
    analytics: Analytics,
) -> None:
    def checked(*counts: int) -> Answer:
        sentences, cited, supported, removed, dropped = counts
        found = Checked(
            sentences=sentences, cited=cited, supported=supported, removed=removed, dropped_citations=dropped
        )
        trace = Trace(rewrite=Rewrite(query="q", needs_rewrite=False, is_follow_up=False), checked=found)
        return an_answer(trace=trace)

    await analytics.record("q1", checked(9, 9, 1, 8, 7))
    await analytics.record("q1", checked(4, 3, 3, 1, 2))
    await analytics.record("q2", checked(2, 2, 2, 0, 0))
    await analytics.record("q3", an_answer(outcome="declined"))

    assert (await analytics.stats()).checked == Checked(
        sentences=6, cited=5, supported=5, removed=1, dropped_citations=2
    )


async def test_a_question_answered_twice_counts_once_and_as_its_last_answer(analytics: Analytics) -> None:
    await analytics.record("q1", an_answer(outcome="unavailable", rewritten="a", rewrite_ms=5))
    await analytics.record("q1", an_answer(outcome="answered"))
    stats = await analytics.stats()
    assert (stats.questions, stats.unavailable, stats.rewritten, stats.mean_rewrite_ms) == (1, 0, 0, None)


async def test_a_user_has_one_vote_on_an_answer_and_may_change_it(analytics: Analytics) -> None:
    votes = [await analytics.feedback("q1", "U1", vote) for vote in ("good", "good", "bad", "bad")]
    assert votes == [True, False, True, False]
    stats = await analytics.stats()
    assert (stats.positive, stats.negative) == (0, 1)


async def test_a_vote_is_kept_with_the_question_the_rewrite_and_the_sources(analytics: Analytics) -> None:
    await analytics.record("q1", an_answer(rewritten="How much leave in 2026?"))
    await analytics.feedback("q1", "U1", "bad")
    kept = await analytics.one_asked("q1")
    assert kept is not None
    assert kept.votes == {"U1": "bad"}
    assert (kept.record.question, kept.record.rewritten) == ("How much leave?", "How much leave in 2026?")
    assert [(used.title, used.url, used.score) for used in kept.record.sources] == [
        ("Leave", "https://kb/leave#annual", 0.8)
    ]


async def test_what_people_wrote_expires(analytics: Analytics, redis: Redis, namespace: str) -> None:
    await analytics.record("q1", an_answer())
    await analytics.feedback("q1", "U1", "good")
    await analytics.save_trace("q1", {"query": "How much leave?"})
    seconds = KEEP.total_seconds()
    for kind in ("answer", "votes", "trace"):
        assert seconds - 60 < await redis.ttl(f"{{{namespace}}}:analytics:{kind}:q1") <= seconds
    for kind in ("counts", "times", "asked"):
        kept = await redis.dump(f"{{{namespace}}}:analytics:{kind}")
        assert kept is not None
        assert b"leave" not in kept


async def test_a_deleted_message_takes_its_texts_with_it(analytics: Analytics) -> None:
    await analytics.record("q1", an_answer())
    await analytics.save_trace("q1", {"query": "How much leave?"})
    await analytics.feedback("q1", "U1", "good")
    await analytics.forget("q1")
    assert await analytics.one_asked("q1") is None
    assert await analytics.load_trace("q1") is None
    assert (await analytics.stats()).questions == 1


async def test_a_trace_comes_back_as_it_was_until_it_expires(
    analytics: Analytics, redis: Redis, namespace: str
) -> None:
    payload = {"query": "Wat is “houtmulch”?", "scores": [0.25, None], "anchors": {}}
    await analytics.save_trace("q1", payload, timedelta(minutes=5))
    assert await analytics.load_trace("q1") == payload
    assert 0 < await redis.ttl(f"{{{namespace}}}:analytics:trace:q1") <= 300
    assert await analytics.load_trace("q2") is None


async def test_the_list_of_times_is_bounded_and_keeps_the_latest(
    analytics: Analytics, redis: Redis, namespace: str
) -> None:
    await redis.rpush(f"{{{namespace}}}:analytics:times", *[9999.0] * (REMEMBERED_TIMES + 50))
    for number in range(3):
        await analytics.record(f"q{number}", an_answer(total_ms=1.0))
    times = await redis.lrange(f"{{{namespace}}}:analytics:times", 0, -1)
    assert len(times) == REMEMBERED_TIMES
    assert [float(time) for time in times[:4]] == [1.0, 1.0, 1.0, 9999.0]


@pytest.mark.parametrize(("share", "expected"), [(0.5, 10.0), (0.95, 19.0), (1.0, 20.0), (0.0, 1.0)])
def test_a_percentile_is_the_nearest_rank(share: float, expected: float) -> None:
    assert percentile([float(n) for n in range(1, 21)], share) == expected


async def test_tokens_are_kept_over_restarts_and_added_once(redis: Redis, namespace: str) -> None:
    used = {"qwen3:8b": ModelUsage(calls=1, input_tokens=100, cache_read_tokens=10)}
    first = Analytics(redis, namespace, usage=lambda: used)
    await asyncio.gather(first.record("q1", an_answer()), first.record("q2", an_answer()))
    used["qwen3:8b"] += ModelUsage(calls=1, input_tokens=50)
    used["small"] = ModelUsage(calls=1)
    assert (await first.stats()).models == used
    restarted = Analytics(redis, namespace, usage=lambda: {"small": ModelUsage(calls=2)})
    await restarted.record("q3", an_answer())

    models = (await restarted.stats()).models
    assert models["qwen3:8b"] == ModelUsage(calls=2, input_tokens=150, cache_read_tokens=10)
    assert models["small"].calls == 3


async def test_tokens_wait_for_a_store_that_is_down(tmp_path: Path, redis: Redis, namespace: str) -> None:
    async with connect_redis(str(tmp_path / "nobody.sock")) as nobody:
        analytics = Analytics(nobody, namespace, usage=lambda: {"small": ModelUsage(calls=2)})
        with pytest.raises(StoreUnavailableError):
            await analytics.stats()
        with pytest.raises(StoreUnavailableError):
            await analytics.stats()
    assert (await Analytics(redis, namespace).stats()).models == {}


async def test_a_judge_is_counted_once_a_question(analytics: Analytics) -> None:
    trace = Trace(rewrite=Rewrite(query="q"), judge="late")
    await analytics.record("q1", an_answer(trace=trace))
    await analytics.record("q1", an_answer(trace=replace(trace, judge="judged")))
    await analytics.record("q2", an_answer())

    told = (await analytics.stats()).judge
    assert {status: count for status, count in told.items() if count} == {"judged": 1}


async def test_an_outage_is_told_as_one(tmp_path: Path) -> None:
    async with connect_redis(str(tmp_path / "nobody.sock")) as redis:
        analytics = Analytics(redis, "test")
        for call in (analytics.stats(), analytics.record("q1", an_answer()), analytics.load_trace("q1")):
            with pytest.raises(StoreUnavailableError):
                await call


async def test_the_languages_of_the_latest_questions_are_remembered_once_each_and_small_talk_is_none(
    analytics: Analytics,
) -> None:
    await analytics.record("q1", an_answer(language="nl"))
    await analytics.record("q1", an_answer(language="nl", outcome="declined"))
    await analytics.record("q2", an_answer(language="de", outcome="chat"))
    await analytics.count_language("fr")
    await analytics.record("q3", an_answer(outcome="unavailable"))
    assert await analytics.latest_languages() == ["en", "fr", "nl"]
    assert (await analytics.stats()).questions == 3


async def test_no_more_languages_are_kept_than_are_looked_at(analytics: Analytics, redis: Redis) -> None:
    for number in range(LATEST):
        await analytics.record(f"q{number}", an_answer(language="nl"))
    await analytics.record("last", an_answer(language="de"))
    await analytics.count_language("fr")
    languages = await analytics.latest_languages()
    assert (len(languages), languages[:3]) == (LATEST, ["fr", "de", "nl"])
    (key,) = await redis.keys("*:languages")
    assert await redis.llen(key) == LATEST
