"""One question, one answer: over retries, lost replies, killed attempts and refusals."""

from __future__ import annotations

import asyncio

import pytest
from redis.asyncio import Redis

from bot.playground import SlackLimits
from kb.errors import StoreUnavailableError
from kb.models import ThreadKey
from tests.fakes.office import Office, open_office


def key(ts: str) -> ThreadKey:
    return ThreadKey(team="T0HAVIK", channel="C0GENERAL", thread=ts)


async def test_an_event_is_not_acknowledged_before_its_question_is_queued(either_office: Office) -> None:
    office = either_office
    office.queue.outages = 2
    ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    await office.answers("#general", ts)
    await office.settled()
    outcomes = [one.outcome for one in office.slack.deliveries]
    assert len([one for one in outcomes if one != "acknowledged"]) == 2
    assert any(one.attempt > 0 and one.outcome == "acknowledged" for one in office.slack.deliveries)
    assert len(office.replies("#general", ts)) == 1
    assert office.edge.activity.failures == 2


async def test_an_event_is_not_acknowledged_while_slack_does_not_say_who_we_are(
    redis: Redis, limits: SlackLimits
) -> None:
    async with open_office(redis, limits) as office:
        office.edge.wiring.people._me = None  # as at a start at which Slack answered the connection only
        office.slack.faults.add("auth.test", error="internal_error", times=2)
        ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
        assert len(await office.answers("#general", ts)) == 1
        assert any(one.outcome != "acknowledged" for one in office.slack.deliveries)


async def test_a_post_whose_reply_is_lost_is_not_posted_again(office: Office) -> None:
    office.slack.faults.add("chat.postMessage", drop=True, after=True)
    ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    await office.answers("#general", ts)
    assert len(office.replies("#general", ts)) == 1
    assert len(office.calls("chat.postMessage")) == 1
    (turn,) = await office.conversations.load(key(ts))
    assert turn.answer == "About: How many days of holiday do I get?"
    assert turn.retrieved[0].page_id == "page-leave-policy"


async def test_a_post_that_did_not_arrive_is_made_by_the_next_attempt(office: Office) -> None:
    office.slack.faults.add("chat.postMessage", drop=True)
    ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    assert len(await office.answers("#general", ts)) == 1
    assert len(office.calls("chat.postMessage")) == 2


async def test_a_turn_that_could_not_be_stored_is_stored_by_the_next_attempt(office: Office) -> None:
    append = office.conversations.append
    outages = iter([StoreUnavailableError("away")])

    async def flaky(*arguments: object) -> None:
        for outage in outages:
            raise outage
        await append(*arguments)  # type: ignore[arg-type]

    office.edge.wiring.worker.context_reader.conversations.append = flaky  # type: ignore[method-assign]
    ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    await office.answers("#general", ts)
    assert len(office.replies("#general", ts)) == 1
    assert len(office.knowledge.asked) == 1
    assert [turn.question for turn in await office.conversations.load(key(ts))] == [
        "How many days of holiday do I get?"
    ]


async def test_where_slack_has_no_status_a_placeholder_becomes_the_answer(office: Office) -> None:
    office.slack.faults.add("assistant.threads.setStatus", error="unknown_method")
    office.knowledge.hold = asyncio.Event()
    ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    (placeholder,) = await office.slack.wait_for(lambda: office.replies("#general", ts))
    assert placeholder["text"].startswith("Searching")
    office.knowledge.hold.set()
    (answer,) = await office.answers("#general", ts)
    assert answer["ts"] == placeholder["ts"]
    assert answer["text"].startswith("About:")
    assert answer["blocks"][-1]["type"] == "actions"


async def test_a_placeholder_that_a_killed_attempt_left_is_used_not_doubled(office: Office) -> None:
    office.slack.faults.add("assistant.threads.setStatus", error="unknown_method")
    office.knowledge.hold = asyncio.Event()
    ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    (placeholder,) = await office.slack.wait_for(lambda: office.replies("#general", ts))
    await office.stop_working()
    office.knowledge.hold.set()
    # The queue hands a cancelled question back as if it had not been started; a kill is what counts as an attempt.
    question = await taken(office)
    await office.edge.wiring.worker(question, 2)
    (answer,) = office.replies("#general", ts)
    assert answer["ts"] == placeholder["ts"]
    assert answer["text"].startswith("About:")


