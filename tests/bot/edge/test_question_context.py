"""What a question is understood to ask: with what stands above it, with what comes along, and line after line."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kb.models import ThreadKey, Turn
from tests.fakes.office import Office
from tests.fakes.slack_events import bot, mention, posted, put, send

FATHER = "How many weeks of parental leave does a father get?"


def asked(office: Office) -> list[tuple[str, list[str]]]:
    return [(question.text, [turn.question for turn in turns]) for question, turns in office.knowledge.asked]


def turns_of(office: Office, at: int = -1) -> list[Turn]:
    return office.knowledge.asked[at][1]


@pytest.mark.parametrize(
    "words",
    [
        "@footnote can you answer this?",
        "@footnote do you know?",
        "@footnote",
        "@footnote ^^",
        "@footnote any idea?",
        "what do you think, @footnote?",
        "@footnote :point_up:",
        "@footnote could you help Alice with this please?",
        "@footnote weet jij dit?",
        "@footnote weißt du das?",
        "@footnote tu sais ?",
        "@footnote ¿sabes la respuesta?",
    ],
)
async def test_words_that_point_ask_the_question_above(office: Office, words: str) -> None:
    root = await office.ask("alice", "#general", FATHER)
    await office.ask("bram", "#general", words, root)
    (answer,) = await office.answers("#general", root)
    assert asked(office) == [(FATHER, [])]
    assert f"Interpreted as: _{FATHER}_" in answer["text"]


async def test_the_last_question_above_is_meant_not_the_chatter_below_it(office: Office) -> None:
    root = await office.ask("alice", "#general", "We had a long talk about leave yesterday.")
    await office.ask("alice", "#general", FATHER, root)
    await office.ask("chidi", "#general", "I think it is five, but I am not sure.", root)
    await office.ask("alice", "#general", "thanks!", root)
    await office.ask("bram", "#general", "@footnote do you know?", root)
    await office.answers("#general", root)
    assert asked(office) == [(FATHER, ["We had a long talk about leave yesterday."])]
    assert [turn.said_by for turn in turns_of(office)] == ["alice"]


async def test_a_person_who_is_named_is_meant(office: Office) -> None:
    root = await office.ask("alice", "#general", FATHER)
    await office.ask("chidi", "#general", "Where is the coffee machine?", root)
    await office.ask("bram", "#general", "@footnote can you answer Alice's question?", root)
    await office.answers("#general", root)
    assert asked(office)[0][0] == FATHER


async def test_a_statement_is_asked_about_where_nobody_asked(office: Office) -> None:
    root = await office.ask("alice", "#general", "Fathers get five weeks of parental leave.")
    await office.ask("bram", "#general", "@footnote is this correct?", root)
    await office.answers("#general", root)
    assert asked(office)[0][0] == "Fathers get five weeks of parental leave."


async def test_words_that_lean_see_what_people_wrote_with_their_names(office: Office) -> None:
    root = await office.ask("alice", "#general", FATHER)
    await office.ask("bram", "#general", "@footnote and for part-timers?", root)
    (answer,) = await office.answers("#general", root)
    assert asked(office) == [("and for part-timers?", [FATHER])]
    assert [(turn.said_by, turn.answer) for turn in turns_of(office)] == [("alice", "")]
    assert "Interpreted as" not in answer["text"]


async def test_a_question_of_its_own_is_asked_as_it_is(office: Office) -> None:
    root = await office.ask("alice", "#general", "Shall we have lunch?")
    await office.ask("bram", "#general", "@footnote How many days of holiday do I get?", root)
    await office.answers("#general", root)
    assert asked(office)[0][0] == "How many days of holiday do I get?"


async def test_what_people_wrote_since_our_answer_counts_and_stands_in_its_place(office: Office) -> None:
    root = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    await office.answers("#general", root)
    await office.ask("chidi", "#general", "@alice does that include Belgian bank holidays?", root)
    await office.settled()
    before = len(office.knowledge.asked)
    await office.ask("bram", "#general", "@footnote do you know?", root)
    await office.answers("#general", root, 2)
    assert asked(office)[before:] == [
        ("@alice does that include Belgian bank holidays?", ["How many days of holiday do I get?"])
    ]
    assert turns_of(office)[0].said_by is None
    assert turns_of(office)[0].answer


async def test_a_bare_mention_below_an_answer_still_gets_help(office: Office) -> None:
    root = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    await office.answers("#general", root)
    await office.ask("alice", "#general", "@footnote", root)
    _, help_ = await office.answers("#general", root, 2)
    assert help_["text"].startswith("Ask me")
    assert len(office.knowledge.asked) == 1


async def test_at_most_fifty_messages_are_read_the_latest(office: Office) -> None:
    root = await office.ask("alice", "#general", "What is message 0?")
    for number in range(1, 60):
        put(office, "#general", user="U0ALICE", text=f"What is message {number}?", thread_ts=root)
    await office.ask("bram", "#general", "@footnote can you explain the last one?", root)
    await office.answers("#general", root)
    assert len(turns_of(office)) <= 50
    assert "What is message 0?" not in [turn.question for turn in turns_of(office)]


async def test_what_people_wrote_is_kept_nowhere(office: Office, caplog: pytest.LogCaptureFixture) -> None:
    root = await office.ask("alice", "#people-leads", "The salary of Dana is 4100, is that in band 4?")
    await office.ask("alice", "#people-leads", "@footnote and who approves a raise?", root)
    await office.answers("#people-leads", root)
    assert "4100" in turns_of(office)[0].question
    key = ThreadKey(team="T0HAVIK", channel="G0PEOPLE", thread=root)
    (kept,) = await office.conversations.load(key)
    assert kept.question == "and who approves a raise?"
    assert "4100" not in caplog.text
    async for name in office.redis.scan_iter():
        dumped = await office.redis.dump(name)
        assert b"4100" not in (dumped or b"")


async def test_a_thread_that_cannot_be_read_is_told_and_answered_from_what_is_known(office: Office) -> None:
    root = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    await office.answers("#general", root)
    office.slack.faults.add("conversations.replies", error="fatal_error", times=4)
    await office.ask("alice", "#general", "@footnote and for part-timers?", root)
    _, answer = await office.answers("#general", root, 2)
    assert asked(office)[1] == ("and for part-timers?", ["How many days of holiday do I get?"])
    assert "I couldn't read what was written above" in answer["text"]


SHARED = {"is_msg_unfurl": True, "is_share": True, "channel_id": "C1", "author_name": "Bram", "text": FATHER}


@pytest.mark.parametrize("words", ["what is the answer to this?", "any idea?", "", "weet jij dit?"])
async def test_words_that_point_at_a_forwarded_message_ask_it(office: Office, words: str) -> None:
    ts = posted(office, "#general", user="U0ALICE", text=f"{bot(office)} {words}", attachments=[SHARED])
    await office.answers("#general", ts)
    assert asked(office) == [(FATHER, [])]


async def test_a_question_about_a_forwarded_message_is_asked_with_it(office: Office) -> None:
    text = f"{bot(office)} is that different in Ghent?"
    ts = posted(office, "#general", user="U0ALICE", text=text, attachments=[SHARED])
    await office.answers("#general", ts)
    assert asked(office) == [(f"is that different in Ghent?\n\n{FATHER}", [])]


async def test_a_message_forwarded_without_words_is_a_question(office: Office) -> None:
    dm = office.slack.dm("alice")
    ts = posted(office, dm, user="U0ALICE", text="", attachments=[{"is_share": True, "text": FATHER}])
    await office.answers(dm, ts)
    assert asked(office) == [(FATHER, [])]


async def test_a_snippet_is_read_and_another_file_is_named_as_unread(office: Office) -> None:
    files = [
        {"name": "q.txt", "mode": "snippet", "preview": FATHER},
        {"name": "scan.pdf", "mode": "hosted"},
    ]
    ts = posted(
        office,
        "#general",
        user="U0ALICE",
        subtype="file_share",
        text=f"{bot(office)} do you know?",
        files=files,
    )
    (answer,) = await office.answers("#general", ts)
    assert asked(office) == [(FATHER, [])]
    assert "I can't read attached files; paste the part you mean." in answer["text"]


async def test_a_file_without_words_is_told_that_it_cannot_be_read(office: Office) -> None:
    ts = posted(
        office,
        "#general",
        user="U0BRAM",
        subtype="file_share",
        text=bot(office),
        files=[{"name": "a.pdf", "mode": "hosted"}],
    )
    (answer,) = await office.answers("#general", ts)
    assert answer["text"] == "Ik kan bijgevoegde bestanden niet lezen; plak het stuk dat je bedoelt."
    assert office.knowledge.asked == []


async def test_the_end_of_a_long_question_is_asked(office: Office) -> None:
    lines = "\n".join(f"Line {number} of what the customer wrote." for number in range(200))
    ts = posted(office, "#general", user="U0ALICE", text=f"{bot(office)} {lines}\n{FATHER}")
    await office.answers("#general", ts)
    text, _ = asked(office)[0]
    assert text.endswith(FATHER)
    assert text.startswith("Line 0 of")
    assert len(text) <= 3000


FORM = {"subtype": "bot_message", "bot_id": "B0FORM", "username": "Ask HR"}


@pytest.mark.parametrize("text", ["", "A new question"])
async def test_a_form_may_mention_us_in_its_blocks_alone(office: Office, text: str) -> None:
    words = {"type": "mrkdwn", "text": f"{bot(office)} How many days of holiday do I get?"}
    posted(office, "#general", **FORM, text=text, blocks=[{"type": "section", "text": words}])
    await office.settled()
    ((asked_for, _),) = asked(office)
    assert asked_for.endswith("How many days of holiday do I get?")


async def test_a_message_about_oneself_is_a_question_as_any(office: Office) -> None:
    ts = posted(
        office, "#general", user="U0ALICE", subtype="me_message", text=f"asks {bot(office)} how many days?"
    )
    await office.answers("#general", ts)
    assert asked(office) == [("asks how many days?", [])]


@pytest.mark.parametrize("twin", [True, False])
@pytest.mark.parametrize("event", ["app_mention", "message"])
async def test_a_form_that_mentions_is_answered_once_in_its_thread(
    office: Office, event: str, twin: bool
) -> None:
    message = put(office, "#general", **FORM, text=f"{bot(office)} How many days of holiday do I get?")
    told = {**message, "channel": "C0GENERAL", "channel_type": "channel", "event_ts": message["ts"]}
    events = [told, mention(office, "#general", message)]
    events = events if event == "message" else events[::-1]
    for one in events if twin else events[:1]:
        send(office, one)
    form, answer = await office.answers("#general", message["ts"], 2)
    assert form["ts"] == answer["thread_ts"] == message["ts"]
    assert len(office.knowledge.asked) == 1


@pytest.mark.parametrize(
    "form",
    [
        {"bot_id": "B0OTHER", "user": "U0OTHER", "bot_profile": {"id": "B0OTHER", "name": "chatty"}},
        {"bot_id": "B0FORM", "subtype": "bot_message", "thread_ts": "ROOT"},
        {"bot_id": "B0FORM", "subtype": "bot_message", "text": "No mention here, how many days?"},
    ],
)
async def test_bots_do_not_talk_with_each_other(office: Office, form: dict[str, Any]) -> None:
    root = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    await office.answers("#general", root)
    for number in range(3):
        given = {"text": f"{bot(office)} what about laptop number {number}?", **form}
        if given.get("thread_ts") == "ROOT":
            given["thread_ts"] = root
        message = put(office, "#general", **given)
        told = {**message, "channel": "C0GENERAL", "channel_type": "channel", "event_ts": message["ts"]}
        send(office, told)
        if "<@" in given["text"]:
            send(office, mention(office, "#general", message))
    await office.settled()
    assert len(office.knowledge.asked) == 1


async def test_our_own_words_are_no_question_whatever_their_form(office: Office) -> None:
    workspace = office.slack._state.workspace
    for own in ({"bot_id": workspace.bot_id}, {"bot_id": workspace.bot_id, "user": workspace.bot_user_id}):
        message = put(office, "#general", **own, text=f"{bot(office)} How many days of holiday do I get?")
        send(office, mention(office, "#general", message))
    await office.settled()
    assert office.knowledge.asked == []


async def test_a_line_of_a_direct_message_goes_on_from_the_line_before(office: Office) -> None:
    dm = office.slack.dm("alice")
    first = await office.ask("alice", "dm", "How many days of holiday do I get?")
    await office.answers(dm, first)
    second = await office.ask("alice", "dm", "and when do they expire?")
    (answer,) = await office.answers(dm, second)
    assert asked(office)[1] == ("and when do they expire?", ["How many days of holiday do I get?"])
    assert answer["thread_ts"] == second
    in_thread = await office.ask("alice", "dm", "and in Ghent?", second)
    await office.answers(dm, second, 2)
    assert asked(office)[2] == ("and in Ghent?", ["and when do they expire?"])
    await office.ask("bram", "dm", "and when do they expire?")
    await office.settled()
    assert asked(office)[3] == ("and when do they expire?", [])
    assert in_thread


async def test_lines_are_asked_in_their_order_however_fast_they_come(office: Office) -> None:
    office.knowledge.hold = asyncio.Event()
    lines = ["How many days of holiday do I get?", "and when do they expire?", "and in Ghent?"]
    for line in lines:
        await office.ask("alice", "dm", line)
    await office.heard()
    await office.slack.wait_for(lambda: office.knowledge.asked)
    await asyncio.sleep(0.1)  # another would be asked by now
    assert len(office.knowledge.asked) == 1
    office.knowledge.hold.set()
    await office.settled()
    assert asked(office) == [(line, lines[:at]) for at, line in enumerate(lines)]


async def test_after_an_hour_a_line_starts_anew(office: Office) -> None:
    dm = office.slack.dm("alice")
    first = await office.ask("alice", "dm", "How many days of holiday do I get?")
    await office.answers(dm, first)
    later = f"{int(first.split('.')[0]) + 3700}.000100"
    posted(office, dm, user="U0ALICE", ts=later, text="and when do they expire?")
    await office.answers(dm, later)
    assert asked(office)[1] == ("and when do they expire?", [])


async def test_a_deleted_line_leads_nowhere(office: Office) -> None:
    dm = office.slack.dm("alice")
    first = await office.ask("alice", "dm", "My salary is 100, is that right?")
    await office.answers(dm, first)
    await office.slack.delete("alice", "dm", first)
    await office.settled()
    await office.ask("alice", "dm", "and when is it paid?")
    await office.settled()
    assert asked(office)[1] == ("and when is it paid?", [])


@pytest.mark.parametrize(
    "stored", [b"{", b'[{"question": 1}]', None], ids=["damaged", "another version", "lost"]
)
async def test_a_thread_whose_turns_cannot_be_read_is_read_anew_from_slack(
    office: Office, stored: bytes | None
) -> None:
    root = await office.ask("alice", "#general", "@footnote What about laptops?")
    await office.answers("#general", root)
    key = f"{office.namespace}:turns:{ThreadKey(team='T0HAVIK', channel='C0GENERAL', thread=root)}"
    await (office.redis.delete(key) if stored is None else office.redis.set(key, stored))
    for count, words in enumerate(["@footnote and phones?", "@footnote and screens?"], 2):
        await office.ask("alice", "#general", words, root)
        await office.answers("#general", root, count)
    said = [("What about laptops?", "About: What about laptops?"), ("and phones?", "About: and phones?")]
    assert [(turn.question, turn.answer) for turn in turns_of(office, 1)] == said[:1]
    assert [(turn.question, turn.answer) for turn in turns_of(office)] == said
