"""One edit is one event, in whatever order and shape Slack tells it; a deleted question takes its answer away."""

from __future__ import annotations

import asyncio
from copy import deepcopy
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.playground import SlackLimits
from kb.models import ThreadKey
from tests.fakes.office import Office, open_office
from tests.fakes.slack_events import bot, changed, deleted, mention, put, send, stored

DAYS = "How many days of holiday do I get?"


def words_asked(office: Office) -> list[str]:
    return [question.text for question, _ in office.knowledge.asked]


@pytest.mark.parametrize("attempt", range(3))
async def test_a_mention_added_by_an_edit_is_answered_once(office: Office, attempt: int) -> None:
    ts = await office.ask("alice", "#general", DAYS)
    await office.settled()
    await office.slack.edit("alice", "#general", ts, f"@footnote {DAYS}")
    await office.settled()
    assert words_asked(office) == [DAYS]
    assert len(office.replies("#general", ts)) == 1


@pytest.mark.parametrize("mention_first", [True, False])
@pytest.mark.parametrize("knows", [True, False], ids=["edited", "no edited"])
@pytest.mark.parametrize("waits", [True, False], ids=["answered between", "at once"])
async def test_the_events_of_one_edit_come_in_any_order(
    office: Office, mention_first: bool, knows: bool, waits: bool
) -> None:
    before = put(office, "#general", user="U0ALICE", text=DAYS)
    now = office.slack._state.next_ts()
    after = {**before, "text": f"{bot(office)} {DAYS}", "edited": {"user": "U0ALICE", "ts": now}}
    added = mention(office, "#general", after, event_ts=now)
    if not knows:
        del added["edited"]
    events = [changed(office, "#general", after, before), added]
    for event in events[::-1] if mention_first else events:
        send(office, event)
        if waits:
            await office.answers("#general", before["ts"])
    for event in events:  # redelivered
        send(office, event)
    await office.settled()
    assert words_asked(office) == [DAYS]
    assert len(office.replies("#general", before["ts"])) == 1


@pytest.mark.parametrize("whole", [True, False], ids=["with what was before", "without"])
@pytest.mark.parametrize("knows", [True, False], ids=["edited", "no edited"])
@pytest.mark.parametrize("place", ["#general", "dm"])
async def test_a_revision_without_new_words_is_nothing(
    office: Office, whole: bool, knows: bool, place: str
) -> None:
    ts = await office.ask("alice", place, f"@footnote {DAYS}")
    channel = office.slack.dm("alice") if place == "dm" else place
    await office.answers(channel, ts)
    message = stored(office, channel, ts)
    unfurl = {"from_url": "https://kb.example", "original_url": "https://kb.example", "text": "A page"}
    linked = {"is_msg_unfurl": True, "text": "Another message"}
    bold = {"text": message["text"].replace("holiday", "*holiday*").replace(" do", "\u200b do")}
    for added in ({}, {"attachments": [unfurl]}, {"attachments": [linked]}, {"reply_count": 1}, bold):
        revised: dict[str, Any] = {**deepcopy(message), **added}
        if knows:
            revised["edited"] = {"user": "U0ALICE", "ts": office.slack._state.next_ts()}
        send(office, changed(office, channel, revised, message if whole else None))
        await office.settled()
    assert words_asked(office) == [DAYS]
    assert len(office.calls("chat.update")) == 0


async def test_a_to_b_to_a_answers_a_again_and_late_events_are_nothing(office: Office) -> None:
    ts = await office.ask("alice", "#general", "@footnote What is A?")
    await office.answers("#general", ts)
    first = stored(office, "#general", ts)
    events = []
    for text in ("@footnote What is B?", "@footnote What is A?"):
        before = stored(office, "#general", ts)
        await office.slack.edit("alice", "#general", ts, text)
        events.append(changed(office, "#general", stored(office, "#general", ts), before))
        await office.settled()
    assert words_asked(office) == ["What is A?", "What is B?", "What is A?"]
    send(office, mention(office, "#general", first))
    for event in events:
        send(office, event)
    await office.settled()
    assert len(office.knowledge.asked) == 3
    (answer,) = office.replies("#general", ts)
    assert answer["text"].startswith("About: What is A?")


