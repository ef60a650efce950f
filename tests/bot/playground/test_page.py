"""The web page's server side: what it shows to whom, and what it refuses to other sites."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import SlackLimits, sample_workspace
from tests.fakes.playground import Playground

PAGE = """---
title: Leave policy
last_reviewed_on: 2024-05-03
owner: People <team>
---

## Annual leave, in days

25 days <script>alert(1)</script> and a [link](javascript:alert(1)).

## Named {#own-name}

| a | b |
|---|---|
| 1 | 2 |
"""


async def pages(path: str) -> str | None:
    return PAGE if path == "people/leave policy.md" else None


@pytest.fixture
async def playground(clock, limits: SlackLimits) -> AsyncIterator[Playground]:
    async with Playground(sample_workspace(), clock=clock, limits=limits, pages=pages) as running:
        yield running


@pytest.fixture
async def browser(playground: Playground) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(playground.url) as session:
        yield session


async def read(browser: aiohttp.ClientSession, path: str, **query: str) -> Any:
    async with browser.get(path, params=query) as response:
        return await response.json()


async def do(browser: aiohttp.ClientSession, deed: str, **body: Any) -> tuple[int, Any]:
    async with browser.post(f"/page/{deed}", json=body) as response:
        return response.status, await response.json()


async def test_the_page_and_its_files_are_served_with_a_strict_policy(browser: aiohttp.ClientSession) -> None:
    for path in ("/", "/static/app.js", "/static/style.css"):
        async with browser.get(path) as response:
            assert response.status == 200
            assert "script-src 'self'" in response.headers["Content-Security-Policy"]
            text = await response.text()
            assert "https://" not in text.replace("https://havik.example", "")
    for path in ("/static/nothing.js", "/static/..%2Fserver.py", "/static/__init__.py"):
        async with browser.get(path) as response:
            assert response.status == 404


async def test_each_person_sees_their_own_channels(browser: aiohttp.ClientSession) -> None:
    alice = await read(browser, "/page/workspace", user="U0ALICE")
    bram = await read(browser, "/page/workspace", user="U0BRAM")
    dana = await read(browser, "/page/workspace", user="U0DANA")
    assert "people-leads" in [one["name"] for one in alice["channels"]]
    assert "people-leads" not in [one["name"] for one in bram["channels"]]
    assert "board" in [one["name"] for one in dana["channels"]]
    assert [one["name"] for one in alice["commands"]] == ["/kb"]


async def test_a_private_channel_cannot_be_read_by_others(
    browser: aiohttp.ClientSession, playground: Playground
) -> None:
    await playground.say("alice", "#people-leads", "a secret")
    async with browser.get("/page/messages", params={"user": "U0BRAM", "channel": "G0PEOPLE"}) as response:
        assert response.status == 404
        assert "secret" not in await response.text()
    seen = await read(browser, "/page/messages", user="U0ALICE", channel="G0PEOPLE")
    assert [one["text"] for one in seen["messages"]] == ["a secret"]


async def test_what_a_person_does_in_the_page_happens(
    browser: aiohttp.ClientSession, playground: Playground
) -> None:
    me = {"user": "U0ALICE", "channel": "C0GENERAL"}
    _, said = await do(browser, "say", **me, text="@footnote one")
    await do(browser, "edit", **me, ts=said["ts"], text="two")
    await do(browser, "react", **me, ts=said["ts"], name="eyes")
    (message,) = playground.messages("#general")
    assert (message["text"], message["reactions"][0]["name"]) == ("two", "eyes")
    await do(browser, "delete", **me, ts=said["ts"])
    assert playground.messages("#general") == []
    await do(browser, "command", **me, name="/nothing")
    assert "not a valid command" in playground.ephemerals("alice")[0]["text"]


async def test_what_cannot_be_done_is_said(browser: aiohttp.ClientSession) -> None:
    status, answer = await do(browser, "say", user="U0BRAM", channel="G0PEOPLE", text="hi")
    assert (status, "sees no channel" in answer["error"]) == (400, True)
    assert (await do(browser, "say", user="U0BRAM"))[0] == 400
    async with browser.post("/page/conquer", json={}) as response:
        assert response.status == 404


async def test_other_sites_may_not_act_here(browser: aiohttp.ClientSession, playground: Playground) -> None:
    body = {"user": "U0ALICE", "channel": "C0GENERAL", "text": "forged"}
    evil = {"Origin": "https://evil.example"}
    async with browser.post("/page/say", json=body, headers=evil) as response:
        assert response.status == 403
    async with browser.post("/page/say", json=body, headers={"Host": "evil.example"}) as response:
        assert response.status == 403
    plain = {"Content-Type": "text/plain"}
    async with browser.post("/page/say", data=json.dumps(body), headers=plain) as response:
        assert response.status == 415
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await browser.ws_connect("/page/feed?user=U0ALICE", headers=evil)
    assert playground.messages("#general") == []


async def test_the_feed_brings_each_person_only_what_they_may_see(
    browser: aiohttp.ClientSession, playground: Playground, client: AsyncWebClient
) -> None:
    async with browser.ws_connect("/page/feed?user=U0BRAM") as feed:
        await playground.say("alice", "#people-leads", "private")
        await client.chat_postEphemeral(channel="C0GENERAL", user="U0ALICE", text="for alice")
        await client.chat_postEphemeral(channel="C0GENERAL", user="U0BRAM", text="for bram")
        await playground.say("alice", "#general", "public")
        heard = [await asyncio.wait_for(feed.receive_json(), 5) for _ in range(2)]
    assert [(one["kind"], one["body"]["text"]) for one in heard] == [
        ("ephemeral", "for bram"),
        ("message", "public"),
    ]


async def test_a_cited_page_is_shown_with_its_facts_and_anchors(browser: aiohttp.ClientSession) -> None:
    async with browser.get("/kb/people/leave%20policy.md") as response:
        text = await response.text()
        assert response.status == 200
        assert "script-src" not in response.headers["Content-Security-Policy"]
    assert '<h2 id="annual-leave-in-days"' in text
    assert '<h2 id="own-name">Named</h2>' in text
    assert "<h1>Leave policy</h1>" in text
    assert "last reviewed on: <b>2024-05-03</b>" in text
    assert "People &lt;team&gt;" in text
    assert "<td>1</td>" in text
    assert "<script>" not in text
    assert 'href="javascript' not in text


async def test_a_page_that_does_not_exist_says_so(browser: aiohttp.ClientSession) -> None:
    async with browser.get("/kb/../../etc/passwd") as response:
        assert response.status == 404
    async with browser.get("/kb/nothing.md") as response:
        assert response.status == 404
        assert "There is no such page" in await response.text()


async def test_a_permalink_leads_to_the_thread(
    browser: aiohttp.ClientSession, playground: Playground
) -> None:
    ts = await playground.say("alice", "#general", "hello")
    link = playground._slack.permalink(playground._room("#general"), ts)
    async with browser.get(link, allow_redirects=False) as response:
        assert response.headers["Location"] == f"/#/-/C0GENERAL/{ts}"
