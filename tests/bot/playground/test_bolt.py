"""A real Bolt app works with the playground unchanged, over Socket Mode and over signed HTTP alike."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import aiohttp
import pytest
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import SlackLimits
from tests.fakes.playground import Playground
from tests.fakes.slack_errors import refusal

BUTTONS = [
    {
        "type": "actions",
        "block_id": "buttons",
        "elements": [
            {
                "type": "button",
                "action_id": "why",
                "text": {"type": "plain_text", "text": "Why this answer?"},
                "value": "q1",
            }
        ],
    },
    {
        "type": "context_actions",
        "block_id": "votes",
        "elements": [
            {
                "type": "feedback_buttons",
                "action_id": "vote",
                "positive_button": {"text": {"type": "plain_text", "text": "Good"}, "value": "up"},
                "negative_button": {"text": {"type": "plain_text", "text": "Bad"}, "value": "down"},
            }
        ],
    },
]


def a_modal(title: str = "Why", **more: Any) -> dict[str, Any]:
    text = {"type": "mrkdwn", "text": "because"}
    shown = {"type": "modal", "callback_id": "why", "title": {"type": "plain_text", "text": title}}
    return shown | {"blocks": [{"type": "section", "text": text}]} | more


AN_INPUT = {
    "type": "input",
    "block_id": "comment",
    "label": {"type": "plain_text", "text": "Comment"},
    "element": {"type": "plain_text_input", "action_id": "text"},
}


def register(app: AsyncApp, seen: list[Any]) -> None:
    """An app that answers mentions, commands, buttons and forms, and notes what it got."""

    @app.event("app_mention")
    async def mention(event: dict[str, Any], say: Any) -> None:
        await say(text="echo", blocks=BUTTONS, thread_ts=event["ts"])

    @app.event("message")
    async def message(event: dict[str, Any]) -> None:
        seen.append(("message", event["text"]))

    @app.command("/kb")
    async def kb(ack: Any, respond: Any, command: dict[str, Any]) -> None:
        if command["text"] == "silent":
            return
        await ack(f"on it: {command['text']}")
        if command["text"] == "reindex":
            await respond("done")

    @app.action("why")
    async def why(ack: Any, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        seen.append(("why", body["actions"][0]["value"], body["container"]))
        await client.views_open(trigger_id=body["trigger_id"], view=a_modal())

    @app.action("vote")
    async def vote(ack: Any, action: dict[str, Any]) -> None:
        await ack()
        seen.append((action["type"], action["value"]))

    @app.view("form")
    async def form(ack: Any, view: dict[str, Any]) -> None:
        text = view["state"]["values"]["comment"]["text"]["value"]
        if not text:
            await ack(response_action="errors", errors={"comment": "Please say something"})
            return
        await ack()

    @app.event("app_home_opened")
    async def home(event: dict[str, Any], client: AsyncWebClient) -> None:
        view = {"type": "home", "blocks": a_modal()["blocks"]}
        await client.views_publish(user_id=event["user"], view=view)


@pytest.fixture
def seen() -> list[Any]:
    return []


@pytest.fixture(params=["socket mode", "signed http"])
async def slack(request: pytest.FixtureRequest, clock, limits, bolt, seen: list[Any]):
    """A playground with the app above connected to it."""
    clock.now = time.time()  # Bolt compares the signature's time with the system's
    async with bolt(request.param, lambda app: register(app, seen), clock=clock, limits=limits) as playground:
        yield playground


async def test_a_mention_is_answered_in_its_thread(slack: Playground, seen: list[Any]) -> None:
    ts = await slack.say("alice", "#general", "@footnote hello")
    (answer,) = await slack.wait_for(lambda: slack.messages("#general", ts)[1:])
    assert (answer["text"], answer["thread_ts"], answer["user"]) == ("echo", ts, "U0FOOTNOTE")
    await slack.wait_for(lambda: ("message", "<@U0FOOTNOTE> hello") in seen)
    assert {one.outcome for one in slack.deliveries} == {"acknowledged"}


async def test_a_command_is_answered_to_its_user_alone(slack: Playground) -> None:
    await slack.command("dana", "#general", "/kb", "reindex")
    told = await slack.wait_for(lambda: len(slack.ephemerals("dana")) == 2 and slack.ephemerals("dana"))
    assert {message["text"] for message in told} == {"on it: reindex", "done"}
    assert slack.messages("#general") == slack.ephemerals("alice") == []


@pytest.mark.parametrize("limits", [SlackLimits(ack_timeout_s=0.3)], ids=["300 ms"])
async def test_a_command_that_is_not_acknowledged_fails_in_front_of_its_user(slack: Playground) -> None:
    await slack.command("dana", "#general", "/kb", "silent")
    (told,) = slack.ephemerals("dana")
    assert told["text"].startswith("/kb failed with the error")
    await slack.command("dana", "#general", "/nothing")
    assert "not a valid command" in slack.ephemerals("dana")[-1]["text"]


async def test_a_button_opens_a_modal(slack: Playground, seen: list[Any]) -> None:
    root = await slack.say("alice", "#general", "@footnote hello")
    (answer,) = await slack.wait_for(lambda: slack.messages("#general", root)[1:])
    assert await slack.click("alice", "#general", answer["ts"], "why")
    modal = await slack.wait_for(lambda: slack.modal("alice"))
    assert modal["title"]["text"] == "Why"
    assert slack.modal("bram") is None
    container = {
        "type": "message",
        "message_ts": answer["ts"],
        "channel_id": "C0GENERAL",
        "is_ephemeral": False,
        "thread_ts": root,
    }
    assert ("why", "q1", container) in seen


async def test_feedback_buttons_send_the_chosen_value(slack: Playground, seen: list[Any]) -> None:
    root = await slack.say("alice", "#general", "@footnote hello")
    (answer,) = await slack.wait_for(lambda: slack.messages("#general", root)[1:])
    assert await slack.click("bram", "#general", answer["ts"], "vote", "down")
    assert ("feedback_buttons", "down") in seen


async def test_a_form_shows_its_errors_and_closes_when_it_is_taken(slack: Playground) -> None:
    client = AsyncWebClient(token="xoxb-playground", base_url=slack.api_url)
    trigger = slack._slack.surfaces.new_trigger("U0ALICE")
    submit = {"type": "plain_text", "text": "Send"}
    view = a_modal(callback_id="form", blocks=[AN_INPUT], submit=submit)
    view_id = (await client.views_open(trigger_id=trigger, view=view))["view"]["id"]
    assert await slack.submit_view("alice", view_id) == {"comment": "Please say something"}
    assert await slack.submit_view("alice", view_id, {"comment": {"text": "fine"}}) == {}
    assert slack.modal("alice") is None


async def test_the_home_tab_is_published_when_it_is_opened(slack: Playground) -> None:
    await slack.open_home("alice")
    view = await slack.wait_for(lambda: slack.home("alice"))
    assert view["type"] == "home"


async def test_a_wrong_signature_is_not_acknowledged_by_bolt(clock, limits, bolt) -> None:
    async with bolt("signed http", lambda app: None, clock=clock, limits=limits) as playground:
        await playground.say("alice", "#general", "the clock of this playground is months off")
        await playground.wait_for(lambda: len(playground.deliveries) == 4)
    assert [one.outcome for one in playground.deliveries] == ["http_error"] * 4


async def test_the_app_connects_anew_when_its_socket_is_cut_or_refreshed(
    playground: Playground, new_app, connect, seen: list[Any]
) -> None:
    app = new_app()
    register(app, seen)
    async with connect(app, playground):
        await playground.refresh_sockets()
        await playground.wait_for(lambda: playground.connected == 1)
        ts = await playground.say("alice", "#general", "@footnote one")
        await playground.wait_for(lambda: playground.messages("#general", ts)[1:])
        await playground.drop_sockets()
        await playground.wait_for(lambda: playground.connected == 1)
        ts = await playground.say("alice", "#general", "@footnote two")
        await playground.wait_for(lambda: playground.messages("#general", ts)[1:])


async def test_two_replicas_answer_a_mention_once(playground: Playground, new_app, connect) -> None:
    first: list[Any] = []
    second: list[Any] = []
    one, other = new_app(), new_app()
    register(one, first)
    register(other, second)
    async with connect(one, playground), connect(other, playground):
        ts = await playground.say("alice", "#general", "@footnote hello")
        await playground.wait_for(lambda: playground.messages("#general", ts)[1:])
        await playground.wait_for(lambda: len(playground.deliveries) == 3)
        await asyncio.sleep(0.05)
    assert len(playground.messages("#general", ts)) == 2
    assert sorted(len(seen) for seen in (first, second)) == [0, 1]


async def test_a_trigger_opens_one_view_within_three_seconds(
    playground: Playground, client: AsyncWebClient, clock
) -> None:
    surfaces = playground._slack.surfaces
    trigger = surfaces.new_trigger("U0ALICE")
    await client.views_open(trigger_id=trigger, view=a_modal())
    assert await refusal(client.views_open(trigger_id=trigger, view=a_modal())) == "exchanged_trigger_id"
    late = surfaces.new_trigger("U0ALICE")
    clock.move(3.1)
    assert await refusal(client.views_open(trigger_id=late, view=a_modal())) == "expired_trigger_id"
    assert await refusal(client.views_open(trigger_id="1.2.3", view=a_modal())) == "invalid_trigger_id"


async def test_a_view_is_updated_in_its_place_and_closed(
    playground: Playground, client: AsyncWebClient
) -> None:
    trigger = playground._slack.surfaces.new_trigger("U0ALICE")
    view_id = (await client.views_open(trigger_id=trigger, view=a_modal()))["view"]["id"]
    await client.views_update(view_id=view_id, view=a_modal("New"))
    modal = playground.modal("alice")
    assert modal is not None
    assert (modal["id"], modal["title"]["text"]) == (view_id, "New")
    await playground.close_view("alice", view_id)
    assert playground.modal("alice") is None
    assert await refusal(client.views_update(view_id=view_id, view=a_modal())) == "not_found"


async def test_a_response_url_works_five_times_within_half_an_hour(playground: Playground, clock) -> None:
    urls = playground._response_urls
    room = playground._room("#general")
    used, late = urls.new(room, "U0ALICE"), urls.new(room, "U0ALICE")
    async with aiohttp.ClientSession() as session:
        statuses = []
        for number in range(6):
            async with session.post(used, json={"text": str(number)}) as response:
                statuses.append(response.status)
        clock.move(30 * 60 + 1)
        async with session.post(late, json={"text": "late"}) as response:
            assert (response.status, (await response.json())["error"]) == (404, "expired_url")
    assert statuses == [200] * 5 + [404]
    assert [one["text"] for one in playground.ephemerals("alice")] == ["0", "1", "2", "3", "4"]
