"""A flood of replies: what cannot concern us costs a prefilter, what may is
put aside, and what speaks to us goes first.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.listening.thread_reads import BURST
from bot.playground import SlackLimits
from kb.config.slack_settings import FollowUps
from kb.models import ThreadKey, Turn
from tests.bot.edge.test_http import status
from tests.bot.edge.test_thread_reads import (
    HOW_MANY,
    all_acknowledged,
    delivered,
    looks,
    put_aside,
    reply,
    reply_to_nothing,
    told,
)
from tests.fakes.office import Office, backend_of, open_office
from tests.fakes.slack_events import bot, changed, deleted, mention, put, send

BUSY, IDLE = (lambda: True), (lambda: False)
Made = Callable[[Office], dict[str, Any]]


@pytest.fixture
def limits() -> SlackLimits:
    """More time than Slack gives, for machines that are slow."""
    return SlackLimits(rate_limited=False, ack_timeout_s=20.0, retry_delays_s=(0.0, 0.05, 0.05))


def event_of(event: dict[str, Any]) -> dict[str, Any]:
    return {"type": "event_callback", "event": event}


def a_reply(office: Office, text: str = HOW_MANY, **changes: Any) -> dict[str, Any]:
    return {**reply_to_nothing(office, "1600000000.000001"), "text": text, **changes}


async def test_in_a_flood_of_replies_all_are_acknowledged_and_a_mention_is_answered(
    either_office: Office,
) -> None:
    office = either_office
    for n in range(300):
        send(office, reply_to_nothing(office, f"1600000{n:03}.000001"))
        if n == 150:
            asked = put(office, "#general", user="U0ALICE", text=f"{bot(office)} {HOW_MANY}")
            send(office, mention(office, "#general", asked))
    await office.slack.wait_for(lambda: office.knowledge.asked, timeout=30)
    await delivered(office, 301)
    assert all_acknowledged(office)
    assert not any(one.attempt for one in office.slack.deliveries)
    assert looks(office) <= BURST + 5
    aside = await put_aside(office)
    assert 0 < aside <= 300
    assert office.edge.activity.events >= 301
    await office.slack.wait_for(lambda: office.replies("#general", asked["ts"]), timeout=30)
    assert len(office.knowledge.asked) == 1


async def test_a_follow_up_in_our_thread_is_answered_in_a_flood(either_office: Office) -> None:
    office = either_office
    root = await office.ask("bram", "#general", f"@footnote {HOW_MANY}")
    await office.answers("#general", root)
    for n in range(200):
        send(office, reply_to_nothing(office, f"1600000{n:03}.000001"))
    send(office, reply(office, root, "And how many weeks of parental leave do I get?"))
    await office.slack.wait_for(lambda: len(office.knowledge.asked) == 2, timeout=30)
    await delivered(office, 203)
    assert all_acknowledged(office)


@pytest.mark.usefixtures("soon")
async def test_what_was_put_aside_in_a_flood_is_answered_later_where_it_is_ours(redis: Redis) -> None:
    async with open_office(redis, SlackLimits(rate_limited=False, ack_timeout_s=20.0)) as office:
        root = await office.ask("bram", "#general", f"@footnote {HOW_MANY}")
        await office.answers("#general", root)
        follow_up = reply(office, root, "And how many weeks of parental leave do I get?")
        me = await office.edge.wiring.people.me()
        thread = ThreadKey(team=me.team_id, channel=follow_up["channel"], thread=root)
        turns = await office.conversations.load(thread)
        for turn in turns:
            await office.conversations.forget(thread, turn.question_ts or "")  # as after a year
        await office.redis.delete(f"{{{office.namespace}}}:left-threads")
        seen = await office.edge.app.prefilter.judge(event_of(follow_up), busy=BUSY)
        assert seen == "settled"
        assert await put_aside(office) == 1
        await office.slack.wait_for(lambda: len(office.knowledge.asked) == 2, timeout=30)
        await office.answers("#general", root, 2)


FIRST: dict[str, Made] = {
    "a mention": lambda office: told(put(office, "#general", user="U0BRAM", text=f"{bot(office)} hi")),
    "a mention with a name": lambda office: a_reply(office, f"{bot(office)[:-1]}|footnote> {HOW_MANY}"),
    "app_mention": lambda office: mention(office, "#general", put(office, "#general", user="U1", text="x")),
    "a direct message": lambda office: a_reply(office, channel="D1", channel_type="im"),
    "Home": lambda _: {"type": "app_home_opened", "user": "U0BRAM", "tab": "home"},
}
OTHER: dict[str, Made] = {
    "our message's thread": lambda office: a_reply(office, parent_user_id=bot(office)[2:-1]),
    "an edit": lambda office: changed(office, "#general", {"user": "U1", "text": "x", "ts": "1.0"}),
    "a deletion": lambda office: deleted(office, "#general", {"user": "U1", "text": "x", "ts": "1.0"}),
    "a bot": lambda office: a_reply(office, bot_id="B1"),
    "a form": lambda office: a_reply(office, user=None, bot_id="B1", subtype="bot_message"),
    "a workflow": lambda office: a_reply(office, bot_profile={"is_workflow_bot": True}),
    "our own": lambda office: a_reply(office, user=bot(office)[2:-1]),
    "no channel type": lambda office: a_reply(office, channel_type=""),
    "no timestamp": lambda office: a_reply(office, ts="yesterday"),
    "no text": lambda office: a_reply(office, text=7),
}
NO_EVENTS: list[dict[str, Any]] = [
    {"type": "block_actions", "actions": []}, {"type": "view_submission"}, {"command": "/kb", "text": "x"},
    {"type": "url_verification", "challenge": "c"}, {"type": "event_callback", "event": None}, {},
]  # fmt: skip


async def test_what_may_be_for_us_is_never_settled_however_much_there_is_to_do(
    redis: Redis, limits: SlackLimits
) -> None:
    async with open_office(redis, limits, working=False) as office:
        prefilter = office.edge.app.prefilter
        for name, made in FIRST.items():
            assert await prefilter.judge(event_of(made(office)), busy=BUSY) == "first", name
        for name, made in OTHER.items():
            assert await prefilter.judge(event_of(made(office)), busy=BUSY) == "other", name
        for body in NO_EVENTS:
            assert await prefilter.judge(body, busy=BUSY) == "first", body
        me = await office.edge.wiring.people.me()
        thread = ThreadKey(team=me.team_id, channel="C0GENERAL", thread="1600000000.000001")
        await office.conversations.append(thread, Turn(question="x", answer="y"))
        await backend_of(office).known_threads.note(thread, "not ours")
        assert await prefilter.judge(event_of(a_reply(office)), busy=BUSY) == "other"
        assert await put_aside(office) == 0


async def test_what_cannot_concern_us_is_settled_and_noted(redis: Redis, limits: SlackLimits) -> None:
    async with open_office(redis, limits, working=False) as office:
        prefilter = office.edge.app.prefilter
        me = await office.edge.wiring.people.me()
        await backend_of(office).known_threads.note(
            ThreadKey(team=me.team_id, channel="C0GENERAL", thread="1500000000.000001"), "not ours"
        )
        await backend_of(office).known_threads.note(
            ThreadKey(team=me.team_id, channel="C0GENERAL", thread="1500000000.000002"), "gone"
        )
        for event in (
            told({"type": "message", "ts": "1700000000.000001", "user": "U0BRAM", "text": HOW_MANY}),
            a_reply(office, thread_ts="1500000000.000001"),
            a_reply(office, thread_ts="1500000000.000002", subtype="file_share"),
            a_reply(office, f"<@U0ALICE> {HOW_MANY}"),
            a_reply(office, "<!here> lunch?"),
        ):
            assert await prefilter.judge(event_of(event), busy=IDLE) == "settled", event
        assert office.edge.activity.events == 5
        assert await put_aside(office) == 0
        assert await prefilter.judge(event_of(a_reply(office)), busy=IDLE) == "other"
        assert await prefilter.judge(event_of(a_reply(office)), busy=BUSY) == "settled"
        assert await put_aside(office) == 1


@pytest.mark.parametrize(("follow_ups", "unasked"), [("mention", False), ("auto", True)])
async def test_a_glance_goes_by_the_channels_settings(
    redis: Redis, limits: SlackLimits, follow_ups: FollowUps, unasked: bool
) -> None:
    async with open_office(redis, limits, working=False) as office:
        settings = await office.channel_settings.of("C0GENERAL")
        await office.channel_settings.save(
            "C0GENERAL", settings.model_copy(update={"follow_ups": follow_ups, "unasked": unasked}), by="U1"
        )
        prefilter = office.edge.app.prefilter
        start = told({"type": "message", "ts": "1700000000.000001", "user": "U0BRAM", "text": HOW_MANY})
        assert await prefilter.judge(event_of(start), busy=BUSY) == ("other" if unasked else "settled")
        seen = await prefilter.judge(event_of(a_reply(office)), busy=IDLE)
        assert seen == ("settled" if follow_ups == "mention" else "other")
        assert await put_aside(office) == 0


async def test_so_many_unknown_threads_a_second_are_judged_the_rest_is_put_aside(
    redis: Redis, limits: SlackLimits
) -> None:
    async with open_office(redis, limits, working=False) as office:
        prefilter = office.edge.app.prefilter
        # All within one moment, however long it takes here.
        moment = time.monotonic()
        prefilter._judged.clock = lambda: moment
        events = [event_of(a_reply(office, thread_ts=f"1600000{n:03}.000001")) for n in range(400)]
        seen = await asyncio.gather(*(prefilter.judge(event, busy=IDLE) for event in events))
        assert 100 <= seen.count("other") < 300
        assert await put_aside(office) == 400 - seen.count("other")


async def test_over_http_what_cannot_be_taken_is_503_and_comes_again(
    redis: Redis, limits: SlackLimits
) -> None:
    async with open_office(redis, limits, "http", working=False) as office:
        asked = put(office, "#general", user="U0ALICE", text=f"{bot(office)} {HOW_MANY}")
        body = json.dumps(
            {
                "type": "event_callback",
                "event_id": "Ev1",
                "event": mention(office, "#general", asked),
                "authorizations": [],
            }
        )
        office.queue.outages = 1
        assert await status(office, body) == 503
        assert await status(office, body) == 200
        assert await status(office, body) == 200  # sent again
        assert (await office.queue.queue.depth()).waiting == 1


async def test_a_follow_up_is_put_aside_though_strangers_fill_the_room_for_it(
    redis: Redis, limits: SlackLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.listening.deferred_messages.MOST", 20)
    async with open_office(redis, limits) as office:
        root = await office.ask("bram", "#general", f"@footnote {HOW_MANY}")
        await office.answers("#general", root)
        office.slack.faults.add("conversations.replies", error="internal_error", times=3)
        for n in range(60):
            send(office, reply_to_nothing(office, f"1600000{n:03}.000001"))
        await delivered(office, 62)
        send(office, reply(office, root, "And how many weeks of parental leave do I get?"))
        await office.slack.wait_for(lambda: len(office.knowledge.asked) == 2, timeout=60)


async def test_a_follow_up_to_what_is_not_answered_yet_is_none_of_a_flood(
    redis: Redis, limits: SlackLimits
) -> None:
    async with open_office(redis, limits, working=False) as office:
        asked = put(office, "#general", user="U0ALICE", text="We had a talk.")["ts"]
        await office.ask("bram", "#general", f"@footnote {HOW_MANY}", asked)
        await office.accepted(1)
        event = reply(office, asked, "And how many weeks of parental leave do I get?")
        assert await office.edge.app.prefilter.judge(event_of(event), busy=BUSY) == "other"
