"""What is kept of quoted answers stays as much as 30 days bring, however long the bot runs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from redis.asyncio import Redis

from bot.questions.cited_answers import CitedAnswer, CitedAnswers, QuotedPage

PAGE = "handbook:leave.md"


@pytest.fixture
def cited(redis: Redis, namespace: str) -> CitedAnswers:
    return CitedAnswers(redis, namespace=namespace)


def an_answer(number: int, *pages: str) -> CitedAnswer:
    return CitedAnswer(
        question_id=f"T1-C1-{number}.0",
        version=f"T1-C1-{number}.0",
        channel="C1",
        thread_ts=f"{number}.0",
        question_ts=f"{number}.0",
        user="U1",
        answered_at=datetime(2026, 11, 29, tzinfo=UTC) + timedelta(minutes=number),
        language="en",
        pages=tuple(
            QuotedPage(page_id=page, revision="r1", url="https://x.example") for page in pages or (PAGE,)
        ),
    )


async def outlived(redis: Redis, namespace: str, *numbers: int) -> None:
    """As if those answers had been given more than 30 days ago."""
    await redis.delete(*(f"{{{namespace}}}:cited:answer:T1-C1-{number}.0" for number in numbers))


async def test_of_a_page_that_is_quoted_all_the_time_outdated_answers_do_not_pile_up(
    cited: CitedAnswers, redis: Redis, namespace: str
) -> None:
    for number in range(150):
        await cited.remember(an_answer(number))
        if number >= 20:
            await outlived(redis, namespace, number - 20)
    assert 20 <= len((await cited.by_page())[PAGE]) <= 60


async def test_what_is_still_kept_stays_on_each_of_its_pages(cited: CitedAnswers) -> None:
    other = "handbook:pay.md"
    for number in range(50):
        await cited.remember(an_answer(number, PAGE, other))
    assert {page: len(questions) for page, questions in (await cited.by_page()).items()} == {
        PAGE: 50,
        other: 50,
    }
