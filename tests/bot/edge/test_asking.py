"""Asking from elsewhere than a message: the shortcut, `/kb ask`, and who is told what there."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from slack_bolt.request.async_request import AsyncBoltRequest

from bot.rendering.fallback_actions import ASK_OWNER, MISSING
from bot.rendering.render import HELPFUL, NOT_HELPFUL, WHY
from bot.views.shortcut import CALLBACK, QUESTION, WHERE
from kb.answer import NearestPage
from kb.models import Audience
from tests.fakes.answers import an_answer, without_answer
from tests.fakes.office import Office, shown

HOLIDAY = "How many days of holiday do I get?"


async def whispers(office: Office, user: str, channel: str, count: int = 1) -> list[dict[str, Any]]:
    await office.slack.wait_for(lambda: len(office.slack.ephemerals(user, channel)) >= count)
    await office.idle()
    return office.slack.ephemerals(user, channel)


async def dialog(office: Office, user: str, channel: str, ts: str) -> dict[str, Any]:
    assert await office.slack.shortcut(user, channel, ts)
    return await office.slack.wait_for(lambda: office.slack.modal(user))


async def ask_about(office: Office, user: str, channel: str, ts: str, **said: str) -> dict[str, str]:
    """Uses the shortcut on a message and sends the dialog; returns what is wrong with it."""
    view = await dialog(office, user, channel, ts)
    values = {block: {block: value} for block, value in said.items()}
    return await office.slack.submit_view(user, view["id"], values)


def inputs(view: Mapping[str, Any]) -> dict[str, Any]:
    return {block["block_id"]: block["element"] for block in view["blocks"] if block["type"] == "input"}


def actions(message: Mapping[str, Any]) -> list[str]:
    return [
        one["action_id"]
        for block in message["blocks"]
        if block["type"] == "actions"
        for one in block["elements"]
    ]


async def test_kb_ask_answers_whoever_asks_alone_with_sources_and_buttons(either_office: Office) -> None:
    office = either_office
    await office.slack.command("alice", "#general", "/kb", f"ask {HOLIDAY}")
    (told,) = await whispers(office, "alice", "#general")
    assert told["text"].startswith(f"You asked: _{HOLIDAY}_\nAbout: {HOLIDAY}")
    assert "Leave policy" in told["text"]
    assert actions(told) == [HELPFUL, NOT_HELPFUL, WHY]
    assert shown(office) == []
    assert office.calls("chat.postMessage") == []


async def test_what_is_shown_to_somebody_alone_is_what_a_direct_message_tells(office: Office) -> None:
    await office.slack.command("dana", "#general", "/kb", "ask Who leads?")
    await whispers(office, "dana", "#general")
    alone = office.knowledge.asked[-1][0].audience
    ts = await office.ask("dana", "dm", "Who leads?")
    await office.answers(office.slack.dm("dana"), ts)
    assert office.knowledge.asked[-1][0].audience == alone
    assert {"G0PEOPLE", "#people-leads"} <= alone.channels
    await office.slack.command("farid", "#general", "/kb", "ask Who leads?")
    await whispers(office, "farid", "#general")
    assert "G0PEOPLE" not in office.knowledge.asked[-1][0].audience.channels


async def test_in_a_channel_that_we_are_not_in_it_is_answered_all_the_same(office: Office) -> None:
    (board,) = [one for one in office.slack.workspace.channels if one.name == "board"]
    (member, *_) = [one.name for one in office.slack.workspace.people if one.id in board.members]
    await office.slack.command(member, "#board", "/kb", f"ask {HOLIDAY}")
    (told,) = await whispers(office, member, "#board")
    assert HOLIDAY in told["text"]


async def test_an_ask_without_a_question_says_how_it_is_meant(office: Office) -> None:
    await office.slack.command("alice", "#general", "/kb", "ask")
    (told,) = await whispers(office, "alice", "#general")
    assert "`/kb ask How many days" in told["text"]
    assert office.knowledge.asked == []


async def test_a_question_that_cannot_be_queued_is_told_at_once(office: Office) -> None:
    office.queue.outages = 1
    await office.slack.command("bram", "#general", "/kb", f"ask {HOLIDAY}")
    (told,) = await whispers(office, "bram", "#general")
    assert told["text"].startswith("Ik kan je vraag nu niet aannemen")
    assert office.knowledge.asked == []


async def test_signs_that_slack_reads_as_marks_are_asked_as_they_were_typed(office: Office) -> None:
    await office.slack.command("alice", "#general", "/kb", "ask Is a < b and c > d for <!channel> & all?")
    (told,) = await whispers(office, "alice", "#general")
    assert office.knowledge.asked[-1][0].text == "Is a < b and c > d for <!channel> & all?"
    assert "<!channel>" not in told["text"]


async def test_the_same_command_delivered_twice_is_one_question_and_typed_twice_two(office: Office) -> None:
    payload = a_command(office, text=f"ask {HOLIDAY}")
    for _ in range(2):
        await dispatched(office, payload)
    await whispers(office, "alice", "#general")
    assert len(office.knowledge.asked) == 1
    await dispatched(office, payload | {"trigger_id": "another"})
    assert len(await whispers(office, "alice", "#general", 2)) == 2


async def test_a_kill_before_the_answer_loses_no_question_and_after_it_doubles_none(office: Office) -> None:
    await office.stop_working()
    await office.slack.command("alice", "#general", "/kb", f"ask {HOLIDAY}")
    question = await taken(office)
    await office.edge.handler(question, 2)  # the first attempt was killed before it said anything
    assert len(office.slack.ephemerals("alice", "#general")) == 1
    await office.edge.handler(question, 3)
    assert len(office.slack.ephemerals("alice", "#general")) == 1


async def test_where_the_response_url_is_gone_the_answer_comes_all_the_same(office: Office) -> None:
    gone = f"{office.slack.url}actions/gone"
    await dispatched(office, a_command(office, text=f"ask {HOLIDAY}", response_url=gone))
    (told,) = await whispers(office, "alice", "#general")
    assert HOLIDAY in told["text"]
    await dispatched(
        office,
        a_command(office, text="ask Mulch?", response_url=gone, channel_id="G0BOARD", trigger_id="other"),
    )
    dm = office.slack.dm("alice")
    await office.slack.wait_for(lambda: any("Mulch?" in text for text in shown(office, dm)))


async def test_a_slow_answer_is_announced_and_a_quick_one_is_not(office: Office) -> None:
    object.__setattr__(office.edge.handler.ephemeral, "wait_s", 0.05)
    office.knowledge.hold = asyncio.Event()
    await office.slack.command("alice", "#general", "/kb", f"ask {HOLIDAY}")
    await office.slack.wait_for(lambda: office.slack.ephemerals("alice", "#general"))
    office.knowledge.hold.set()
    announced, told = await whispers(office, "alice", "#general", 2)
    assert announced["text"].startswith("Searching")
    assert HOLIDAY in told["text"]


async def test_what_breaks_is_one_polite_sentence_to_the_asker_alone(office: Office) -> None:
    office.knowledge.error = ValueError("secret detail")
    await office.slack.command("alice", "#general", "/kb", f"ask {HOLIDAY}")
    (told,) = await whispers(office, "alice", "#general")
    assert told["text"].startswith("Sorry, something went wrong")
    assert "secret" not in str(office.slack.ephemerals("alice"))


async def test_buttons_that_need_a_thread_are_not_under_what_one_person_sees(office: Office) -> None:
    nearest = NearestPage(title="Tea", url="https://kb.example/tea", owner="Dana", page_id="kb:tea")
    office.knowledge.answers["Mulch?"] = an_answer(
        "", question="Mulch?", outcome="declined", sentences=(), citations=(), nearest=(nearest,)
    )
    await office.slack.command("alice", "#general", "/kb", "ask Mulch?")
    (told,) = await whispers(office, "alice", "#general")
    assert {ASK_OWNER, MISSING}.isdisjoint(actions(told))


async def test_votes_and_why_work_under_what_one_person_sees(office: Office) -> None:
    await office.slack.command("alice", "#general", "/kb", f"ask {HOLIDAY}")
    (told,) = await whispers(office, "alice", "#general")
    await office.slack.click("alice", "#general", told["ts"], HELPFUL)
    await office.slack.wait_for(lambda: len(office.slack.ephemerals("alice", "#general")) == 2)
    assert (await office.analytics.stats()).positive == 1
    await office.slack.click("alice", "#general", told["ts"], WHY)
    view = await office.slack.wait_for(lambda: office.slack.modal("alice"))
    assert HOLIDAY in str(view["blocks"])


async def test_why_of_what_one_person_saw_opens_for_nobody_else_and_not_once_a_page_is_limited(
    office: Office,
) -> None:
    await office.slack.command("alice", "#general", "/kb", f"ask {HOLIDAY}")
    (told,) = await whispers(office, "alice", "#general")
    identity = next(
        one["value"]
        for block in told["blocks"]
        if block["type"] == "actions"
        for one in block["elements"]
        if one["action_id"] == WHY
    )
    ts = await office.ask("chidi", "#general", "@footnote Something else entirely?")
    (other,) = await office.answers("#general", ts)
    press = {
        "type": "block_actions",
        "user": {"id": "U0CHIDI"},
        "channel": {"id": "C0GENERAL"},
        "trigger_id": office.slack._slack.surfaces.new_trigger("U0CHIDI"),
        "message": {"ts": other["ts"]},
        "container": {},
        "actions": [{"action_id": WHY, "value": identity, "type": "button", "block_id": "b"}],
    }
    await dispatched(office, press)
    view = await office.slack.wait_for(lambda: office.slack.modal("chidi"))
    assert view["blocks"][0]["text"]["text"] == "I no longer have the details of this answer."
    office.knowledge.hidden = {"page-leave-policy"}
    await office.slack.click("alice", "#general", told["ts"], WHY)
    view = await office.slack.wait_for(lambda: office.slack.modal("alice"))
    assert view["blocks"][0]["text"]["text"] == "I no longer have the details of this answer."


async def test_the_shortcut_opens_a_dialog_with_what_the_message_says(either_office: Office) -> None:
    office = either_office
    ts = await office.slack.say("bram", "#general", f"Does <@U0DANA> know? {HOLIDAY}")
    view = await dialog(office, "alice", "#general", ts)
    assert view["callback_id"] == CALLBACK
    assert inputs(view)[QUESTION]["initial_value"] == f"Does @dana know? {HOLIDAY}"
    assert [one["value"] for one in inputs(view)[WHERE]["options"]] == ["alone", "thread"]
    assert office.knowledge.asked == []


async def test_what_was_forwarded_is_asked_about_as_well(office: Office) -> None:
    ts = await office.slack.say("bram", "#garden-shop", "Is mulch sold by the bag?")
    forwarded = await office.slack.forward("bram", "#garden-shop", ts, "#general", text="Who knows?")
    view = await dialog(office, "alice", "#general", forwarded)
    assert "Is mulch sold by the bag?" in inputs(view)[QUESTION]["initial_value"]


async def test_an_answer_for_me_alone_stays_with_me(office: Office) -> None:
    ts = await office.slack.say("bram", "#general", HOLIDAY)
    assert await ask_about(office, "alice", "#general", ts) == {}
    (told,) = await whispers(office, "alice", "#general")
    assert told["text"].startswith(f"You asked: _{HOLIDAY}_")
    assert office.replies("#general", ts) == []
    assert office.slack.ephemerals("bram") == []


async def test_an_answer_into_the_thread_is_told_what_the_channel_may_read_and_says_who_asked(
    office: Office,
) -> None:
    ts = await office.slack.say("bram", "#general", HOLIDAY)
    assert await ask_about(office, "dana", "#general", ts, where="thread") == {}
    (answer,) = await office.answers("#general", ts)
    assert answer["text"].startswith(f"<@U0DANA> asked: _{HOLIDAY}_\nAbout: {HOLIDAY}")
    assert office.slack.ephemerals("dana") == []
    assert office.knowledge.asked[-1][0].audience == Audience(channels=frozenset({"C0GENERAL", "#general"}))


async def test_the_same_words_about_the_same_message_are_answered_once_in_the_thread(office: Office) -> None:
    ts = await office.slack.say("bram", "#general", HOLIDAY)
    await ask_about(office, "dana", "#general", ts, where="thread")
    await office.answers("#general", ts)
    wrong = await ask_about(office, "chidi", "#general", ts, where="thread")
    assert wrong == {QUESTION: "This was asked here before: the answer is in the thread."}
    assert (
        await ask_about(office, "dana", "#general", ts, where="thread", question="Who carries it over?") == {}
    )
    assert len(await office.answers("#general", ts, 2)) == 2


async def test_a_dialog_that_is_sent_twice_is_one_question(office: Office) -> None:
    ts = await office.slack.say("bram", "#general", HOLIDAY)
    view = await dialog(office, "alice", "#general", ts)
    sent = {
        "type": "view_submission",
        "user": {"id": "U0ALICE"},
        "view": view
        | {
            "state": {
                "values": {
                    QUESTION: {QUESTION: {"type": "plain_text_input", "value": HOLIDAY}},
                    WHERE: {WHERE: {"type": "radio_buttons", "selected_option": {"value": "alone"}}},
                }
            }
        },
    }
    for _ in range(2):
        assert await dispatched(office, sent) in ("", "{}")
    await whispers(office, "alice", "#general")
    assert len(office.slack.ephemerals("alice", "#general")) == len(office.knowledge.asked) == 1


async def test_below_the_answer_that_a_shortcut_brought_the_thread_goes_on(office: Office) -> None:
    ts = await office.slack.say("bram", "#general", HOLIDAY)
    await ask_about(office, "bram", "#general", ts, where="thread")
    await office.answers("#general", ts)
    await office.ask("bram", "#general", "@footnote and when do they expire?", ts)
    await office.answers("#general", ts, 2)
    question, turns = office.knowledge.asked[-1]
    assert question.text == "and when do they expire?"
    assert [turn.question for turn in turns if turn.answer] == [HOLIDAY]


async def test_a_shortcut_in_the_middle_of_a_thread_is_answered_in_that_thread(office: Office) -> None:
    root = await office.slack.say("bram", "#general", "Good morning all")
    reply = await office.slack.say("chidi", "#general", HOLIDAY, root)
    await ask_about(office, "chidi", "#general", reply, where="thread")
    (answer,) = await office.answers("#general", root)
    assert HOLIDAY in answer["text"]


async def test_where_we_are_not_in_the_channel_only_the_asker_can_be_answered(office: Office) -> None:
    (board,) = [one for one in office.slack.workspace.channels if one.name == "board"]
    (member, *_) = [one.name for one in office.slack.workspace.people if one.id in board.members]
    ts = await office.slack.say(member, "#board", HOLIDAY)
    view = await dialog(office, member, "#board", ts)
    assert set(inputs(view)) == {QUESTION}
    assert view["blocks"][-1]["type"] == "context"
    assert await office.slack.submit_view(member, view["id"], {}) == {}
    (told,) = await whispers(office, member, "#board")
    assert HOLIDAY in told["text"]


async def test_a_slack_that_does_not_tell_of_the_channel_still_opens_the_dialog(office: Office) -> None:
    ts = await office.slack.say("bram", "#general", HOLIDAY)
    office.slack.faults.add("conversations.info", error="internal_error", times=5)
    view = await dialog(office, "alice", "#general", ts)
    assert set(inputs(view)) == {QUESTION}


async def test_a_dialog_that_cannot_be_taken_stays_open_and_says_so(office: Office) -> None:
    ts = await office.slack.say("bram", "#general", HOLIDAY)
    office.queue.outages = 1
    wrong = await ask_about(office, "alice", "#general", ts)
    assert wrong == {QUESTION: "I can't take your question at the moment. Please ask again in a few minutes."}


async def test_a_message_that_says_nothing_asks_for_the_question(office: Office) -> None:
    ts = await office.slack.say("bram", "#general", "<@U0FOOTNOTE>")
    await office.settled()
    view = await dialog(office, "alice", "#general", ts)
    assert "initial_value" not in inputs(view)[QUESTION]


def a_command(office: Office, **given: str) -> dict[str, Any]:
    return {
        "command": "/kb",
        "user_id": "U0ALICE",
        "channel_id": "C0GENERAL",
        "trigger_id": "one",
        "response_url": office.slack._response_urls.new(office.slack._room("#general"), "U0ALICE"),
    } | given


async def dispatched(office: Office, payload: dict[str, Any]) -> str:
    """What Slack sends, straight to the app; what the app sends back."""
    told = await office.edge.app.async_dispatch(AsyncBoltRequest(body=payload, mode="socket_mode"))
    assert told.status == 200
    return str(told.body or "")


async def taken(office: Office) -> Any:
    from bot.queue.claims import Lease

    lease = await office.queue.queue._claims.take("another")
    assert isinstance(lease, Lease)
    await office.queue.queue._claims.finish(lease)
    return lease.question


async def test_a_reading_is_chosen_by_its_button_once(office: Office) -> None:
    office.knowledge.answers["leave"] = without_answer(
        "unclear", interpretations=("Leave FAQ", "Leave policy")
    )
    ts = await office.ask("alice", "#general", "@footnote leave")
    (asked_back,) = await office.answers("#general", ts)
    buttons = [one for block in asked_back["blocks"] for one in block.get("elements", ()) if "value" in one]
    assert [one["text"]["text"] for one in buttons] == ["Leave FAQ", "Leave policy"]
    for user in ("alice", "bram"):
        assert await office.slack.click(user, "#general", asked_back["ts"], buttons[1]["action_id"])
    told = (await office.answers("#general", ts, 2))[1:]
    await office.settled()
    assert [question.text for question, _ in office.knowledge.asked] == ["leave", "Leave policy"]
    assert office.knowledge.asked[1][1][-1].outcome == "unclear"
    assert len(told) == 1
    assert "<@U0ALICE> asked" in told[0]["text"]
