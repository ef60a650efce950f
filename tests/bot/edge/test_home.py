"""App Home and the agent's pane: what they offer to whom, and that a press is one question."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
from redis.asyncio import Redis
from slack_bolt.request.async_request import AsyncBoltRequest

from bot.playground import SlackLimits, sample_workspace
from bot.slack.scopes import REQUIRED
from kb.errors import IndexUnavailableError, StoreUnavailableError
from kb.jobs import SourceState, SyncRecord
from kb.models import PageDates
from tests.fakes.answers import a_citation, a_page, an_answer
from tests.fakes.office import NOW, Office, open_office

HOLIDAY = "How many days of holiday do I get?"
PAY = "What does a lead earn?"
PUBLIC, LEADS = "page-leave-policy", "page-pay-bands"


@pytest.fixture
async def plain_office(redis: Redis, limits: SlackLimits) -> AsyncIterator[Office]:
    """The workspace of an app that was installed without the agent's view."""
    workspace = replace(sample_workspace(), scopes=REQUIRED, agent_view=False)
    async with open_office(redis, limits, workspace=workspace) as running:
        yield running


async def home(office: Office, user: str) -> dict[str, Any]:
    """Their Home, drawn anew."""
    before = office.slack.home(user)
    await office.slack.open_home(user)
    return await office.slack.wait_for(lambda: _another(office.slack.home(user), before))


def _another(view: dict[str, Any] | None, before: dict[str, Any] | None) -> dict[str, Any] | None:
    return view if view is not None and (before is None or view["hash"] != before["hash"]) else None


def buttons(view: dict[str, Any], begin: str = "footnote_ask_") -> dict[str, dict[str, Any]]:
    return {
        one["action_id"]: one
        for block in view["blocks"]
        if block["type"] == "actions"
        for one in block["elements"]
        if one["action_id"].startswith(begin)
    }


def offered(view: dict[str, Any]) -> list[str]:
    return [one["value"] for one in buttons(view).values()]


def told(view: dict[str, Any]) -> str:
    return json.dumps(view["blocks"], ensure_ascii=False)


async def asked_by(office: Office, channel: str, question: str, *people: str) -> None:
    for person in people:
        ts = await office.ask(person, channel, f"@footnote {question}")
        await office.answers(channel, ts)


def with_pages(office: Office) -> None:
    """A page for everyone and one for the leads, each with a question that it answers."""
    office.pages.add(PUBLIC, "Leave policy")
    office.pages.add(LEADS, "Pay bands", "#people-leads")
    page = a_page(title="Pay bands")
    assert page.id == LEADS
    office.knowledge.answers[PAY] = an_answer(
        "Leads earn well.", question=PAY, citations=(a_citation(1, page),)
    )


async def test_what_several_people_asked_is_offered_and_what_one_asked_is_not(office: Office) -> None:
    with_pages(office)
    await asked_by(office, "#general", HOLIDAY, "alice", "chidi")
    await asked_by(office, "#general", "Who carries my holiday over?", "alice", "alice")
    assert offered(await home(office, "farid")) == [HOLIDAY]


async def test_other_ways_to_write_a_question_are_the_same_question(office: Office) -> None:
    with_pages(office)
    await asked_by(office, "#general", HOLIDAY, "alice")
    await asked_by(office, "#general", "how many days of holiday  do I get", "chidi")
    assert [one.casefold().strip("?") for one in offered(await home(office, "farid"))] == [
        "how many days of holiday do i get"
    ]


async def test_a_question_is_offered_to_who_may_read_its_pages_and_to_nobody_else(office: Office) -> None:
    with_pages(office)
    await asked_by(office, "#general", PAY, "alice", "dana")
    assert offered(await home(office, "dana")) == [PAY]
    assert PAY not in told(await home(office, "farid"))
    assert "Pay bands" not in told(await home(office, "farid"))
    await office.slack.open_home("farid", "messages")
    await office.slack.wait_for(lambda: office.slack.prompts("farid"))
    assert "Pay bands" not in str(office.slack.prompts("farid"))
    assert PAY not in str(office.slack.prompts("farid"))


async def test_a_question_is_offered_no_more_once_its_page_is_limited(office: Office) -> None:
    with_pages(office)
    await asked_by(office, "#general", HOLIDAY, "alice", "chidi")
    assert offered(await home(office, "farid")) == [HOLIDAY]
    office.pages.add(PUBLIC, "Leave policy", "#people-leads")
    view = await home(office, "farid")
    assert offered(view) == []
    assert "Leave policy" not in told(view)


