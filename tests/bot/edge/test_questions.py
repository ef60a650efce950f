"""From a message in Slack to one answer in its thread."""

from __future__ import annotations

from redis.asyncio import Redis

from bot.playground import SlackLimits
from kb.models import ThreadKey
from tests.fakes.answers import an_answer
from tests.fakes.office import Office, open_office


async def test_a_mention_gets_one_answer_in_its_thread(either_office: Office) -> None:
    office = either_office
    ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    (answer,) = await office.answers("#general", ts)
    assert answer["thread_ts"] == ts
    assert answer["text"].startswith("About: How many days of holiday do I get?")
    assert [block["type"] for block in answer["blocks"]] == ["section", "context", "actions"]
    (post,) = office.calls("chat.postMessage")
    assert str(post.arguments["unfurl_links"]).lower() in {"false", "0"}
    assert str(post.arguments["unfurl_media"]).lower() in {"false", "0"}
    question, _ = office.knowledge.asked[0]
    assert question.text == "How many days of holiday do I get?"
    assert set(question.audience.channels) == {"C0GENERAL", "#general"}
    (status,) = office.calls("assistant.threads.setStatus")
    assert status.arguments["status"].startswith("Searching")
    delivered = {one.event_type for one in office.slack.deliveries}
    assert {"app_mention", "message"} <= delivered  # the twins of one question
    assert len(office.knowledge.asked) == 1


async def test_the_turn_and_the_figures_are_kept(office: Office) -> None:
    ts = await office.ask("alice", "#general", "@footnote What about laptops?")
    await office.answers("#general", ts)
    (turn,) = await office.conversations.load(ThreadKey(team="T0HAVIK", channel="C0GENERAL", thread=ts))
    assert (turn.question, turn.question_ts) == ("What about laptops?", ts)
    assert (await office.analytics.stats()).questions == 1
    trace = await office.analytics.load_trace(f"T0HAVIK-C0GENERAL-{ts}")
    assert trace["question"] == "What about laptops?"


async def test_a_reply_in_the_thread_needs_no_mention_and_sees_the_turn_before(office: Office) -> None:
    ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    await office.answers("#general", ts)
    await office.ask("alice", "#general", "and when do they expire?", ts)
    answers = await office.answers("#general", ts, 2)
    assert len(answers) == 2
    question, turns = office.knowledge.asked[1]
    assert question.text == "and when do they expire?"
    assert [turn.question for turn in turns] == ["How many days of holiday do I get?"]


async def test_talk_among_people_in_the_thread_is_left_alone(office: Office) -> None:
    ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    await office.answers("#general", ts)
    await office.ask("bram", "#general", "thanks!", ts)
    await office.ask("bram", "#general", "@alice can you ask the other team?", ts)
    other = await office.ask("bram", "#general", "Shall we have lunch?")
    await office.ask("alice", "#general", "where do we go?", other)
    await office.settled()
    assert len(office.replies("#general", ts)) == 1
    assert office.replies("#general", other) == []


async def test_a_private_channel_is_known_by_its_name(office: Office) -> None:
    ts = await office.ask("alice", "#people-leads", "@footnote What is the pay scale?")
    await office.answers("#people-leads", ts)
    question, _ = office.knowledge.asked[0]
    assert set(question.audience.channels) == {"G0PEOPLE", "#people-leads"}


async def test_every_direct_message_is_answered_and_sees_the_askers_own_channels(office: Office) -> None:
    ts = await office.ask("alice", "dm", "How many days of holiday do I get?")
    (answer,) = await office.answers(office.slack.dm("alice"), ts)
    assert answer["thread_ts"] == ts
    question, _ = office.knowledge.asked[0]
    assert {"G0PEOPLE", "#people-leads", "C0GENERAL"} <= question.audience.channels
    assert question.audience.channels.isdisjoint({"G0BOARD", "#board"})
    assert question.audience.groups == frozenset()


