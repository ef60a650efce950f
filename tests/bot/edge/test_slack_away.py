"""Slack is away for a while, in every way that it can be: questions wait, and are answered once, in their order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.playground import SlackLimits
from bot.queue.dead_letters import DeadLetters
from bot.queue.placeholder_cleanup import PlaceholderCleanup
from tests.fakes.office import NOW, Office, a_bot, open_office
from tests.fakes.slack_outages import OUTAGES, PAGE
from tests.fakes.waiting import until

ASKED = "@footnote How many days of holiday do I get?"


@pytest.fixture
async def office(redis: Redis, limits: SlackLimits) -> AsyncIterator[Office]:
    """Its pauses are short: the longest is a twentieth of a second, also where Slack asks for two minutes."""
    async with open_office(redis, limits, longest_wait_s=0.05) as running:
        yield running


def every_call(office: Office, fault: dict[str, Any]) -> None:
    office.slack.faults.add("*", **fault, times=1_000_000)


async def waited(office: Office, count: int) -> None:
    """Until the handler has been told `count` times that it is not now."""
    calls = len(office.slack.calls)
    await office.slack.wait_for(lambda: len(office.slack.calls) >= calls + count, timeout=20)


def letters(office: Office) -> DeadLetters:
    return DeadLetters(office.redis, namespace=office.namespace)


@pytest.mark.parametrize("fault", OUTAGES.values(), ids=OUTAGES)
async def test_what_is_asked_while_slack_is_away_is_answered_once_and_in_order(
    office: Office, fault: dict[str, Any]
) -> None:
    root = await office.ask("alice", "#general", ASKED)
    await office.answers("#general", root)
    await office.stop_working()
    first = await office.ask("alice", "#general", "@footnote and for interns?", root)
    second = await office.ask("alice", "#general", "@footnote and in Ghent?", root)
    other = await office.ask("bram", "#general", "@footnote What is the warranty?")
    await office.accepted(4)
    every_call(office, fault)
    office.start_working()
    await waited(office, 12)
    office.slack.faults.clear()
    assert len(await office.answers("#general", root, 3)) == 3
    assert len(await office.answers("#general", other)) == 1
    order = [one["metadata"]["event_payload"]["question_ts"] for one in office.replies("#general", root)]
    assert order == [root, first, second]
    assert await letters(office).all() == []


@pytest.mark.parametrize("fault", OUTAGES.values(), ids=OUTAGES)
@pytest.mark.parametrize("done", [False, True], ids=["not done", "done all the same"])
async def test_one_odd_reply_to_the_post_posts_nothing_twice(
    office: Office, fault: dict[str, Any], done: bool
) -> None:
    if done and ("retry_after" in fault or fault.get("status") == 429):
        pytest.skip("what is limited is not done")
    office.slack.faults.add("chat.postMessage", **fault, after=done)
    ts = await office.ask("alice", "#general", ASKED)
    (answer,) = await office.answers("#general", ts)
    assert answer["text"].startswith("About:")


@pytest.mark.parametrize("fault", OUTAGES.values(), ids=OUTAGES)
async def test_odd_replies_to_a_status_cost_nothing(office: Office, fault: dict[str, Any]) -> None:
    office.slack.faults.add("assistant.threads.setStatus", **fault, times=9)
    ts = await office.ask("alice", "#general", ASKED)
    (answer,) = await office.answers("#general", ts)
    assert answer["text"].startswith("About:")
    assert len(office.knowledge.asked) == 1


@pytest.mark.parametrize("fault", [OUTAGES["HTML 502"], OUTAGES["an empty body"], OUTAGES["a text with 200"]])
async def test_odd_replies_to_what_takes_a_placeholder_away_cost_nothing(
    office: Office, fault: dict[str, Any]
) -> None:
    office.slack.faults.add("assistant.threads.setStatus", error="unknown_method")
    office.slack.faults.add("chat.update", error="cant_update_message")
    office.slack.faults.add("chat.delete", **fault, after=True)
    ts = await office.ask("alice", "#general", ASKED)
    (answer,) = await office.answers("#general", ts)
    assert answer["text"].startswith("About:")
    assert len(office.knowledge.asked) == 1


@pytest.mark.parametrize("done", [False, True], ids=["not done", "done all the same"])
async def test_a_placeholder_of_which_nobody_knows_is_looked_for_and_not_left(
    office: Office, done: bool
) -> None:
    office.slack.faults.add("assistant.threads.setStatus", error="unknown_method", times=9)
    office.slack.faults.add("chat.postMessage", status=502, body=PAGE, after=done)
    ts = await office.ask("alice", "#general", ASKED)
    (answer,) = await office.answers("#general", ts)
    assert answer["text"].startswith("About:")
    assert len(office.knowledge.asked) == 1


async def test_a_fault_of_ours_that_looks_like_an_outage_is_no_outage(office: Office) -> None:
    office.knowledge.error = TimeoutError("the model")
    ts = await office.ask("alice", "#general", ASKED)
    (reply,) = await office.answers("#general", ts)
    assert reply["text"].startswith("Sorry, something went wrong")
    assert len(office.knowledge.asked) == 1


async def test_who_waited_for_too_long_is_told_so_in_one_sentence_when_slack_is_back(office: Office) -> None:
    office.slack.faults.add("assistant.threads.setStatus", error="unknown_method", times=9)
    office.knowledge.hold = asyncio.Event()
    ts = await office.ask("alice", "#general", ASKED)
    (placeholder,) = await office.slack.wait_for(lambda: office.replies("#general", ts))
    every_call(office, OUTAGES["HTML 503"])
    office.knowledge.hold.set()
    await waited(office, 3)
    later = office.settings.answer_within + timedelta(minutes=1)
    object.__setattr__(office.edge.handler, "clock", lambda: NOW + later)
    await waited(office, 3)
    office.slack.faults.clear()
    (told,) = await office.answers("#general", ts)
    assert told["text"] == "Sorry, I couldn't answer this in time; please ask again."
    assert told["ts"] == placeholder["ts"]
    asked = await office.ask("alice", "#general", "@footnote and for interns?", ts)
    object.__setattr__(office.edge.handler, "clock", lambda: NOW)
    replies = await office.answers("#general", ts, 2)
    assert replies[1]["metadata"]["event_payload"]["question_ts"] == asked


async def test_what_was_answered_before_slack_went_is_not_told_to_be_late(office: Office) -> None:
    office.slack.faults.add("chat.postMessage", drop=True, after=True)
    office.slack.faults.add("conversations.replies", error="internal_error", times=3)
    later = office.settings.answer_within + timedelta(minutes=1)
    ts = await office.ask("alice", "#general", ASKED)
    await office.slack.wait_for(lambda: office.replies("#general", ts))
    object.__setattr__(office.edge.handler, "clock", lambda: NOW + later)
    (answer,) = await office.answers("#general", ts)
    assert answer["text"].startswith("About:")


async def test_what_waits_survives_the_bot_and_is_tried_at_once_by_its_next_life(
    redis: Redis, limits: SlackLimits
) -> None:
    async with open_office(redis, limits, retry_s=600.0, longest_wait_s=600.0) as office:
        every_call(office, OUTAGES["a cut connection"])
        ts = await office.ask("alice", "#general", ASKED)
        await until(lambda: waiting(office))
        await office.stop_working()
        office.slack.faults.clear()
        async with a_bot(office):
            office.start_working()
            assert len(await office.answers("#general", ts)) == 1


async def waiting(office: Office) -> bool:
    return (await office.queue.queue.depth()).for_slack > 0


REFUSALS = [
    "token_revoked", "invalid_auth", "account_inactive", "not_authed", "is_archived", "channel_not_found", "not_in_channel",
    "restricted_action", "restricted_action_read_only_channel", "missing_scope", "cannot_reply_to_message",
]  # fmt: skip


@pytest.mark.parametrize("code", REFUSALS)
async def test_what_slack_will_never_take_is_a_dead_letter_and_no_placeholder_stays(
    office: Office, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    office.slack.faults.add("assistant.threads.setStatus", error="unknown_method", times=9)
    office.knowledge.hold = asyncio.Event()
    ts = await office.ask("alice", "#general", ASKED)
    await office.slack.wait_for(lambda: office.replies("#general", ts))
    for method in ("chat.update", "chat.postMessage"):
        office.slack.faults.add(method, error=code, times=9)
    office.knowledge.hold.set()
    await office.idle()
    assert office.replies("#general", ts) == []
    (letter,) = await letters(office).all()
    assert (letter.reason, letter.attempts) == (code, 1)
    assert letter.question is not None
    assert (letter.question.ts, letter.question.user) == (ts, "U0ALICE")
    assert "holiday" not in caplog.text


@pytest.mark.parametrize("code", ["token_revoked", "is_archived"])
async def test_a_placeholder_that_cannot_be_taken_away_goes_as_soon_as_it_can(
    office: Office, code: str
) -> None:
    office.slack.faults.add("assistant.threads.setStatus", error="unknown_method", times=9)
    office.knowledge.hold = asyncio.Event()
    ts = await office.ask("alice", "#general", ASKED)
    await office.slack.wait_for(lambda: office.replies("#general", ts))
    every_call(office, {"error": code})
    office.knowledge.hold.set()
    await office.idle()
    assert len(office.replies("#general", ts)) == 1
    cleanup = PlaceholderCleanup(letters(office), office.edge.handler.clean_up)
    await cleanup.look()
    assert len(office.replies("#general", ts)) == 1
    office.slack.faults.clear()
    await cleanup.look()
    assert office.replies("#general", ts) == []
    assert await letters(office).leftovers() == []
    assert len(await letters(office).all()) == 1


async def test_a_dead_letter_that_is_tried_again_is_answered_however_old_it_is(office: Office) -> None:
    office.slack.faults.add("chat.postMessage", error="is_archived")
    ts = await office.ask("alice", "#general", ASKED)
    await until(lambda: letters(office).all())
    (letter,) = await letters(office).all()
    later = office.settings.answer_within + timedelta(days=2)
    object.__setattr__(office.edge.handler, "clock", lambda: NOW + later)
    assert await letters(office).revive([letter.id]) == [letter.id]
    (answer,) = await office.answers("#general", ts)
    assert answer["text"].startswith("About:")
    assert await letters(office).all() == []
    assert await letters(office).revive([letter.id]) == []
    assert len(office.replies("#general", ts)) == 1


async def test_a_dead_letter_that_is_tried_again_by_several_at_once_is_answered_once(office: Office) -> None:
    office.slack.faults.add("chat.postMessage", error="is_archived")
    ts = await office.ask("alice", "#general", ASKED)
    await until(lambda: letters(office).all())
    (letter,) = await letters(office).all()
    office.knowledge.hold = asyncio.Event()
    revived = await asyncio.gather(*(letters(office).revive([letter.id]) for _ in range(8)))
    assert sum(map(len, revived)) == 1
    await office.slack.wait_for(lambda: len(office.knowledge.asked) == 2)
    assert await letters(office).revive([letter.id]) == []  # while it is answered
    office.knowledge.hold.set()
    await office.answers("#general", ts)
    assert len(office.replies("#general", ts)) == 1
    assert len(office.knowledge.asked) == 2


async def test_a_dead_letter_goes_with_its_message_and_with_its_edits(office: Office) -> None:
    office.slack.faults.add("chat.postMessage", error="is_archived", times=2)
    first = await office.ask("alice", "#general", ASKED)
    second = await office.ask("alice", "#general", "@footnote What is the warranty?")
    await until(lambda: two(office))
    await office.slack.delete("alice", "#general", first)
    await until(lambda: one_less(office))
    await office.slack.edit("alice", "#general", second, "@footnote What is the warranty on tools?")
    (answer,) = await office.answers("#general", second)
    assert answer["text"].startswith("About: What is the warranty on tools?")
    assert await letters(office).all() == []


async def two(office: Office) -> bool:
    return len(await letters(office).all()) == 2


async def one_less(office: Office) -> bool:
    return len(await letters(office).all()) == 1