@pytest.mark.parametrize("place", ["#people-leads", "dm"])
async def test_what_was_asked_privately_is_offered_to_nobody(office: Office, place: str) -> None:
    with_pages(office)
    for person in ("alice", "dana", "emma"):
        channel = office.slack.dm(person) if place == "dm" else place
        await asked_by(office, channel, "Is the Ghent office to be closed?", person)
    assert "Ghent" not in told(await home(office, "farid"))
    assert "Ghent" not in "".join(offered(await home(office, "dana")))


@pytest.mark.parametrize("outcome", ["declined", "closest", "unclear", "unavailable", "chat"])
async def test_what_was_not_answered_is_not_offered(office: Office, outcome: Any) -> None:
    with_pages(office)
    office.knowledge.answers[HOLIDAY] = an_answer("", question=HOLIDAY, outcome=outcome)
    await asked_by(office, "#general", HOLIDAY, "alice", "chidi")
    assert HOLIDAY not in offered(await home(office, "farid"))


async def test_without_questions_titles_are_offered_of_pages_that_this_person_may_read(
    office: Office,
) -> None:
    with_pages(office)
    assert offered(await home(office, "farid")) == ["What does “Leave policy” say?"]
    assert sorted(offered(await home(office, "dana"))) == [
        "What does “Leave policy” say?",
        "What does “Pay bands” say?",
    ]
    assert offered(await home(office, "bram")) == ["Wat staat er in “Leave policy”?"]


async def test_an_example_is_answered_in_the_direct_message_below_its_question(either_office: Office) -> None:
    office = either_office
    with_pages(office)
    view = await home(office, "alice")
    await office.slack.click_view("alice", view["id"], "footnote_ask_0")
    dm = office.slack.dm("alice")
    root = (await office.slack.wait_for(lambda: office.slack.messages(dm)))[0]
    question = offered(view)[0]
    assert root["text"] == question
    assert root["blocks"][0]["text"]["text"] == f"> {question}"
    await office.slack.wait_for(lambda: len(office.slack.messages(dm, root["ts"])) == 2)
    await office.idle()
    (_, answer) = office.slack.messages(dm, root["ts"])
    assert answer["text"].startswith(f"About: {question}")
    drawn = await office.slack.wait_for(lambda: _another(office.slack.home("alice"), view))
    assert f"Your answer comes under *Messages*: _{question}_" in told(drawn)
    assert office.slack.title("alice", root["ts"]) == question


async def test_it_is_told_what_a_direct_message_is_told(office: Office) -> None:
    with_pages(office)
    view = await home(office, "dana")
    await office.slack.click_view("dana", view["id"], "footnote_ask_0")
    await office.slack.wait_for(lambda: office.knowledge.asked)
    assert {"G0PEOPLE", "#people-leads"} <= office.knowledge.asked[0][0].audience.channels
    await office.idle()


async def test_a_double_press_is_one_question_and_a_press_on_another_day_another(office: Office) -> None:
    with_pages(office)
    view = await home(office, "alice")
    press = {
        "type": "block_actions",
        "user": {"id": "U0ALICE"},
        "trigger_id": "1",
        "view": view,
        "container": {"type": "view", "view_id": view["id"]},
        "actions": [buttons(view)["footnote_ask_0"] | {"block_id": "b"}],
    }
    for trigger in ("1", "1", "2"):
        await dispatched(office, press | {"trigger_id": trigger})
    dm = office.slack.dm("alice")
    await office.slack.wait_for(lambda: office.knowledge.asked)
    await office.settled()
    assert len(office.knowledge.asked) == len(office.slack.messages(dm)) == 1
    again = await home(office, "alice")
    await office.slack.click_view("alice", again["id"], "footnote_ask_0")
    await office.slack.wait_for(lambda: len(office.knowledge.asked) == 2)
    await office.idle()
    assert len(office.slack.messages(dm)) == 2


async def test_a_press_that_cannot_be_queued_is_not_acknowledged_and_can_be_made_again(
    office: Office,
) -> None:
    with_pages(office)
    view = await home(office, "alice")
    office.queue.outages = 1
    assert not await office.slack.click_view("alice", view["id"], "footnote_ask_0")
    assert await office.slack.click_view("alice", view["id"], "footnote_ask_0")
    await office.slack.wait_for(lambda: office.knowledge.asked)
    await office.idle()
    assert len(office.knowledge.asked) == 1


