"""An answer shown while it is written: in order, not too often, and never in the way of the answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.playground import SlackLimits
from bot.questions.stream import CALM_S
from bot.rendering.partial_answer import partial_markdown
from kb.answer import Sentence
from kb.answering.progress import Progress
from tests.fakes.answers import a_citation, an_answer
from tests.fakes.office import Office, open_office
from tests.fakes.waiting import until

ASKED = "@footnote How many days of holiday do I get?"
ONE = a_citation(1)
SENTENCES = tuple(Sentence(text=f"Sentence number {n} of the answer.", citations=(1,)) for n in range(1, 6))
STREAM_CALLS = ("chat.startStream", "chat.appendStream", "chat.stopStream")
SPEAKING = (*STREAM_CALLS, "chat.postMessage", "chat.update", "chat.delete")

Write = Callable[[Progress], Awaitable[None]]


@pytest.fixture
async def office(redis: Redis, limits: SlackLimits, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("bot.edge.slack_app.GRACE_S", 1.0)
    async with open_office(redis, limits) as office:
        hurry(office)
        office.knowledge.write = writing()
        yield office


def hurry(office: Office, *, pace_s: float = 0.02, call_s: float = 0.4) -> None:
    office.edge.wiring.worker.streams.pace_s = pace_s
    office.edge.wiring.worker.streams.call_s = call_s
    office.edge.wiring.worker.streams.settle_s = 0.01


def writing(pause_s: float = 0.04, *, sentences: tuple[Sentence, ...] = SENTENCES) -> Write:
    """As the pipeline tells it: every stage, and one sentence after the other."""

    async def write(progress: Progress) -> None:
        await progress.stage("searching")
        await progress.stage("reading", pages=6)
        await asyncio.sleep(pause_s)
        await progress.stage("writing")
        for n in range(1, len(sentences) + 1):
            await progress.written(sentences[:n], [ONE])
            await asyncio.sleep(pause_s)
        await progress.stage("checking")
        await asyncio.sleep(pause_s)

    return write


def spoken(office: Office) -> list[str]:
    """The calls with which something was said, in order."""
    return [call.method for call in office.slack.calls if call.method in SPEAKING]


def streamed(office: Office) -> str:
    calls = [call for call in office.slack.calls if call.method in STREAM_CALLS and call.ok]
    return "".join(str(call.arguments.get("markdown_text", "")) for call in calls)


async def the_answer(office: Office, ts: str, channel: str = "#general") -> dict[str, Any]:
    """The one reply, in its final form."""
    (answer,) = await office.answers(channel, ts)
    assert answer["text"].startswith("About: How many days")
    assert answer["blocks"][-1]["type"] == "actions"
    assert answer["metadata"]["event_payload"]["state"] == "answered"
    assert answer.get("streaming_state", "completed") == "completed"
    return answer


async def half_way(office: Office, ts: str, channel: str = "#general") -> dict[str, Any]:
    """The message that is being streamed."""
    (draft,) = await office.slack.wait_for(lambda: office.replies(channel, ts))
    assert draft["streaming_state"] == "in_progress"
    return draft


async def test_an_answer_grows_and_then_takes_its_final_form_in_the_same_message(office: Office) -> None:
    ts = await office.ask("alice", "#general", ASKED)
    draft = await half_way(office, ts)
    answer = await the_answer(office, ts)
    assert answer["ts"] == draft["ts"]
    first, *middle, last_but_one, last = spoken(office)
    assert (first, last_but_one, last) == ("chat.startStream", "chat.stopStream", "chat.update")
    assert middle
    assert set(middle) == {"chat.appendStream"}
    assert streamed(office) == partial_markdown(SENTENCES, [ONE])


async def test_the_status_says_what_is_done_and_does_not_stay(office: Office) -> None:
    ts = await office.ask("alice", "#general", ASKED)
    await the_answer(office, ts)
    told = [str(call.arguments["status"]) for call in office.calls("assistant.threads.setStatus")]
    assert told == [
        "Searching the knowledge base…",
        "Reading 6 pages…",
        "Writing the answer…",
        "Checking the answer against the pages…",
        "",
    ]


async def test_the_status_is_in_the_language_of_the_question(office: Office) -> None:
    ts = await office.ask("bram", "#general", "@footnote Hoeveel vakantiedagen krijg ik per jaar?")
    await office.answers("#general", ts)
    told = [str(call.arguments["status"]) for call in office.calls("assistant.threads.setStatus")]
    assert told[1:3] == ["6 pagina's lezen…", "Het antwoord schrijven…"]


async def test_what_comes_fast_is_sent_together(office: Office) -> None:
    hurry(office, pace_s=0.3)
    many = tuple(Sentence(text=f"Sentence number {n}.", citations=(1,)) for n in range(60))
    office.knowledge.write = writing(0.02, sentences=many)
    ts = await office.ask("alice", "#general", ASKED)
    await the_answer(office, ts)
    sent = [call for call in office.slack.calls if call.method in STREAM_CALLS[:2]]
    assert 3 <= len(sent) <= 8
    for before, after in pairwise(sent):
        assert after.at - before.at >= 0.28
    assert partial_markdown(many, [ONE]).startswith(streamed(office))


async def test_many_streams_share_what_slack_takes(office: Office) -> None:
    streams = office.edge.wiring.worker.streams
    streams.pace_s = 1.0
    assert streams.pause_s == 1.0
    streams.running = 6
    assert streams.pause_s == 4.0
    streams.running = 0


async def test_in_a_channel_a_stream_names_who_asked_in_a_direct_message_it_need_not(office: Office) -> None:
    ts = await office.ask("alice", "#general", ASKED)
    await the_answer(office, ts)
    dm = office.slack.dm("alice")
    ts = await office.ask("alice", dm, "How many days of holiday do I get?")
    draft = await half_way(office, ts, dm)
    assert (await the_answer(office, ts, dm))["ts"] == draft["ts"]
    in_channel, direct = office.calls("chat.startStream")
    assert in_channel.arguments["recipient_team_id"] == "T0HAVIK"
    assert in_channel.arguments["recipient_user_id"] == "U0ALICE"
    assert "recipient_user_id" not in direct.arguments


FAILURES = [
    pytest.param({"error": "unknown_method"}, id="unknown_method"),
    pytest.param({"error": "not_allowed_token_type"}, id="not_allowed_token_type"),
    pytest.param({"error": "channel_type_not_supported"}, id="channel_type_not_supported"),
    pytest.param({"error": "message_not_in_streaming_state"}, id="message_not_in_streaming_state"),
    pytest.param({"error": "msg_too_long"}, id="msg_too_long"),
    pytest.param({"error": "internal_error", "after": True}, id="internal_error, but done"),
    pytest.param({"error": "ratelimited"}, id="ratelimited"),
    pytest.param({"retry_after": 30}, id="429"),
    pytest.param({"status": 503}, id="503"),
    pytest.param({"drop": True}, id="connection lost"),
    pytest.param({"drop": True, "after": True}, id="reply lost"),
    pytest.param({"delay": 0.9}, id="late"),
    pytest.param({"delay": 30, "after": True}, id="done, but never said"),
]


@pytest.mark.parametrize("fault", FAILURES)
@pytest.mark.parametrize("method", STREAM_CALLS)
async def test_a_stream_that_fails_in_any_way_leaves_one_answer(
    office: Office, method: str, fault: dict[str, Any]
) -> None:
    office.slack.faults.add(method, **fault)
    ts = await office.ask("alice", "#general", ASKED)
    await the_answer(office, ts)
    assert len(office.knowledge.asked) == 1
    await asyncio.sleep(0.6 if "delay" in fault else 0)
    assert len(office.replies("#general", ts)) == 1
    said = spoken(office)
    if method == "chat.startStream":
        assert said.count("chat.startStream") <= 1, "a stream that failed is not tried again"
        assert "chat.appendStream" not in said
    elif method == "chat.appendStream":
        assert said.count("chat.appendStream") <= 1
    assert said.count("chat.postMessage") + said.count("chat.update") <= 2


@pytest.mark.parametrize(
    ("fault", "again"),
    [
        ({"error": "unknown_method"}, False),
        ({"error": "missing_scope"}, False),
        ({"retry_after": 30}, False),
        ({"error": "channel_type_not_supported"}, True),
        ({"drop": True}, True),
    ],
)
async def test_what_holds_for_the_workspace_is_remembered(
    office: Office, fault: dict[str, Any], again: bool
) -> None:
    office.slack.faults.add("chat.startStream", **fault)
    for _ in range(2):
        ts = await office.ask("alice", "#general", ASKED)
        await the_answer(office, ts)
    assert len(office.calls("chat.startStream")) == (2 if again else 1)


async def test_after_too_many_streams_there_are_new_ones_a_while_later(office: Office) -> None:
    support = office.edge.wiring.worker.streams.support
    support.refused("ratelimited")
    now = time.monotonic()
    assert not support.available(now)
    assert not support.available(now + CALM_S - 1)
    assert support.available(now + CALM_S + 1)


async def test_a_slow_slack_holds_up_neither_the_model_nor_the_answer_for_long(office: Office) -> None:
    office.slack.faults.add("chat.appendStream", delay=30)
    loop = asyncio.get_running_loop()
    took: list[float] = []

    async def write(progress: Progress) -> None:
        await progress.written(SENTENCES[:1], [ONE])
        await asyncio.sleep(0.1)
        began = loop.time()
        for n in range(2, 6):
            await progress.written(SENTENCES[:n], [ONE])
        await progress.stage("checking")
        took.append(loop.time() - began)
        await asyncio.sleep(0.1)

    office.knowledge.write = write
    began = loop.time()
    ts = await office.ask("alice", "#general", ASKED)
    await the_answer(office, ts)
    assert took[0] < 5  # Slack takes 30 s
    assert loop.time() - began < 20


async def test_a_stream_that_slack_begins_after_the_answer_was_posted_is_taken_away(office: Office) -> None:
    hurry(office, call_s=0.1)
    office.knowledge.write = writing(0.02)
    office.slack.faults.add("chat.startStream", delay=1.0)
    ts = await office.ask("alice", "#general", ASKED)
    await the_answer(office, ts)
    await office.slack.wait_for(lambda: office.calls("chat.delete"))
    await the_answer(office, ts)


async def test_a_stream_that_cannot_be_stopped_is_finished_by_a_later_attempt(office: Office) -> None:
    office.slack.faults.add("chat.stopStream", error="internal_error", times=2)
    ts = await office.ask("alice", "#general", ASKED)
    draft = await half_way(office, ts)
    await office.slack.wait_for(lambda: len(office.calls("chat.stopStream")) == 3)
    assert (await the_answer(office, ts))["ts"] == draft["ts"]


@pytest.mark.parametrize("refusal", ["edit_window_closed", "cant_update_message"])
async def test_a_draft_that_may_not_be_changed_makes_way_for_the_answer(office: Office, refusal: str) -> None:
    office.slack.faults.add("chat.update", error=refusal)
    ts = await office.ask("alice", "#general", ASKED)
    await half_way(office, ts)
    await the_answer(office, ts)
    assert spoken(office)[-3:] == ["chat.update", "chat.delete", "chat.postMessage"]


async def test_a_draft_that_is_gone_is_answered_anew(office: Office) -> None:
    office.knowledge.hold = asyncio.Event()
    ts = await office.ask("alice", "#general", ASKED)
    draft = await half_way(office, ts)
    office.slack.faults.add("chat.appendStream", error="message_not_found", times=9)
    office.slack.faults.add("chat.stopStream", error="message_not_found")
    office.slack.faults.add("chat.update", error="message_not_found")
    office.knowledge.hold.set()
    assert (await the_answer(office, ts))["ts"] != draft["ts"]


async def test_where_there_is_a_placeholder_nothing_is_streamed(office: Office) -> None:
    office.slack.faults.add("assistant.threads.setStatus", error="unknown_method")
    ts = await office.ask("alice", "#general", ASKED)
    await the_answer(office, ts)
    assert spoken(office) == ["chat.postMessage", "chat.update"]


async def test_streaming_can_be_switched_off(redis: Redis, limits: SlackLimits) -> None:
    async with open_office(redis, limits, stream="off") as office:
        hurry(office)
        office.knowledge.write = writing(0.02)
        ts = await office.ask("alice", "#general", ASKED)
        await the_answer(office, ts)
        assert spoken(office) == ["chat.postMessage"]
        told = [call.arguments["status"] for call in office.calls("assistant.threads.setStatus")]
        assert "Reading 6 pages…" in told


async def test_a_draft_that_is_begun_anew_is_not_mixed_with_the_first(office: Office) -> None:
    async def write(progress: Progress) -> None:
        await progress.written(SENTENCES[:2], [ONE])
        await until(lambda: streamed(office))
        await progress.written(SENTENCES[2:5], [ONE])
        await asyncio.sleep(0.2)

    office.knowledge.write = write
    ts = await office.ask("alice", "#general", ASKED)
    await the_answer(office, ts)
    assert streamed(office) == partial_markdown(SENTENCES[:2], [ONE])


async def test_steps_that_nobody_could_read_are_not_told(office: Office) -> None:
    office.edge.wiring.worker.streams.settle_s = 30
    office.knowledge.write = writing(0.0)
    ts = await office.ask("alice", "#general", ASKED)
    await the_answer(office, ts)
    assert spoken(office) == ["chat.postMessage"]
    assert len(office.calls("assistant.threads.setStatus")) == 1


async def test_no_status_arrives_after_the_answer(office: Office) -> None:
    async def write(progress: Progress) -> None:
        office.slack.faults.add("assistant.threads.setStatus", delay=0.2)
        await progress.stage("reading", pages=6)
        await asyncio.sleep(0.05)

    office.knowledge.write = write
    ts = await office.ask("alice", "#general", ASKED)
    await the_answer(office, ts)
    *_, status, post = [
        call.method
        for call in office.slack.calls
        if call.method in ("assistant.threads.setStatus", "chat.postMessage")
    ]
    assert (status, post) == ("assistant.threads.setStatus", "chat.postMessage")


async def test_an_answer_without_a_draft_is_one_post(office: Office) -> None:
    async def write(progress: Progress) -> None:
        await progress.stage("reading", pages=1)

    office.knowledge.write = write
    ts = await office.ask("alice", "#general", ASKED)
    await the_answer(office, ts)
    assert spoken(office) == ["chat.postMessage"]


async def test_what_the_check_took_out_is_gone_from_the_final_form(office: Office) -> None:
    question = "How many days of holiday do I get?"
    office.knowledge.answers[question] = an_answer(SENTENCES[0], notes=("sentences removed",))
    ts = await office.ask("alice", "#general", ASKED)
    draft = await half_way(office, ts)
    (answer,) = await office.answers("#general", ts)
    assert answer["ts"] == draft["ts"]
    assert "number 1" in answer["text"]
    assert "number 2" not in str(answer)


async def test_a_draft_whose_making_breaks_becomes_the_polite_sentence(office: Office) -> None:
    office.knowledge.error = ValueError("broken")
    ts = await office.ask("alice", "#general", ASKED)
    draft = await half_way(office, ts)
    (sorry,) = await office.answers("#general", ts)
    assert sorry["ts"] == draft["ts"]
    assert sorry["text"].startswith("Sorry, something went wrong")
    assert "Sentence number" not in str(sorry)


async def test_an_edited_question_is_answered_in_place_without_a_stream(office: Office) -> None:
    ts = await office.ask("alice", "#general", ASKED)
    answer = await the_answer(office, ts)
    begun = len(office.calls("chat.startStream"))
    await office.slack.edit("alice", "#general", ts, ASKED + " How many days for half?")
    await office.slack.wait_for(lambda: len(office.knowledge.asked) == 2)
    assert (await the_answer(office, ts))["ts"] == answer["ts"]
    assert len(office.calls("chat.startStream")) == begun


async def cut(office: Office, ts: str, channel: str = "#general") -> dict[str, Any]:
    """The draft of a question whose worker ends in the middle of it, as by kill -9: nothing is said any more."""
    office.knowledge.hold = asyncio.Event()
    office.knowledge.write = writing(0.02)
    await half_way(office, ts, channel)
    await office.stop_working()
    (draft,) = office.replies(channel, ts)
    assert draft["streaming_state"] == "in_progress"
    assert "metadata" not in draft
    office.knowledge.hold = None
    return draft


@pytest.fixture(params=[True, False], ids=["Slack tells what was streamed", "Slack does not"])
async def either_slack(request: pytest.FixtureRequest, redis: Redis) -> Any:
    limits = SlackLimits(
        rate_limited=False, ack_timeout_s=1.0, retry_delays_s=(0.0, 0.05, 0.05), streams_told=request.param
    )
    async with open_office(redis, limits) as office:
        hurry(office)
        office.knowledge.hold = asyncio.Event()
        office.knowledge.write = writing(0.02)
        yield office


async def test_a_stream_that_was_cut_is_finished_in_the_same_message(either_slack: Office) -> None:
    office = either_slack
    ts = await office.ask("alice", "#general", ASKED)
    draft = await cut(office, ts)
    office.start_working()
    await office.idle()
    assert (await the_answer(office, ts))["ts"] == draft["ts"]


async def test_a_cut_stream_in_a_thread_belongs_to_the_question_that_was_worked_on(
    either_slack: Office,
) -> None:
    office = either_slack
    root = await office.ask("alice", "#general", ASKED)
    draft = await cut_after_answering_first(office, root)
    office.start_working()
    await office.idle()
    first, second, third = office.replies("#general", root)
    assert second["ts"] == draft["ts"]
    assert [one["metadata"]["event_payload"]["state"] for one in (first, second, third)] == ["answered"] * 3
    assert "half-timers" in second["text"]
    assert "interns" in third["text"]


async def cut_after_answering_first(office: Office, root: str) -> dict[str, Any]:
    """The draft for the second of three questions in a thread; the third was asked before it was cut."""
    assert office.knowledge.hold is not None
    office.knowledge.hold.set()
    await office.answers("#general", root)
    office.knowledge.hold = asyncio.Event()
    await office.ask("alice", "#general", "@footnote and for half-timers?", root)
    await office.slack.wait_for(lambda: len(office.knowledge.asked) == 2)
    await office.ask("bram", "#general", "@footnote and for interns?", root)
    await office.slack.wait_for(lambda: len(office.replies("#general", root)) == 2)
    await office.stop_working()
    office.knowledge.hold = None
    return office.replies("#general", root)[1]


async def test_a_question_does_not_take_the_answer_of_another(either_slack: Office) -> None:
    """Killed before it said anything, beside an answer that came after it was asked."""
    office = either_slack
    assert office.knowledge.hold is not None
    office.knowledge.write = None
    root = await office.ask("alice", "#general", ASKED)
    await office.slack.wait_for(lambda: office.knowledge.asked)
    second = await office.ask("bram", "#general", "@footnote and for interns?", root)
    office.knowledge.hold.set()
    answer, _ = await office.answers("#general", root, 2)
    assert answer["ts"] > second
    ours = await office.edge.wiring.worker.replies.find(asked_before_any_reply(office, root, second))
    assert ours is not None
    assert ours.ts != answer["ts"]


def asked_before_any_reply(office: Office, root: str, ts: str) -> Any:
    from bot.queue.queued_question import QueuedQuestion

    return QueuedQuestion(
        team="T0HAVIK",
        channel="C0GENERAL",
        channel_type="channel",
        ts=ts,
        thread_ts=root,
        user="U0BRAM",
        text="and for interns?",
        mentioned=True,
        received_at=office.now(),
    )


async def test_the_stream_of_a_deleted_question_becomes_the_next_ones_reply_or_stays_as_it_is(
    either_slack: Office,
) -> None:
    """It can never become a second reply to another question, which has its own."""
    office = either_slack
    root = await office.ask("alice", "#general", ASKED)
    left = await cut(office, root)
    await office.slack.delete("alice", "#general", root)
    second = await office.ask("bram", "#general", "@footnote and for interns?", root)
    office.start_working()
    await office.slack.wait_for(lambda: len(office.replies("#general", root)) == 2)
    await office.idle()
    orphan, answer = office.replies("#general", root)
    assert orphan["ts"] == left["ts"]
    assert answer["metadata"]["event_payload"]["question_ts"] == second
