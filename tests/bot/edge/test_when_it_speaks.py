"""When Footnote speaks, over real Bolt: in threads of people, after its own questions, and where nobody asked it."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

import pytest
from redis.asyncio import Redis

from bot.listening.channel_settings import ChannelSettings
from bot.playground import SlackLimits
from kb.answer import Answer
from kb.models import Outcome, ThreadKey
from tests.bot.edge.test_exactly_once import taken
from tests.fakes.answers import an_answer, without_answer
from tests.fakes.office import Office, open_office
from tests.fakes.waiting import until

QUESTION = "How many days of holiday do I get?"


async def answered(office: Office, question: str = QUESTION, channel: str = "#general") -> str:
    ts = await office.ask("alice", channel, f"@footnote {question}")
    await office.answers(channel, ts)
    return ts


async def waiting(office: Office) -> None:
    """Until a question waits for a worker."""

    async def one_waits() -> bool:
        return (await office.queue.queue.depth()).waiting > 0

    await until(one_waits)


async def talk(office: Office, ts: str, *said: tuple[str, str], channel: str = "#general") -> None:
    for user, text in said:
        await office.ask(user, channel, text, ts)
    await office.settled()


async def test_two_people_write_to_each_other_in_peace(office: Office) -> None:
    ts = await answered(office)
    await talk(
        office,
        ts,
        ("bram", "Oh, that's more than I thought"),
        ("alice", "Are you taking some off in May?"),
        ("bram", "Yes, with Chidi. What about you?"),
        ("alice", "Maybe. When do you leave?"),
        ("bram", "On the 12th"),
        ("alice", "What time?"),
        ("bram", "Early! Can you water my plants?"),
        ("alice", "Sure, how often?"),
        ("bram", "Twice a week. Is that ok?"),
        ("alice", "And the cactus?"),
        ("bram", "Who waters a cactus?"),
        ("alice", "lol"),
        ("bram", "Shall we have lunch?"),
        ("alice", "Where do we go?"),
    )
    assert len(office.replies("#general", ts)) == 1
    assert len(office.knowledge.asked) == 1
    await office.ask("alice", "#general", "@footnote and in Belgium?", ts)
    assert len(await office.answers("#general", ts, 2)) == 2


@pytest.mark.parametrize(
    "reply",
    [
        *("Leave policy", "the second one", "the policy", "policy please", "I mean the policy", "both"),
        *("1", "2", "leave FAQ", "the lats one", "no, sick leave", "laeve policy"),
    ],
)
@pytest.mark.parametrize("channel", ["#general", "#people-leads"])
async def test_the_reply_to_our_own_question_is_heard(office: Office, reply: str, channel: str) -> None:
    office.knowledge.answers["leave"] = without_answer(
        "unclear", interpretations=("Leave FAQ", "Leave policy")
    )
    ts = await answered(office, "leave", channel)
    await talk(office, ts, ("alice", reply), channel=channel)
    assert [question.text for question, _ in office.knowledge.asked] == ["leave", reply]


@pytest.mark.parametrize(
    "reply", ["the guest wifi", "Ghent", "I meant contractors", "how do I get in the office"]
)
@pytest.mark.parametrize("outcome", ["declined", "unclear"])
async def test_the_reply_that_names_what_is_meant_is_heard(
    office: Office, reply: str, outcome: Outcome
) -> None:
    office.knowledge.answers["how do I get in?"] = without_answer(outcome)
    ts = await answered(office, "how do I get in?")
    await talk(office, ts, ("alice", reply))
    assert len(office.knowledge.asked) == 2


@pytest.mark.parametrize(
    "reply", ["never mind", "thanks anyway", "I'll ask HR then", "lol ok", ":shrug:", "+1"]
)
async def test_a_reply_that_answers_nothing_is_left(office: Office, reply: str) -> None:
    office.knowledge.answers["leave"] = without_answer(
        "unclear", interpretations=("Leave FAQ", "Leave policy")
    )
    ts = await answered(office, "leave")
    await talk(office, ts, ("alice", reply))
    assert len(office.knowledge.asked) == 1


async def test_the_asker_goes_on_though_somebody_remarked(office: Office) -> None:
    ts = await answered(office)
    await talk(office, ts, ("bram", "good to know"), ("alice", "and when do they expire?"))
    assert len(office.replies("#general", ts)) == 2
    question, _ = office.knowledge.asked[1]
    trace = await office.analytics.load_trace(question.id)
    assert trace is not None
    assert trace["reason"] == "goes_on"


async def test_a_second_person_needs_a_mention_unless_the_channel_says_otherwise(office: Office) -> None:
    ts = await answered(office)
    await talk(office, ts, ("bram", "and how many for part-timers?"))
    assert len(office.knowledge.asked) == 1
    await office.channel_settings.save("C0GENERAL", ChannelSettings(follow_ups="everyone"), by="U1")
    other = await answered(office, "What is TOGAF?")
    await talk(office, other, ("bram", "and how long does it take?"), ("bram", "@alice can you check?"))
    assert len(office.knowledge.asked) == 3


async def test_a_channel_can_want_a_mention_each_time(office: Office) -> None:
    await office.channel_settings.save("C0GENERAL", ChannelSettings(follow_ups="mention"), by="U1")
    ts = await answered(office)
    reads = len(office.calls("conversations.replies"))
    await talk(office, ts, ("alice", "and when do they expire?"))
    assert len(office.knowledge.asked) == 1
    assert len(office.calls("conversations.replies")) == reads


async def test_words_that_cannot_be_for_us_cost_no_look_into_the_thread(office: Office) -> None:
    ts = await answered(office)
    other = await office.ask("bram", "#general", "The printer is broken again")
    reads = len(office.calls("conversations.replies"))
    await talk(office, ts, ("alice", "thanks!"), ("alice", ":+1:"), ("bram", "@alice shall we go?"))
    await talk(office, other, ("alice", "yes, since Monday"), ("bram", "I'll call them"))
    assert len(office.calls("conversations.replies")) == reads


# Where nobody asked: silence, or an answer.


@pytest.mark.parametrize("outcome", ["declined", "closest", "unclear", "unavailable"])
async def test_what_is_not_found_unasked_is_silence(
    office: Office, outcome: Outcome, caplog: pytest.LogCaptureFixture
) -> None:
    office.knowledge.answers["and for the interns?"] = without_answer(outcome)
    ts = await office.ask("bram", "#general", "I am going on holiday")
    await office.ask("alice", "#general", f"@footnote {QUESTION}", ts)
    await office.answers("#general", ts)
    before = len(office.slack.calls)
    with caplog.at_level(logging.INFO):
        await talk(office, ts, ("alice", "and for the interns?"))
    assert len(office.knowledge.asked) == 2
    assert len(office.replies("#general", ts)) == 1
    since = {call.method for call in office.slack.calls[before:]}
    assert not since & {"chat.postMessage", "chat.update", "assistant.threads.setStatus", "chat.startStream"}
    key = ThreadKey(team="T0HAVIK", channel="C0GENERAL", thread=ts)
    assert len(await office.conversations.load(key)) == 1
    (silence,) = [record for record in caplog.records if record.message == "question.silence"]
    assert silence.reason == outcome  # type: ignore[attr-defined]
    assert "interns" not in caplog.text


async def test_nothing_is_shown_before_an_answer_that_nobody_asked_for(office: Office) -> None:
    ts = await office.ask("bram", "#general", "I am going on holiday")
    await office.ask("alice", "#general", f"@footnote {QUESTION}", ts)
    await office.answers("#general", ts)
    statuses = len(office.calls("assistant.threads.setStatus"))
    office.knowledge.hold = asyncio.Event()
    await office.ask("alice", "#general", "and for the interns?", ts)
    await office.slack.wait_for(lambda: len(office.knowledge.asked) == 2)
    await asyncio.sleep(0.3)
    assert len(office.replies("#general", ts)) == 1
    office.knowledge.hold.set()
    assert len(await office.answers("#general", ts, 2)) == 2
    assert len(office.calls("assistant.threads.setStatus")) == statuses


async def test_between_one_person_and_footnote_what_is_not_found_is_declined(office: Office) -> None:
    office.knowledge.answers["and for the interns?"] = without_answer("declined")
    ts = await answered(office)
    await talk(office, ts, ("alice", "and for the interns?"))
    assert office.replies("#general", ts)[1]["text"].startswith("I couldn't find this")


async def test_a_failure_unasked_is_silence_too(office: Office) -> None:
    ts = await office.ask("bram", "#general", "I am going on holiday")
    await office.ask("alice", "#general", f"@footnote {QUESTION}", ts)
    await office.answers("#general", ts)
    office.knowledge.error = ValueError("broken")
    await talk(office, ts, ("alice", "and for the interns?"))
    assert len(office.knowledge.asked) == 2
    assert len(office.replies("#general", ts)) == 1


@pytest.mark.parametrize("silent", [True, False])
async def test_a_killed_attempt_at_an_unasked_question_is_not_answered_differently_later(
    redis: Redis, limits: SlackLimits, silent: bool
) -> None:
    async with open_office(redis, limits, working=False) as office:
        office.start_working()
        ts = await office.ask("bram", "#general", "I am going on holiday")
        await office.ask("alice", "#general", f"@footnote {QUESTION}", ts)
        await office.answers("#general", ts)
        await office.stop_working()
        if silent:
            office.knowledge.answers["and for the interns?"] = without_answer("declined")
        await office.ask("alice", "#general", "and for the interns?", ts)
        await waiting(office)
        question = await taken(office)
        assert question.unasked
        await office.edge.wiring.worker(question, 1)  # and dies before the queue hears that it is done
        office.knowledge.answers.clear()
        if not silent:
            office.knowledge.answers["and for the interns?"] = without_answer("declined")
        await office.edge.wiring.worker(question, 2)
        assert len(office.replies("#general", ts)) == (1 if silent else 2)
        assert len(office.knowledge.asked) == 2


# Questions that start a thread, without a mention.


def sure(text: str, confidence: float = 0.95) -> Answer:
    return replace(an_answer("It is so.", question=text), confidence=confidence)


async def test_a_channel_may_have_questions_answered_that_nobody_put_to_footnote(office: Office) -> None:
    for question in ("How long is the warranty?", "How much is the deposit?"):
        office.knowledge.answers[question] = sure(question)
    office.knowledge.answers["Where is the key?"] = sure("Where is the key?", 0.6)
    unheard = await office.ask("bram", "#general", "How long is the warranty?")
    await office.settled()
    assert office.knowledge.asked == []
    await office.channel_settings.save("C0GENERAL", ChannelSettings(unasked=True), by="U1")
    unsure = await office.ask("bram", "#general", "Where is the key?")
    await office.settled()
    asked = [await office.ask("bram", "#general", text) for text in ("How long is the warranty?",)]
    await office.settled()
    asked.append(await office.ask("alice", "#general", "How much is the deposit?"))
    await office.settled()
    chat = [
        await office.ask("alice", "#general", text)
        for text in ("Anyone up for lunch?", "@bram how are you?", "Good morning!", "Lunch?", "I'm off today")
    ]
    await office.settled()
    answers = {ts: len(office.replies("#general", ts)) for ts in (unheard, unsure, *asked, *chat)}
    assert [ts for ts, count in answers.items() if count] == [asked[0]], "one in ten minutes"
    assert len(office.knowledge.asked) == 3


# Slack is slow, or refuses.


async def test_a_thread_that_takes_too_long_is_left_and_the_event_acknowledged(office: Office) -> None:
    ts = await answered(office)
    object.__setattr__(office.edge.wiring.listeners.decider, "read_s", 0.1)
    office.slack.faults.add("conversations.replies", delay=0.5)
    await talk(office, ts, ("alice", "and when do they expire?"))
    assert len(office.knowledge.asked) == 1
    assert {one.outcome for one in office.slack.deliveries} == {"acknowledged"}


@pytest.mark.usefixtures("soon")
async def test_a_question_whose_thread_cannot_be_read_is_heard_when_slack_sends_it_again(
    office: Office,
) -> None:
    ts = await answered(office)
    office.slack.faults.add("conversations.replies", error="internal_error")
    await office.ask("alice", "#general", "and when do they expire?", ts)
    assert len(await office.answers("#general", ts, 2)) == 2


async def test_without_the_conversation_store_the_thread_itself_tells(office: Office) -> None:
    ts = await answered(office)
    key = ThreadKey(team="T0HAVIK", channel="C0GENERAL", thread=ts)
    await office.conversations.forget(key, ts)
    await talk(office, ts, ("alice", "and when do they expire?"))
    assert len(office.knowledge.asked) == 2
