"""Events: the twins of a mention, redelivery, and one socket only, against sockets of our own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import SlackLimits
from tests.fakes.playground import Playground

impatient = pytest.mark.parametrize(
    "limits",
    [SlackLimits(ack_timeout_s=1.0, retry_delays_s=(0.0, 0.02, 0.02))],
    ids=["a second to acknowledge"],
)


class Listener:
    """A raw Socket Mode client. `answers` decides whether an envelope is acknowledged."""

    def __init__(
        self, ws: aiohttp.ClientWebSocketResponse, answers: Callable[[dict[str, Any]], bool]
    ) -> None:
        self.ws = ws
        self.answers = answers
        self.got: list[dict[str, Any]] = []

    async def run(self) -> None:
        async for message in self.ws:
            envelope = json.loads(message.data)
            self.got.append(envelope)
            if "envelope_id" in envelope and self.answers(envelope):
                await self.ws.send_json({"envelope_id": envelope["envelope_id"]})

    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        found = [one for one in self.got if one["type"] == "events_api"]
        return [one for one in found if kind is None or one["payload"]["event"]["type"] == kind]


@asynccontextmanager
async def listening(
    playground: Playground, answers: Callable[[dict[str, Any]], bool] = lambda _: True
) -> AsyncIterator[Listener]:
    client = AsyncWebClient(base_url=playground.api_url)
    url = (await client.apps_connections_open(app_token=playground.workspace.app_token))["url"]
    async with aiohttp.ClientSession() as session, session.ws_connect(url) as ws:
        listener = Listener(ws, answers)
        task = asyncio.create_task(listener.run())
        try:
            await playground.wait_for(lambda: listener.got)
            yield listener
        finally:
            task.cancel()


async def test_a_socket_is_greeted_with_hello(playground: Playground) -> None:
    async with listening(playground) as listener:
        assert listener.got[0]["type"] == "hello"
        assert listener.got[0]["connection_info"] == {"app_id": "A0FOOTNOTE"}
        assert playground.connected == 1
    await playground.wait_for(lambda: playground.connected == 0)


async def test_an_address_is_good_for_one_connection(playground: Playground) -> None:
    client = AsyncWebClient(base_url=playground.api_url)
    url = (await client.apps_connections_open(app_token="xapp-playground"))["url"]
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(url):
            pass
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(url)


async def test_a_mention_in_a_channel_arrives_twice(playground: Playground) -> None:
    async with listening(playground) as listener:
        ts = await playground.say("alice", "#general", "@footnote hello")
        await playground.wait_for(lambda: len(listener.events()) == 2)
    first, second = (one["payload"] for one in listener.events())
    assert {first["event"]["type"], second["event"]["type"]} == {"message", "app_mention"}
    assert first["event_id"] != second["event_id"]
    assert first["event"]["ts"] == second["event"]["ts"] == ts
    assert first["event"]["channel"] == second["event"]["channel"] == "C0GENERAL"
    assert first["event"]["text"] == "<@U0FOOTNOTE> hello"
    assert first["event"]["channel_type"] == "channel"
    assert first["authorizations"][0]["user_id"] == "U0FOOTNOTE"


async def test_a_mention_in_a_direct_message_arrives_once(playground: Playground) -> None:
    async with listening(playground) as listener:
        await playground.say("alice", "dm", "@footnote hello")
        await playground.say("alice", "dm", "second")
        await playground.wait_for(lambda: len(listener.events()) == 2)
    assert [one["payload"]["event"]["channel_type"] for one in listener.events("message")] == ["im", "im"]


async def test_the_app_hears_nothing_from_rooms_that_it_is_not_in(playground: Playground) -> None:
    async with listening(playground) as listener:
        await playground.say("alice", "#random", "@footnote hello")
        await playground.say("dana", "board", "@footnote hello")
        await playground.say("dana", "#people-leads", "the last one")
        await playground.wait_for(listener.events)
    assert [one["payload"]["event"]["text"] for one in listener.events()] == ["the last one"]
    assert "not in this channel" in playground.ephemerals("alice")[0]["text"]


async def test_only_one_socket_gets_each_event(playground: Playground) -> None:
    async with listening(playground) as one, listening(playground) as other:
        for number in range(6):
            await playground.say("alice", "#general", str(number))
        await playground.wait_for(lambda: len(one.events()) + len(other.events()) == 6)
        await asyncio.sleep(0.05)
    assert len(one.events()) == len(other.events()) == 3
    ids = [event["payload"]["event_id"] for event in (*one.events(), *other.events())]
    assert len(set(ids)) == 6


@impatient
async def test_an_event_that_is_not_acknowledged_comes_again_three_times(playground: Playground) -> None:
    async with listening(playground, answers=lambda _: False) as listener:
        await playground.say("alice", "#general", "hello")
        await playground.wait_for(lambda: len(playground.deliveries) == 4)
        await asyncio.sleep(0.05)
    envelopes = listener.events()
    assert [one["retry_attempt"] for one in envelopes] == [0, 1, 2, 3]
    assert [one["retry_reason"] for one in envelopes] == ["", "timeout", "timeout", "timeout"]
    assert len({one["payload"]["event_id"] for one in envelopes}) == 1
    assert len({one["envelope_id"] for one in envelopes}) == 4


@impatient
async def test_an_acknowledgement_ends_the_redelivery(playground: Playground) -> None:
    async with listening(playground, answers=lambda envelope: envelope["retry_attempt"] == 1) as listener:
        await playground.say("alice", "#general", "hello")
        await playground.wait_for(
            lambda: playground.deliveries[-1:] and playground.deliveries[-1].attempt == 1
        )
        await asyncio.sleep(0.05)
    assert len(listener.events()) == 2
    assert playground.deliveries[-1].outcome == "acknowledged"


@impatient
async def test_an_event_goes_to_another_socket_when_the_first_dies(playground: Playground) -> None:
    async with listening(playground, answers=lambda _: False) as dying:
        await playground.say("alice", "#general", "hello")
        await playground.wait_for(dying.events)
        async with listening(playground) as heir:
            await dying.ws.close()
            await playground.wait_for(heir.events)
    assert heir.events()[0]["retry_attempt"] >= 1


@pytest.mark.parametrize(
    "limits", [SlackLimits(retry_delays_s=(0.0,) + (0.05,) * 400)], ids=["20 s to connect"]
)
async def test_an_event_waits_for_an_app_that_connects_late(playground: Playground) -> None:
    await playground.say("alice", "#general", "hello")
    async with listening(playground) as listener:
        await playground.wait_for(listener.events)
    assert listener.events()[0]["retry_reason"] == "connection_failed"


async def test_a_refresh_tells_the_socket_and_sends_it_nothing_more(playground: Playground) -> None:
    async with listening(playground) as old:
        await playground.refresh_sockets()
        await playground.wait_for(lambda: old.got[-1]["type"] == "disconnect")
        async with listening(playground) as new:
            await playground.say("alice", "#general", "hello")
            await playground.wait_for(new.events)
    assert old.events() == []


async def test_an_edit_and_a_deletion_are_heard(playground: Playground) -> None:
    async with listening(playground) as listener:
        ts = await playground.say("alice", "#general", "@footnote one")
        await playground.edit("alice", "#general", ts, "@footnote two")
        await playground.delete("alice", "#general", ts)
        await playground.wait_for(lambda: len(listener.events("message")) == 3)
    _, changed, deleted = (one["payload"]["event"] for one in listener.events("message"))
    assert changed["subtype"] == "message_changed"
    assert (changed["message"]["text"], changed["previous_message"]["text"]) == (
        "<@U0FOOTNOTE> two",
        "<@U0FOOTNOTE> one",
    )
    assert changed["message"]["edited"]["user"] == "U0ALICE"
    assert (deleted["subtype"], deleted["deleted_ts"]) == ("message_deleted", ts)
    assert len(listener.events("app_mention")) == 1


async def test_a_mention_added_by_an_edit_is_a_mention(playground: Playground) -> None:
    async with listening(playground) as listener:
        ts = await playground.say("alice", "#general", "hello")
        await playground.edit("alice", "#general", ts, "@footnote hello")
        await playground.wait_for(lambda: listener.events("app_mention"))
    assert listener.events("app_mention")[0]["payload"]["event"]["ts"] == ts


async def test_the_bot_hears_its_own_messages(playground: Playground, client: AsyncWebClient) -> None:
    async with listening(playground) as listener:
        await client.chat_postMessage(
            channel="C0GENERAL", text="hi", metadata={"event_type": "x", "event_payload": {}}
        )
        await playground.wait_for(listener.events)
    event = listener.events()[0]["payload"]["event"]
    assert (event["type"], event["bot_id"], event["user"]) == ("message", "B0FOOTNOTE", "U0FOOTNOTE")
    assert "metadata" not in event