async def test_a_kill_after_the_question_was_posted_posts_it_no_second_time(office: Office) -> None:
    with_pages(office)
    await office.stop_working()
    view = await home(office, "alice")
    await office.slack.click_view("alice", view["id"], "footnote_ask_0")
    question = await taken(office)
    dm = office.slack.dm("alice")
    await office.edge.handler.home_messages.posted_once(question, first=True)  # and then it was killed
    assert len(office.slack.messages(dm)) == 1
    for attempt in (2, 3):
        await office.edge.handler(question, attempt)
    (root,) = office.slack.messages(dm)
    assert len(office.slack.messages(dm, root["ts"])) == 2
    assert len(office.knowledge.asked) == 1


async def test_a_post_whose_fate_is_unknown_is_looked_for_before_it_is_made_again(office: Office) -> None:
    with_pages(office)
    view = await home(office, "alice")
    office.slack.faults.add("chat.postMessage", drop=True, after=True)
    await office.slack.click_view("alice", view["id"], "footnote_ask_0")
    dm = office.slack.dm("alice")
    await office.slack.wait_for(lambda: office.knowledge.asked)
    await office.idle()
    (root,) = office.slack.messages(dm)
    assert len(office.slack.messages(dm, root["ts"])) == 2


async def test_when_it_is_too_late_for_an_answer_the_direct_message_says_so(office: Office) -> None:
    with_pages(office)
    office.knowledge.error = StoreUnavailableError("away")
    later = NOW + office.settings.answer_within + timedelta(minutes=1)
    object.__setattr__(office.edge.handler, "clock", lambda: later)
    view = await home(office, "alice")
    await office.slack.click_view("alice", view["id"], "footnote_ask_0")
    dm = office.slack.dm("alice")
    (root,) = await office.slack.wait_for(lambda: office.slack.messages(dm))
    await office.slack.wait_for(lambda: len(office.slack.messages(dm, root["ts"])) == 2)
    await office.idle()
    assert office.slack.messages(dm, root["ts"])[1]["text"].startswith(
        "Sorry, I couldn't answer this in time"
    )
    assert len(office.slack.messages(dm)) == 1


async def test_ones_last_questions_are_linked_and_only_ones_own(office: Office) -> None:
    with_pages(office)
    await asked_by(office, "#general", HOLIDAY, "farid")
    ts = office.slack.messages("#general")[-1]["ts"]
    await asked_by(office, "#general", "Who waters the plants?", "chidi")
    view = told(await home(office, "farid"))
    assert "Your last questions" in view
    assert f"archives/C0GENERAL/p{ts.replace('.', '')}|{HOLIDAY}>" in view
    assert "plants" not in view
    assert "Your last questions" not in told(await home(office, "bram"))


async def test_a_last_question_is_gone_once_what_answered_it_was_limited_or_the_message_deleted(
    office: Office,
) -> None:
    with_pages(office)
    await asked_by(office, "#general", HOLIDAY, "farid")
    await asked_by(office, "#general", "Who waters the plants?", "farid")
    office.knowledge.answers[PAY] = an_answer(
        "x", question=PAY, citations=(a_citation(1, a_page(title="Pay bands")),)
    )
    office.pages.add(LEADS, "Pay bands")
    await asked_by(office, "#general", PAY, "farid")
    assert PAY in told(await home(office, "farid"))
    office.pages.add(LEADS, "Pay bands", "#people-leads")
    view = told(await home(office, "farid"))
    assert PAY not in view
    assert "plants" in view
    (plants,) = [
        one
        for one in office.slack.messages("#general")
        if "plants" in one.get("text", "") and not one.get("bot_id")
    ]
    await office.slack.delete("farid", "#general", plants["ts"])
    await office.settled()
    assert "plants" not in told(await home(office, "farid"))


async def test_the_sources_are_counted_as_this_person_may_read_them(office: Office) -> None:
    old = PageDates(review_due=date(2026, 1, 1))
    for number in range(4):
        office.pages.add(f"handbook:{number}.md", f"Handbook {number}")
    office.pages.dates["handbook:0.md"] = old
    office.pages.add("handbook:pay.md", "Pay", "#people-leads")
    office.pages.dates["handbook:pay.md"] = old
    office.pages.add("mergers:plan.md", "The plan", "#people-leads")
    office.status.sources = (
        SourceState(name="handbook", pages=5, last=SyncRecord(at=NOW - timedelta(hours=2))),
        SourceState(name="mergers", pages=1, last=SyncRecord(at=NOW, error="secret host")),
    )
    view = told(await home(office, "farid"))
    assert "• *handbook*: 4 pages · read 2 hours ago · 1 is out of date (25%)" in view
    assert "mergers" not in view
    view = told(await home(office, "dana"))
    assert "• *handbook*: 5 pages · read 2 hours ago · 2 are out of date (40%)" in view
    assert "• *mergers*: 1 page · could not be read" in view
    assert "secret host" not in view