async def test_an_edit_changes_what_was_forwarded_or_attached(office: Office) -> None:
    ts = await office.ask("alice", "#general", "@footnote do you know?")
    await office.answers("#general", ts)
    before = stored(office, "#general", ts)
    shared = {"is_share": True, "text": DAYS}
    send(office, changed(office, "#general", {**before, "attachments": [shared]}, before))
    await office.settled()
    assert words_asked(office) == ["do you know?", DAYS]
    assert len(office.replies("#general", ts)) == 1


@pytest.mark.parametrize("order", ["21", "12", "210", "201", "120", "102", "0212", "2010"])
@pytest.mark.parametrize("stamps", ["apart", "one second", "event_ts alone"])
async def test_the_last_wording_wins_whatever_the_order_of_delivery(
    redis: Redis, limits: SlackLimits, order: str, stamps: str
) -> None:
    async with open_office(redis, limits, working="0" not in order) as office:
        made = put(office, "#general", user="U0ALICE", text=f"{bot(office)} What is 0?")
        second = int(made["ts"].partition(".")[0]) + 1
        versions = [made]
        for n in (1, 2):
            at = second + (n if stamps == "apart" else 0)
            text = f"{bot(office)} What is {n}?"
            versions.append({**made, "text": text, "edited": {"user": "U0ALICE", "ts": f"{at}.000000"}})
            if stamps == "event_ts alone":
                del versions[n]["edited"]
        events = [mention(office, "#general", made)]
        for n in (1, 2):
            told = changed(office, "#general", versions[n], versions[n - 1])
            told["ts"] = told["event_ts"] = f"{second + (n if stamps == 'apart' else 0)}.{n:06d}"
            events.append(told)
        if "0" not in order:
            send(office, events[0])
            await office.answers("#general", made["ts"])
        for count, n in enumerate(order, 1 + ("0" not in order)):
            send(office, events[int(n)])
            await office.slack.wait_for(lambda count=count: len(office.slack.deliveries) >= count)
        if "0" in order:
            office.start_working()
        await office.settled()
        assert words_asked(office)[-1] == "What is 2?"
        assert words_asked(office).count("What is 2?") == 1
        (answer,) = office.replies("#general", made["ts"])
        assert answer["text"].startswith("About: What is 2?")


async def test_an_edit_that_takes_the_mention_away_and_overtakes_its_message_wins(office: Office) -> None:
    made = put(office, "#general", user="U0ALICE", text=f"{bot(office)} How many days?")
    after = {**made, "text": "How many weeks?", "edited": {"user": "U0ALICE", "ts": made["ts"]}}
    send(office, changed(office, "#general", after, made))
    await office.settled()
    send(office, mention(office, "#general", made))
    await office.settled()
    assert words_asked(office) == ["How many weeks?"]


@pytest.mark.parametrize("place", ["#general", "dm"])
async def test_sixty_quick_edits_are_one_more_run_and_the_last_words_are_answered(
    redis: Redis, limits: SlackLimits, place: str
) -> None:
    """Where the machine takes longer between two of them than words have to stand, what stood is rightly asked."""
    settle_s, loop = 1.0, asyncio.get_running_loop()
    async with open_office(redis, limits, settle_s=settle_s) as office:
        channel = office.slack.dm("alice") if place == "dm" else place
        ts = await office.ask("alice", place, "@footnote What is version 0?")
        await office.answers(channel, ts)
        heard = [loop.time()]
        for n in range(1, 61):
            await office.slack.edit("alice", place, ts, f"@footnote What is version {n}?")
            if n % 5 == 0:
                await office.heard()
                heard.append(loop.time())
        await office.slack.wait_for(lambda: words_asked(office)[-1] == "What is version 60?", timeout=30)
        await office.settled()
        stood = sum(after - before >= settle_s for before, after in zip(heard, heard[2:], strict=False))
        assert len(words_asked(office)) <= 2 + stood
        assert words_asked(office)[0] == "What is version 0?"
        assert words_asked(office)[-1] == "What is version 60?"
        (answer,) = office.replies(channel, ts)
        assert answer["text"].startswith("About: What is version 60?")


