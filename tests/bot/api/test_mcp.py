"""The pages as tools of the Model Context Protocol: the official client, over streamable HTTP and over stdio."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from redis.asyncio import Redis

from bot.api.mcp_tools import create_mcp
from bot.api.remote import RemoteAsker
from tests.fakes.api import Api
from tests.fakes.waiting import until

pytestmark = pytest.mark.timeout(180)

FOOTNOTE = Path(sys.executable).with_name("footnote")
HISTORY = [{"role": "user", "content": "How many days?"}, {"role": "assistant", "content": "25."}]


@pytest.fixture
async def api(redis: Redis, namespace: str) -> AsyncIterator[Api]:
    async with Api(redis, namespace=namespace).listening() as api:
        yield api


@asynccontextmanager
async def over_http(api: Api, key: str, tmp_path: Path, mode: str = "auto") -> AsyncIterator[Client]:
    async with (
        api.client(key) as http,
        Client(streamable_http_client(f"{api.address}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


@asynccontextmanager
async def over_stdio(api: Api, key: str, tmp_path: Path, mode: str = "auto") -> AsyncIterator[Client]:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("FOOTNOTE_")}
    server = StdioServerParameters(
        command=str(FOOTNOTE),
        args=["mcp"],
        cwd=tmp_path,
        env=variables | {"FOOTNOTE_API__KEY": key, "FOOTNOTE_API__URL": api.address},
    )
    async with Client(stdio_client(server), mode=mode) as client:
        yield client


@asynccontextmanager
async def in_process(api: Api, key: str, tmp_path: Path, mode: str = "auto") -> AsyncIterator[Client]:
    """What `footnote mcp` serves, without the process, whose imports take longer than all that it is asked."""
    async with api.client(key) as http, Client(create_mcp(lambda _: RemoteAsker(http)), mode=mode) as client:
        yield client


WAYS = [over_http, in_process]


@pytest.mark.parametrize(
    ("connect", "mode"),
    [
        (over_http, "auto"),
        (over_http, "legacy"),
        (in_process, "auto"),
        pytest.param(over_stdio, "legacy", marks=pytest.mark.series),
    ],
)
async def test_an_agent_sees_two_tools_and_what_they_take_and_give(
    api: Api, tmp_path: Path, connect: Any, mode: str
):
    _, key = await api.keys.add("agent")
    async with connect(api, key, tmp_path, mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {"search_pages", "ask"}
    search = tools["search_pages"]
    assert search.input_schema["required"] == ["query"]
    assert search.input_schema["properties"]["top_k"]["maximum"] == 50
    assert "results" in search.output_schema["properties"]
    assert "citations" in tools["ask"].output_schema["properties"]


@pytest.mark.parametrize("connect", [*WAYS, over_stdio])
async def test_an_agent_searches_and_asks_in_its_conversation_as_what_its_key_reads(
    api: Api, tmp_path: Path, connect: Any
):
    _, key = await api.keys.add("agent", audience=["#people-leads"])
    async with connect(api, key, tmp_path) as client:
        found = await client.call_tool("search_pages", {"query": "holiday", "top_k": 1})
        asked = await client.call_tool("ask", {"query": "and when?", "chat_history": HISTORY})
    assert not found.is_error
    assert [one["title"] for one in found.structured_content["results"]] == ["Leave policy"]
    assert asked.structured_content["outcome"] == "answered"
    assert asked.structured_content["text"] == "You get 25 days a year. [1]"
    assert asked.structured_content["citations"][0]["url"].startswith("https://handbook.example/")
    assert asked.structured_content["warnings"][0]["reason"] == "old_review"
    assert [question.audience.principals for question, _ in api.pipeline.asked] == [
        ["*", "#people-leads"]
    ] * 2
    assert [turn.answer for turn in api.pipeline.asked[1][1]] == ["25."]


@pytest.mark.parametrize("connect", WAYS)
async def test_an_outage_is_told_as_one(api: Api, tmp_path: Path, connect: Any):
    _, key = await api.keys.add("agent")
    api.pipeline.down = True
    async with connect(api, key, tmp_path) as client:
        for tool in ("search_pages", "ask"):
            told = await client.call_tool(tool, {"query": "holiday"})
            assert told.is_error
            assert "unavailable: " in told.content[0].text
            assert "says nothing about the pages" in told.content[0].text
            assert "10.0.0.7" not in told.content[0].text


@pytest.mark.parametrize("connect", WAYS)
async def test_what_is_not_as_described_is_refused(api: Api, tmp_path: Path, connect: Any):
    _, key = await api.keys.add("agent")
    async with connect(api, key, tmp_path) as client:
        for arguments in ({}, {"query": " "}, {"query": "x" * 4001}, {"query": "x", "top_k": 51}):
            assert (await client.call_tool("search_pages", arguments)).is_error, arguments
    assert api.pipeline.asked == []


async def test_each_call_asks_by_its_own_key_though_many_come_at_once(api: Api, tmp_path: Path):
    names = [f"team-{number}" for number in range(8)]
    keys = {name: (await api.keys.add(name, audience=[f"#{name}"]))[1] for name in names}

    async def ask(name: str) -> None:
        async with over_http(api, keys[name], tmp_path) as client:
            for _ in range(3):
                await client.call_tool("search_pages", {"query": name})

    api.service.concurrency._most = 100
    await asyncio.gather(*(ask(name) for name in names))
    assert len(api.pipeline.asked) == 24
    for question, _ in api.pipeline.asked:
        assert question.audience.channels == {f"#{question.text}"}


CALL = {"name": "ask", "arguments": {"query": "x"}}


@pytest.mark.parametrize("version", [None, "2026-07-28"])
async def test_a_call_whose_agent_went_away_is_dropped_and_gives_its_place_back(
    api: Api, version: str | None
):
    _, key = await api.keys.add("agent")
    api.pipeline.hold.clear()
    headers = {"Accept": "application/json, text/event-stream"} | (
        {"MCP-Protocol-Version": version, "Mcp-Method": "tools/call", "Mcp-Name": "ask"} if version else {}
    )
    meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = CALL | ({"_meta": meta} if version else {})
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    async with api.client(key, **headers) as client:
        calling = asyncio.create_task(client.post("/mcp", json=body))
        begun = asyncio.create_task(api.pipeline.begun.wait())
        await asyncio.wait({calling, begun}, return_when=asyncio.FIRST_COMPLETED)
        assert not calling.done(), calling.result().text
        calling.cancel()
        with suppress(asyncio.CancelledError):
            await calling
    await until(lambda: api.pipeline.cancelled == 1)
    await until(lambda: api.service.concurrency.taken == 0)


async def test_no_stream_is_opened_on_which_nothing_is_ever_said(api: Api):
    _, key = await api.keys.add("agent")
    async with api.client(key, Accept="text/event-stream") as client:
        assert (await client.get("/mcp")).status_code == 405


async def test_without_a_key_that_counts_not_even_the_tools_are_told(api: Api):
    _, revoked = await api.keys.add("agent")
    await api.keys.revoke("agent")
    hello = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    for key in (None, "fnk_nobody_x", revoked):
        async with api.client(key, Accept="application/json, text/event-stream") as client:
            reply = await client.post("/mcp", json=hello)
        assert (reply.status_code, reply.json()["error"]["code"]) == (401, "invalid_key")


async def test_a_key_that_is_revoked_while_an_agent_is_connected_is_refused_at_its_next_call(
    api: Api, tmp_path: Path
):
    _, key = await api.keys.add("agent")
    async with in_process(api, key, tmp_path) as client:
        assert not (await client.call_tool("ask", {"query": "x"})).is_error
        await api.keys.revoke("agent")
        refused = await client.call_tool("ask", {"query": "x"})
    assert refused.is_error
    assert "invalid_key: " in refused.content[0].text


async def test_a_bot_that_does_not_run_is_an_outage(api: Api, tmp_path: Path):
    _, key = await api.keys.add("agent")
    api.address = "http://127.0.0.1:9"
    async with in_process(api, key, tmp_path) as client:
        told = await client.call_tool("ask", {"query": "x"})
    assert told.is_error
    assert "unavailable: Footnote does not answer at http://127.0.0.1:9" in told.content[0].text


async def test_a_foreign_host_name_reaches_no_tool(api: Api):
    _, key = await api.keys.add("agent")
    async with api.client(key, Host="evil.example") as client:
        reply = await client.post("/mcp", json={})
    assert reply.status_code == 421
