"""Looks into threads that we may not be in: one for each, none for what
is gone, and nothing lost when Slack refuses.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any, cast

import pytest
from redis.asyncio import Redis

from bot.listening.deferred_messages import FIRST_S, DeferredMessage, DeferredMessages, DeferredWorker
from bot.listening.thread_reads import BURST, ThreadReads
from bot.playground import SlackLimits
from kb.models import ThreadKey
from kb.runtime.tasks import cancelled
from tests.fakes.office import Office, a_bot, backend_of, open_office, wall_clock
from tests.fakes.slack_events import bot, mention, put, send

HOW_MANY = "How many days of holiday do I get?"
LASTING = [
    "thread_not_found",
    "channel_not_found",
    "message_not_found",
    "missing_scope",
    "not_in_channel",
    "is_archived",
]
PASSING: list[dict[str, Any]] = [
    {"retry_after": 1}, {"error": "internal_error"}, {"error": "fatal_error"}, {"status": 502}, {"drop": True},
    {"error": "token_revoked"}, {"error": "ratelimited"},
]  # fmt: skip


@pytest.fixture
def limits() -> SlackLimits:
    """More time than Slack gives, for machines that are slow."""
    return SlackLimits(rate_limited=False, ack_timeout_s=10.0, retry_delays_s=(0.0, 0.05, 0.05))


def looks(office: Office) -> int:
    return len(office.calls("conversations.replies"))


async def delivered(office: Office, count: int) -> None:
    await office.slack.wait_for(lambda: len(office.slack.deliveries) >= count, timeout=30)


def all_acknowledged(office: Office) -> bool:
    return {one.outcome for one in office.slack.deliveries} == {"acknowledged"}


def reply(office: Office, root: str, text: str = HOW_MANY, user: str = "U0BRAM") -> dict[str, Any]:
    """The event of a reply, of which nothing else is sent."""
    return told(put(office, "#general", user=user, text=text, thread_ts=root))


def reply_to_nothing(office: Office, root: str) -> dict[str, Any]:
    ts = office.slack._state.next_ts()
    return told({"type": "message", "ts": ts, "user": "U0BRAM", "text": HOW_MANY, "thread_ts": root})


def told(made: dict[str, Any]) -> dict[str, Any]:
    return {**made, "channel": "C0GENERAL", "channel_type": "channel", "event_ts": made["ts"]}


async def put_aside(office: Office) -> int:
    return await DeferredMessages(office.redis, namespace=office.namespace, clock=wall_clock).waiting()


async def test_many_questions_in_threads_without_us_cost_one_look_a_thread(redis: Redis) -> None:
    async with open_office(redis, SlackLimits(ack_timeout_s=10.0), working=False) as office:
        roots = [put(office, "#general", user="U0ALICE", text="We had a talk.")["ts"] for _ in range(10)]
        for n in range(120):
            send(office, reply(office, roots[n % 10]))
        await delivered(office, 120)
        assert 1 <= looks(office) <= 10  # in a flood a thread's replies may all have been put aside
        assert len(office.slack.deliveries) == 120
        assert all_acknowledged(office)
        async with a_bot(office):  # its next life
            for root in roots:
                send(office, reply(office, root))
            await office.settled()
        assert looks(office) == 10
        assert (await office.queue.queue.depth()).waiting == 0


@pytest.mark.parametrize("code", LASTING)
async def test_a_thread_that_slack_does_not_show_is_acknowledged_and_asked_for_once(
    office: Office, code: str
) -> None:
    office.slack.faults.add("conversations.replies", error=code, times=99)
    root = put(office, "#general", user="U0ALICE", text="We had a talk.")["ts"]
    for _ in range(3):
        send(office, reply(office, root))
        await office.settled()
    assert looks(office) == 1
    assert all_acknowledged(office)
    assert await put_aside(office) == 0


async def test_a_reply_to_a_message_that_is_not_there_is_acknowledged(office: Office) -> None:
    for n in range(4):
        send(office, reply_to_nothing(office, f"170000000{n}.000001"))
    await office.settled()
    assert all_acknowledged(office)
    assert looks(office) == 4


@pytest.mark.parametrize("how", ["event", "edit", "twice"])
async def test_where_we_are_mentioned_later_we_are_heard(office: Office, how: str) -> None:
    root = await office.ask("alice", "#general", "We had a talk.")
    asked = await office.ask("bram", "#general", HOW_MANY, root)
    await office.settled()
    assert office.knowledge.asked == []
    if how == "edit":
        await office.slack.edit("bram", "#general", asked, f"@footnote {HOW_MANY}")
    else:
        await office.ask("bram", "#general", f"@footnote {HOW_MANY}", root)
    await office.answers("#general", root)
    await office.ask("bram", "#general", "And how many weeks of parental leave do I get?", root)
    await office.answers("#general", root, 2)
    assert len(office.knowledge.asked) == 2


async def test_a_look_that_ends_after_a_mention_does_not_make_us_deaf(office: Office) -> None:
    root = put(office, "#general", user="U0ALICE", text="We had a talk.")["ts"]
    office.knowledge.hold = asyncio.Event()
    key = ThreadKey(team="T0HAVIK", channel="C0GENERAL", thread=root)
    await office.ask("bram", "#general", f"@footnote {HOW_MANY}", root)
    await office.slack.wait_for(lambda: office.knowledge.asked)
    known = backend_of(office).known_threads
    await known.note(key, "not ours")  # a look that was begun before
    await known.note(key, "gone")
    assert await known.of(key) == "ours"
    office.knowledge.hold.set()


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("fault", PASSING, ids=str)
async def test_when_slack_refuses_a_look_for_now_the_question_is_answered_a_little_later(
    office: Office, fault: dict[str, Any]
) -> None:
    root = await office.ask("bram", "#general", f"@footnote {HOW_MANY}")
    await office.answers("#general", root)
    office.slack.faults.add(
        "conversations.replies", **fault, times=2 if "drop" in fault else 1
    )  # tried twice
    await office.ask("bram", "#general", "And how many weeks of parental leave do I get?", root)
    await office.slack.wait_for(lambda: looks(office))
    await office.slack.wait_for(lambda: len(office.knowledge.asked) == 2, timeout=20)
    await office.answers("#general", root, 2)
    assert await put_aside(office) == 0
    assert all_acknowledged(office)


@pytest.mark.usefixtures("soon")
async def test_what_was_put_aside_outlives_the_bot_and_is_answered_once_by_two(office: Office) -> None:
    root = await office.ask("bram", "#general", f"@footnote {HOW_MANY}")
    await office.answers("#general", root)
    office.slack.faults.add("conversations.replies", retry_after=30)
    follow_up = reply(office, root, "And how many weeks of parental leave do I get?")
    send(office, follow_up)
    await office.slack.wait_for(lambda: looks(office))
    await office.edge.close()
    assert await put_aside(office) == 1
    async with a_bot(office), a_bot(office):
        await office.slack.wait_for(lambda: len(office.knowledge.asked) == 2, timeout=20)
        await office.answers("#general", root, 2)
    assert len(office.knowledge.asked) == 2


@pytest.mark.usefixtures("soon")
async def test_a_bot_that_stops_while_it_judges_a_message_leaves_it_to_the_next_at_once(redis: Redis) -> None:
    deferred = DeferredMessages(redis, namespace="t", clock=wall_clock)
    place = deferred.place(channel="C0GENERAL", channel_type="channel", thread_ts="1.0", ts="2.0")
    await deferred.add(place)
    judging = asyncio.Event()

    async def judge(_place: DeferredMessage) -> None:
        judging.set()
        await asyncio.Event().wait()

    worker = DeferredWorker(deferred=deferred, judge=judge, thread_reads=ThreadReads(threads=cast(Any, None)))
    running = asyncio.create_task(worker.run())
    await asyncio.wait_for(judging.wait(), 30)
    assert await deferred.take() is None, "it is reserved"
    await cancelled(running)
    assert await deferred.take() == place


async def test_while_slack_refuses_it_is_not_asked_again_for_every_message(office: Office) -> None:
    office.slack.faults.add("conversations.replies", retry_after=60, times=99)
    for n in range(40):
        send(office, reply_to_nothing(office, f"17000000{n:02}.000001"))
    await delivered(office, 40)
    assert looks(office) <= 8
    assert all_acknowledged(office)
    assert await put_aside(office) == 40


async def test_of_many_threads_so_many_are_looked_at_as_leave_slack_room_for_answers(office: Office) -> None:
    roots = [put(office, "#general", user="U0ALICE", text="We had a talk.")["ts"] for _ in range(2 * BURST)]
    for root in roots:
        send(office, reply(office, root))
    await delivered(office, len(roots))
    assert looks(office) <= BURST + 2
    assert all_acknowledged(office)
    assert await put_aside(office) >= BURST - 2
    send(
        office,
        mention(
            office, "#general", put(office, "#general", user="U0ALICE", text=f"{bot(office)} {HOW_MANY}")
        ),
    )
    await office.slack.wait_for(lambda: office.knowledge.asked)


async def test_an_edited_reply_is_read_in_its_thread_once_for_all_its_versions(office: Office) -> None:
    root = await office.ask("bram", "#general", f"@footnote {HOW_MANY}")
    await office.answers("#general", root)
    follow_up = await office.ask("bram", "#general", "And how many weeks?", root)
    await office.answers("#general", root, 2)
    before = looks(office)
    office.knowledge.hold = asyncio.Event()
    for n in range(20):
        await office.slack.edit("bram", "#general", follow_up, f"And how many weeks in {2000 + n}?")
    await office.slack.wait_for(lambda: len(office.slack.deliveries) >= 23)
    assert looks(office) - before <= 3
    office.knowledge.hold.set()
    await office.settled()
    assert office.knowledge.asked[-1][0].text == "And how many weeks in 2019?"


async def test_messages_put_aside_are_bounded_taken_by_one_and_dropped_when_old(
    redis: Redis, namespace: str
) -> None:
    now = [wall_clock()]
    unread = DeferredMessages(redis, namespace=namespace, clock=lambda: now[0])

    def at(ts: str, *, ours: bool = False) -> DeferredMessage:
        return unread.place(channel="C1", channel_type="channel", thread_ts="1.0", ts=ts, ours=ours)

    assert await unread.add(at("2.0"))
    assert await unread.take() is None
    now[0] += timedelta(seconds=FIRST_S)
    place = await unread.take()
    assert place is not None
    assert await unread.take() is None
    now[0] += timedelta(minutes=2)
    assert await unread.take() == place  # whoever took it died
    assert await unread.postpone(place)
    now[0] += timedelta(minutes=10)
    assert not await unread.postpone(place)
    assert await unread.waiting() == 0
    ours = at("3.0", ours=True)
    assert await unread.add(ours)
    now[0] += timedelta(minutes=29)
    assert await unread.postpone(ours)
    now[0] += timedelta(minutes=2)
    assert not await unread.postpone(ours)
    assert await unread.waiting() == 0
    assert all(await unread.add_all([at(f"{n}.0") for n in range(2_000)]))
    assert not await unread.add(at("x"))
    assert await unread.add_all([at("y"), at("z", ours=True)]) == [False, True]