async def test_an_edit_after_a_deletion_is_nothing_whichever_came_first(office: Office) -> None:
    for early in (False, True):
        made = put(office, "#general", user="U0ALICE", text=f"{bot(office)} What is A?")
        after = {**made, "text": f"{bot(office)} What is B?", "edited": {"user": "U0ALICE", "ts": made["ts"]}}
        gone = deleted(office, "#general", after)
        events = [mention(office, "#general", made), changed(office, "#general", after, made), gone]
        for event in events[::-1] if early else [events[0], gone, events[1]]:
            send(office, event)
            await office.settled()
        assert office.replies("#general", made["ts"]) == []
    assert words_asked(office) == ["What is A?"]


async def test_an_edit_while_it_is_answered_is_answered_too_in_the_same_message(office: Office) -> None:
    office.knowledge.hold = asyncio.Event()
    ts = await office.ask("alice", "#general", "@footnote How many days?")
    await office.slack.wait_for(lambda: office.knowledge.asked)
    for text in ("@footnote How many weeks?", "@footnote How many months?"):
        await office.slack.edit("alice", "#general", ts, text)
    await office.heard()
    office.knowledge.hold.set()
    await office.settled()
    assert words_asked(office) == ["How many days?", "How many months?"]
    (answer,) = office.replies("#general", ts)
    assert answer["text"].startswith("About: How many months?")


def kept(ts: str) -> ThreadKey:
    return ThreadKey(team="T0HAVIK", channel="C0GENERAL", thread=ts)


@pytest.mark.parametrize("whole", [True, False], ids=["with what was before", "without"])
async def test_a_deleted_question_takes_its_answer_away(office: Office, whole: bool) -> None:
    ts = await office.ask("alice", "#general", "@footnote My salary is 100, is that right?")
    await office.answers("#general", ts)
    event = deleted(office, "#general", stored(office, "#general", ts), whole=whole)
    for _ in range(2):  # redelivered
        send(office, event)
        await office.settled()
    assert office.replies("#general", ts) == []
    assert len(office.calls("chat.delete")) == 1
    assert await office.conversations.load(kept(ts)) == []
    assert await office.analytics.load_trace(f"T0HAVIK-C0GENERAL-{ts}") is None


async def test_an_answer_goes_when_its_question_in_a_thread_is_deleted(office: Office) -> None:
    root = await office.ask("alice", "#general", "@footnote What about laptops?")
    await office.answers("#general", root)
    second = await office.ask("alice", "#general", "@footnote and what do they cost?", root)
    await office.answers("#general", root, 2)
    await office.slack.delete("alice", "#general", second)
    await office.settled()
    (left,) = office.replies("#general", root)
    assert "laptops" in left["text"]


async def test_where_others_have_written_below_it_the_answer_says_that_its_question_was_deleted(
    office: Office,
) -> None:
    root = await office.ask("alice", "#general", "@footnote My salary is 100, is that right?")
    await office.answers("#general", root)
    await office.ask("bram", "#general", "I would ask Dana.", root)
    await office.slack.delete("alice", "#general", root)
    await office.settled()
    (answer,) = office.replies("#general", root)
    assert answer["text"] == "The question was deleted."
    assert not answer.get("blocks")
    assert "salary" not in repr(answer)