async def test_an_index_that_is_away_leaves_the_rest_of_home(office: Office) -> None:
    office.pages.error = IndexUnavailableError("away")
    view = await home(office, "dana")
    assert "How to ask" in told(view)
    assert "What I answer from" not in told(view)
    assert offered(view) == []


async def test_admins_open_how_it_does_what_is_missing_and_votes_with_one_press(office: Office) -> None:
    with_pages(office)
    await asked_by(office, "#general", HOLIDAY, "alice")
    (root,) = [one for one in office.slack.messages("#general") if not one.get("bot_id")]
    (answer,) = office.replies("#general", root["ts"])
    await office.slack.click("alice", "#general", answer["ts"], "footnote_not_helpful")
    view = await office.slack.wait_for(lambda: office.slack.modal("alice"))
    await office.slack.submit_view(
        "alice", view["id"], {"reason": {"reason": "outdated"}, "comment": {"comment": "It is 26 <now>"}}
    )
    await office.slack.wait_for(lambda: office.slack.ephemerals("alice"))
    drawn = await home(office, "dana")
    names = list(buttons(drawn, "footnote_show_"))
    assert names == [f"footnote_show_{one}" for one in ("status", "gaps", "stale", "votes")]
    shown_in = {}
    for name in names:
        await office.slack.click_view("dana", drawn["id"], name)
        filled = await office.slack.wait_for(lambda: _filled(office.slack.modal("dana")))
        shown_in[name] = told(filled)
        await office.slack.close_view("dana", filled["id"])
    assert "Pages in the index: 30" in shown_in["footnote_show_status"]
    assert f"👎 1  _{HOLIDAY}_" in shown_in["footnote_show_votes"]
    assert "It is out of date: It is 26 &lt;now&gt;" in shown_in["footnote_show_votes"]


def _filled(view: dict[str, Any] | None) -> dict[str, Any] | None:
    return view if view is not None and "One moment" not in told(view) else None


async def test_the_words_of_what_was_asked_privately_are_in_no_list_of_votes(office: Office) -> None:
    with_pages(office)
    dm = office.slack.dm("alice")
    await asked_by(office, dm, "Is my cancer leave paid?", "alice")
    question = next(one for one in office.slack.messages(dm) if not one.get("bot_id"))
    (answer,) = office.replies(dm, question["ts"])
    await office.slack.click("alice", dm, answer["ts"], "footnote_helpful")
    await office.slack.wait_for(lambda: office.slack.ephemerals("alice"))
    drawn = await home(office, "dana")
    await office.slack.click_view("dana", drawn["id"], "footnote_show_votes")
    filled = await office.slack.wait_for(lambda: _filled(office.slack.modal("dana")))
    assert "a question that was asked privately" in told(filled)
    assert "cancer" not in told(filled)


async def test_who_is_no_admin_has_no_such_buttons_and_a_forged_press_shows_nothing(office: Office) -> None:
    with_pages(office)
    drawn = await home(office, "alice")
    assert buttons(drawn, "footnote_show_") == {}
    press = {
        "type": "block_actions",
        "user": {"id": "U0ALICE"},
        "trigger_id": office.slack._slack.surfaces.new_trigger("U0ALICE"),
        "view": drawn,
        "container": {"type": "view", "view_id": drawn["id"]},
        "actions": [{"type": "button", "action_id": "footnote_show_votes", "block_id": "b"}],
    }
    await dispatched(office, press)
    view = await office.slack.wait_for(lambda: office.slack.modal("alice"))
    assert "only admins" in told(view)


async def test_the_pane_suggests_without_a_thread_and_titles_a_conversation(office: Office) -> None:
    with_pages(office)
    await asked_by(office, "#general", HOLIDAY, "alice", "chidi")
    await office.slack.open_home("farid", "messages")
    await office.slack.wait_for(lambda: office.slack.prompts("farid"))
    assert office.slack.prompts("farid") == [{"title": HOLIDAY, "message": HOLIDAY}]
    (call,) = office.calls("assistant.threads.setSuggestedPrompts")
    assert "thread_ts" not in call.arguments
    assert office.slack.home("farid") is None
    ts = await office.ask("farid", "dm", HOLIDAY)
    await office.answers(office.slack.dm("farid"), ts)
    await office.slack.wait_for(lambda: office.slack.title("farid", ts) == HOLIDAY)
    await office.ask("farid", "dm", "and when do they expire?", ts)
    await office.answers(office.slack.dm("farid"), ts, 2)
    assert office.slack.title("farid", ts) == HOLIDAY