async def taken(office: Office):  # type: ignore[no-untyped-def]
    from bot.queue.claims import Lease

    lease = await office.queue.queue._claims.take("another")
    assert isinstance(lease, Lease)
    await office.queue.queue._claims.finish(lease)
    return lease.question


async def test_a_lost_status_neither_delays_nor_doubles_the_answer(office: Office) -> None:
    for fault in ({"drop": True}, {"error": "ratelimited"}, {"retry_after": 30}):
        office.slack.faults.add("assistant.threads.setStatus", **fault)
        ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
        (answer,) = await office.answers("#general", ts)
        assert answer["text"].startswith("About:")


async def test_a_thread_that_cannot_be_looked_into_is_not_answered_blindly(office: Office) -> None:
    office.slack.faults.add("chat.postMessage", drop=True, after=True)
    office.slack.faults.add("conversations.replies", error="internal_error")
    ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    await office.answers("#general", ts)
    assert len(office.replies("#general", ts)) == 1
    assert len(office.calls("chat.postMessage")) == 1


async def test_a_rate_limit_is_waited_out_as_long_as_slack_says(office: Office) -> None:
    office.slack.faults.add("chat.postMessage", retry_after=1)
    ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    assert len(await office.answers("#general", ts)) == 1
    first, second = office.calls("chat.postMessage")
    assert (first.status, second.ok) == (429, True)
    assert second.at - first.at >= 1.0
    assert len(office.knowledge.asked) == 1


async def test_refused_blocks_fall_back_to_text_rather_than_silence(office: Office) -> None:
    office.slack.faults.add("chat.postMessage", error="invalid_blocks")
    ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    (answer,) = await office.answers("#general", ts)
    assert answer["text"].startswith("About: How many days of holiday do I get?")
    assert "Sources:" in answer["text"]
    assert not answer.get("blocks")


async def test_metadata_that_slack_finds_too_large_is_shortened(office: Office) -> None:
    office.slack.faults.add("chat.postMessage", error="metadata_too_large")
    ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    (answer,) = await office.answers("#general", ts)
    assert set(answer["metadata"]["event_payload"]) == {"question_id", "question_ts", "state", "outcome"}


async def test_who_asks_where_the_bot_cannot_post_is_told_directly(office: Office) -> None:
    office.slack.faults.add("assistant.threads.setStatus", error="not_in_channel")
    office.slack.faults.add("chat.postMessage", error="not_in_channel", times=2)
    await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    dm = office.slack.dm("alice")
    (told,) = await office.slack.wait_for(lambda: office.slack.messages(dm))
    assert (
        told["text"]
        == "I can't post in #general, because I'm not in it. Invite me there and ask again, please."
    )


async def test_a_channel_without_a_name_is_called_in_the_language_of_whoever_asked(office: Office) -> None:
    office.slack.faults.add("conversations.info", error="channel_not_found", times=9)
    office.slack.faults.add("assistant.threads.setStatus", error="not_in_channel")
    office.slack.faults.add("chat.postMessage", error="not_in_channel", times=2)
    await office.ask("bram", "#general", "@footnote Hoeveel vakantiedagen krijg ik?")
    dm = office.slack.dm("bram")
    (told,) = await office.slack.wait_for(lambda: office.slack.messages(dm))
    assert told["text"].startswith("Ik kan niet in dit kanaal schrijven")