async def test_where_slack_does_not_let_us_delete_nothing_of_the_answer_is_left(office: Office) -> None:
    office.slack.faults.add("chat.delete", error="cant_delete_message", times=9)
    root = await office.ask("bram", "#general", "@footnote Hoeveel vakantiedagen krijg ik per jaar?")
    await office.answers("#general", root)
    await office.slack.delete("bram", "#general", root)
    await office.settled()
    (answer,) = office.replies("#general", root)
    assert answer["text"] == "De vraag is verwijderd."
    assert "vakantiedagen" not in repr(answer)


@pytest.mark.parametrize(
    "fault", [{"drop": True}, {"error": "internal_error"}, {"drop": True, "after": True}]
)
async def test_a_deletion_that_does_not_get_through_is_tried_again(
    office: Office, fault: dict[str, Any]
) -> None:
    root = await office.ask("alice", "#general", f"@footnote {DAYS}")
    await office.answers("#general", root)
    office.slack.faults.add("chat.delete", **fault)
    await office.slack.delete("alice", "#general", root)
    await office.settled()
    assert office.replies("#general", root) == []


async def test_a_question_deleted_while_it_is_answered_leaves_no_answer(office: Office) -> None:
    office.knowledge.hold = asyncio.Event()
    ts = await office.ask("alice", "#general", f"@footnote {DAYS}")
    await office.slack.wait_for(lambda: office.knowledge.asked)
    await office.slack.delete("alice", "#general", ts)
    await office.heard()
    office.knowledge.hold.set()
    await office.settled()
    assert office.replies("#general", ts) == []
    assert office.calls("chat.postMessage") == []
    assert await office.conversations.load(kept(ts)) == []
    assert await office.analytics.load_trace(f"T0HAVIK-C0GENERAL-{ts}") is None


async def test_a_placeholder_goes_with_its_question(office: Office) -> None:
    office.slack.faults.add("assistant.threads.setStatus", error="unknown_method", times=9)
    office.knowledge.hold = asyncio.Event()
    ts = await office.ask("alice", "#general", f"@footnote {DAYS}")
    await office.slack.wait_for(lambda: office.replies("#general", ts))
    await office.slack.delete("alice", "#general", ts)
    await office.heard()
    office.knowledge.hold.set()
    await office.settled()
    assert office.replies("#general", ts) == []


async def test_a_question_deleted_while_it_waits_is_not_answered(redis: Redis, limits: SlackLimits) -> None:
    async with open_office(redis, limits, working=False) as office:
        ts = await office.ask("alice", "#general", f"@footnote {DAYS}")
        await office.slack.wait_for(lambda: len(office.slack.deliveries) >= 2)
        await office.slack.delete("alice", "#general", ts)
        await office.slack.wait_for(lambda: len(office.slack.deliveries) >= 3)
        office.start_working()
        await office.settled()
        assert office.replies("#general", ts) == []
        assert office.knowledge.asked == []


async def test_a_deletion_in_a_direct_message_takes_the_answer_and_the_turn(office: Office) -> None:
    dm = office.slack.dm("alice")
    ts = await office.ask("alice", "dm", "My salary is 100, is that right?")
    await office.answers(dm, ts)
    await office.slack.delete("alice", "dm", ts)
    await office.settled()
    assert office.replies(dm, ts) == []
    async for name in office.redis.scan_iter(match="*turns*"):
        assert b"salary" not in (await office.redis.get(name) or b"")


async def test_talk_among_people_that_is_deleted_is_none_of_our_business(office: Office) -> None:
    root = await office.ask("alice", "#general", f"@footnote {DAYS}")
    await office.answers("#general", root)
    other = await office.ask("bram", "#general", "thanks!", root)
    reads = len(office.calls("conversations.replies"))
    await office.slack.delete("bram", "#general", other)
    await office.settled()
    assert len(office.replies("#general", root)) == 1
    assert len(office.calls("conversations.replies")) == reads