async def test_opening_the_pane_again_posts_nothing(office: Office) -> None:
    with_pages(office)
    for _ in range(3):
        await office.slack.open_home("farid", "messages")
    await office.settled()
    assert office.calls("chat.postMessage") == []


@pytest.mark.parametrize("error", ["unknown_method", "missing_scope"])
async def test_where_there_is_no_pane_it_is_asked_for_once_and_nothing_breaks(
    office: Office, error: str
) -> None:
    with_pages(office)
    office.slack.faults.add("assistant.threads.setSuggestedPrompts", error=error, times=9)
    for _ in range(3):
        await office.slack.open_home("farid", "messages")
        await office.settled()
    assert len(office.calls("assistant.threads.setSuggestedPrompts")) == 1
    ts = await office.ask("farid", "dm", HOLIDAY)
    (answer,) = await office.answers(office.slack.dm("farid"), ts)
    assert answer["text"].startswith("About:")
    assert office.edge.activity.failures == 0


async def test_a_plain_bot_works_without_the_scope(plain_office: Office) -> None:
    office = plain_office
    with_pages(office)
    await office.slack.open_home("farid", "messages")
    ts = await office.ask("farid", "dm", HOLIDAY)
    (answer,) = await office.answers(office.slack.dm("farid"), ts)
    assert answer["text"].startswith("About:")
    await office.settled()
    assert office.edge.activity.failures == 0


async def test_the_former_assistants_thread_is_greeted_once_with_prompts_in_it(plain_office: Office) -> None:
    office = plain_office
    object.__setattr__(office.slack.workspace, "scopes", (*REQUIRED, "assistant:write"))
    with_pages(office)
    root = await office.slack.say("farid", "dm", "hello")
    await office.answers(office.slack.dm("farid"), root)
    dm, before = office.slack.dm("farid"), len(office.calls("chat.postMessage"))
    root = office.slack._slack.state.next_ts()
    office.slack._slack.state.rooms[dm].messages[root] = {
        "type": "message", "subtype": "assistant_app_thread", "user": "U0FOOTNOTE", "bot_id": "B0FOOTNOTE",
        "ts": root, "thread_ts": root, "text": "New Assistant Thread",
    }  # fmt: skip
    event = {
        "type": "event_callback",
        "team_id": "T0HAVIK",
        "event": {
            "type": "assistant_thread_started",
            "assistant_thread": {"user_id": "U0FARID", "channel_id": dm, "thread_ts": root, "context": {}},
            "event_ts": root,
        },
    }
    for _ in range(2):
        await dispatched(office, event)
        await office.slack.wait_for(lambda: len(office.slack.messages(dm, root)) == 2)
        await office.settled()
    assert office.slack.messages(dm, root)[1]["text"].startswith("Hello! Ask me a question")
    assert len(office.calls("chat.postMessage")) == before + 1
    assert {
        call.arguments.get("thread_ts") for call in office.calls("assistant.threads.setSuggestedPrompts")
    } == {root}
    await dispatched(office, event | {"event": event["event"] | {"type": "assistant_thread_context_changed"}})
    question = await office.ask("farid", "dm", HOLIDAY, root)
    await office.slack.wait_for(
        lambda: any("About:" in one["text"] for one in office.slack.messages(dm, root))
    )
    await office.idle()
    assert question
    await office.slack.wait_for(lambda: office.slack.title("farid", root) == HOLIDAY)


async def test_a_question_about_others_is_never_offered(office: Office) -> None:
    with_pages(office)
    for person in ("alice", "chidi"):
        ts = await office.ask(person, "#general", "@footnote Is <@U0DANA> on leave this week?")
        await office.answers("#general", ts)
    assert "on leave" not in "".join(offered(await home(office, "farid")))


async def dispatched(office: Office, payload: dict[str, Any]) -> None:
    reply = await office.edge.app.async_dispatch(AsyncBoltRequest(body=payload, mode="socket_mode"))
    assert reply.status == 200


async def taken(office: Office) -> Any:
    from bot.queue.claims import Lease

    lease = await office.queue.queue._claims.take("another")
    assert isinstance(lease, Lease)
    await office.queue.queue._claims.finish(lease)
    return lease.question