async def test_a_fault_in_the_pipeline_is_one_polite_sentence(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    office.knowledge.error = ValueError("secret detail of the index at 10.0.0.7")
    ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    (reply,) = await office.answers("#general", ts)
    assert reply["text"] == (
        "Sorry, something went wrong while I was answering. "
        f"It has been logged as T0HAVIK-C0GENERAL-{ts}; please ask again."
    )
    sent = " ".join(str(call.arguments) for call in office.slack.calls)
    assert "secret detail" not in sent
    assert "Traceback" not in sent
    assert "question.broke" in [record.message for record in caplog.records]


async def test_a_question_that_failed_and_is_edited_gets_its_answer_in_the_same_place(office: Office) -> None:
    office.knowledge.error = ValueError("broken")
    ts = await office.ask("alice", "#general", "@footnote How many days?")
    (sorry,) = await office.answers("#general", ts)
    office.knowledge.error = None
    await office.slack.edit("alice", "#general", ts, "@footnote How many days of holiday?")
    await office.slack.wait_for(lambda: office.replies("#general", ts)[0]["text"].startswith("About"))
    assert [one["ts"] for one in office.replies("#general", ts)] == [sorry["ts"]]


async def test_a_question_that_breaks_while_slack_is_away_gets_the_polite_sentence_once(
    office: Office,
) -> None:
    office.knowledge.error = ValueError("broken")
    office.slack.faults.add("chat.postMessage", error="internal_error", times=5)
    ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    (reply,) = await office.answers("#general", ts)
    assert reply["text"].startswith("Sorry, something went wrong")
    assert len(office.calls("chat.postMessage")) == 6


async def test_an_unreachable_store_is_noted_and_the_thread_read_from_slack(office: Office) -> None:
    ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    await office.answers("#general", ts)
    load = office.conversations.load

    async def away(_: ThreadKey) -> list[object]:
        raise StoreUnavailableError("away")

    worker_store = office.edge.wiring.worker.context_reader.conversations
    worker_store.load = away  # type: ignore[method-assign,assignment]
    office.edge.wiring.worker.context_reader.conversations.append = append_nothing  # type: ignore[method-assign]
    await office.ask("alice", "#general", "@footnote and when do they expire?", ts)
    answers = await office.answers("#general", ts, 2)
    worker_store.load = load  # type: ignore[method-assign]
    assert "I can't reach this thread's history" in answers[1]["text"]
    assert [turn.question for turn in office.knowledge.asked[1][1]] == ["How many days of holiday do I get?"]


async def append_nothing(*_: object) -> None:
    """In the place of a store that is away for writing too."""


async def test_a_bot_that_was_stopped_while_it_posted_looks_before_it_posts_again(office: Office) -> None:
    office.slack.faults.add("chat.postMessage", delay=30, after=True)
    ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    await office.slack.wait_for(lambda: office.replies("#general", ts))
    await office.stop_working()
    assert (await office.queue.queue.depth()).waiting == 1
    office.start_working()
    await office.idle()
    assert len(office.replies("#general", ts)) == 1
    assert len(await office.conversations.load(key(ts))) == 1


async def test_a_follow_up_whose_thread_is_slow_to_read_is_heard_when_slack_sends_it_again(
    office: Office,
) -> None:
    ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    await office.answers("#general", ts)
    office.slack.faults.add("conversations.replies", delay=2.5)
    await office.ask("alice", "#general", "and when do they expire?", ts)
    assert len(await office.answers("#general", ts, 2)) == 2
    assert any(one.outcome != "acknowledged" for one in office.slack.deliveries)


async def test_a_bot_that_is_stopped_ends_what_it_had_begun_to_hear(redis: Redis) -> None:
    async with open_office(redis, SlackLimits(rate_limited=False, ack_timeout_s=20.0)) as office:
        ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
        await office.answers("#general", ts)
        office.slack.faults.add("conversations.replies", delay=0.5)
        before, delivered = len(office.calls("conversations.replies")), len(office.slack.deliveries)
        await office.ask("alice", "#general", "and when do they expire?", ts)
        await office.slack.wait_for(lambda: len(office.calls("conversations.replies")) > before)
        await office.edge.close()
        await office.slack.wait_for(lambda: len(office.slack.deliveries) > delivered)
        assert office.slack.deliveries[delivered].outcome == "acknowledged"
        assert len(await office.answers("#general", ts, 2)) == 2