async def test_the_pipeline_reads_names_in_the_place_of_mentions(office: Office) -> None:
    ts = await office.ask("alice", "#general", "@footnote: does @bram own this page & more?")
    await office.answers("#general", ts)
    assert office.knowledge.asked[0][0].text == "does @bram own this page & more?"


async def test_a_mention_alone_gets_a_short_help_in_the_readers_language(office: Office) -> None:
    ts = await office.ask("bram", "#general", "@footnote")
    (help_,) = await office.answers("#general", ts)
    assert help_["text"].startswith("Stel me een vraag")
    assert office.knowledge.asked == []


async def test_without_stored_turns_the_thread_is_read_from_slack(office: Office) -> None:
    ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    await office.answers("#general", ts)
    await office.conversations.forget(ThreadKey(team="T0HAVIK", channel="C0GENERAL", thread=ts), ts)
    await office.ask("alice", "#general", "and when do they expire?", ts)
    await office.answers("#general", ts, 2)
    _, (turn,) = office.knowledge.asked[1]
    assert turn.question == "How many days of holiday do I get?"
    assert turn.answer == "About: How many days of holiday do I get?"
    assert [(one.page_id, one.cited) for one in turn.retrieved] == [("page-leave-policy", True)]


async def test_an_edited_question_gets_its_answer_updated(office: Office) -> None:
    ts = await office.ask("alice", "#general", "@footnote How many days of holliday?")
    (before,) = await office.answers("#general", ts)
    await office.slack.edit("alice", "#general", ts, "@footnote How many days of leave?")
    await office.slack.wait_for(lambda: "of leave" in office.replies("#general", ts)[0]["text"])
    await office.idle()
    (after,) = office.replies("#general", ts)
    assert after["ts"] == before["ts"]
    (turn,) = await office.conversations.load(ThreadKey(team="T0HAVIK", channel="C0GENERAL", thread=ts))
    assert turn.question == "How many days of leave?"
    assert (await office.analytics.stats()).questions == 1
    trace = await office.analytics.load_trace(f"T0HAVIK-C0GENERAL-{ts}")
    assert trace["question"] == "How many days of leave?"


async def test_a_question_edited_while_it_waits_is_answered_once_as_edited(
    redis: Redis, limits: SlackLimits
) -> None:
    async with open_office(redis, limits, working=False) as office:
        ts = await office.ask("alice", "#general", "@footnote How many days?")
        await office.slack.wait_for(lambda: len(office.slack.deliveries) >= 2)
        await office.slack.edit("alice", "#general", ts, "@footnote How many weeks?")
        await office.slack.wait_for(lambda: len(office.slack.deliveries) >= 3)
        office.start_working()
        (answer,) = await office.answers("#general", ts)
        assert answer["text"].startswith("About: How many weeks?")
        assert len(office.knowledge.asked) == 1


async def test_a_deleted_question_is_forgotten(office: Office) -> None:
    ts = await office.ask("alice", "#general", "@footnote My salary is 100, is that right?")
    await office.answers("#general", ts)
    await office.slack.delete("alice", "#general", ts)
    key = ThreadKey(team="T0HAVIK", channel="C0GENERAL", thread=ts)
    await office.settled()
    assert await office.conversations.load(key) == []
    assert await office.analytics.load_trace(f"T0HAVIK-C0GENERAL-{ts}") is None


async def test_an_answer_in_dutch_is_announced_and_worded_in_dutch(office: Office) -> None:
    office.knowledge.answers["Hoeveel vakantiedagen heb ik per jaar?"] = an_answer(
        outcome="declined", sentences=(), citations=(), language="nl"
    )
    ts = await office.ask("bram", "#general", "@footnote Hoeveel vakantiedagen heb ik per jaar?")
    (answer,) = await office.answers("#general", ts)
    assert answer["text"].startswith("Ik kon dit niet vinden")
    assert office.calls("assistant.threads.setStatus")[0].arguments["status"].startswith("Zoeken")
