"""The HTTP API on a real socket: what programs get, what they are refused, and what they cannot reach."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import httpx2
import pytest
from redis.asyncio import Redis

from bot.api.schemas import MAX_BODY
from bot.api.server import listening
from kb.config.server_settings import ApiSettings
from kb.errors import SettingsError
from tests.fakes.api import Api, events_of
from tests.fakes.waiting import until

SEARCH = "/api/v1/search"
HISTORY = [
    {"role": "assistant", "content": "Hello!"},
    {"role": "user", "content": "How many days of holiday do I get?"},
    {"role": "assistant", "content": "25 days."},
]


@pytest.fixture
async def api(redis: Redis, namespace: str) -> AsyncIterator[Api]:
    async with Api(redis, namespace=namespace).listening(hosts=["kb.example.com"]) as api:
        yield api


@pytest.fixture
async def key(api: Api) -> str:
    return (await api.keys.add("intranet", per_minute=1000))[1]


@pytest.fixture
async def client(api: Api, key: str) -> AsyncIterator[httpx2.AsyncClient]:
    async with api.client(key) as client:
        yield client


def code_of(reply: httpx2.Response) -> str:
    code: str = reply.json()["error"]["code"]
    return code


async def test_a_search_returns_passages_with_all_that_is_known_of_their_pages(client: httpx2.AsyncClient):
    reply = await client.post(SEARCH, json={"query": "holiday", "top_k": 1})
    assert reply.status_code == 200
    told = reply.json()
    assert told["answer"] is None
    assert told["query"] == "holiday"
    assert told["results"] == [
        {
            "title": "Leave policy",
            "source": "handbook",
            "path": "leave-policy.md",
            "url": "https://handbook.example/leave-policy.md",
            "section": ["Annual leave"],
            "text": "25 days a year.",
            "language": "en",
            "owner": None,
            "score": 0.8,
            "dates": {"edited": None, "reviewed": "2024-05-03", "review_due": None, "expires": None},
            "freshness": "outdated",
            "warnings": [
                {
                    "kind": "outdated",
                    "reason": "old_review",
                    "title": "Leave policy",
                    "url": "https://handbook.example/leave-policy.md",
                    "date": "2024-05-03",
                    "text": "Leave policy was last reviewed on 3 May 2024 (2 years ago).",
                }
            ],
        }
    ]


async def test_an_answer_comes_with_its_sentences_citations_warnings_and_confidence(
    client: httpx2.AsyncClient, api: Api
):
    reply = await client.post(SEARCH, json={"query": "holiday", "include_answer": True})
    answer = reply.json()["answer"]
    assert answer["outcome"] == "answered"
    assert answer["text"] == "You get 25 days a year. [1]"
    assert answer["sentences"] == [{"text": "You get 25 days a year.", "citations": [1]}]
    assert (answer["citations"][0]["n"], answer["citations"][0]["quote"]) == (1, "25 days a year.")
    assert [one["reason"] for one in answer["warnings"]] == ["old_review"]
    assert answer["confidence"] == 0.8
    assert len(api.pipeline.asked) == 1


async def test_the_conversation_before_is_read_as_turns(client: httpx2.AsyncClient, api: Api):
    await client.post(SEARCH, json={"query": "and when do they expire?", "chat_history": HISTORY})
    ((question, (turn,)),) = api.pipeline.asked
    assert (turn.question, turn.answer) == ("How many days of holiday do I get?", "25 days.")
    assert question.text == "and when do they expire?"


async def test_of_a_long_conversation_no_more_is_read_than_the_bot_remembers_of_its_own(
    client: httpx2.AsyncClient, api: Api
):
    asked = {"role": "user", "content": "pasted " * 1000 + "Which form is that?"}
    said = {"role": "assistant", "content": "Form 7. " + "More. " * 1000}
    reply = await client.post(SEARCH, json={"query": "and then?", "chat_history": [asked, said] * 20})
    assert reply.status_code == 200
    ((_, turns),) = api.pipeline.asked
    assert len(turns) == 20
    assert max(len(turn.question) for turn in turns) <= 1000
    assert max(len(turn.answer) for turn in turns) <= 2000
    assert turns[-1].question.endswith("Which form is that?")
    assert turns[-1].answer.startswith("Form 7.")
    assert sum(bool(turn.answer) for turn in turns) == 10


async def test_a_question_is_asked_as_what_its_key_reads(api: Api):
    _, limited = await api.keys.add("leads", audience=["#people-leads"], sources=["handbook"])
    async with api.client(limited) as client:
        for path, more in ((SEARCH, {}), (SEARCH, {"include_answer": True}), ("/api/v1/ask", {})):
            await client.post(path, json={"query": "pay", **more})
    audiences = [question.audience for question, _ in api.pipeline.asked]
    assert [one.principals for one in audiences] == [["*", "#people-leads"]] * 3
    assert {one.sources for one in audiences} == {frozenset({"handbook"})}


async def test_questions_are_counted_as_private_ones(client: httpx2.AsyncClient, api: Api):
    await client.post(SEARCH, json={"query": "Hoeveel vakantiedagen krijg ik?"})
    await client.post(SEARCH, json={"query": "pay", "include_answer": True})
    await events_of(client, {"query": "pay"})
    assert (api.counted.languages, api.counted.places) == (["nl"], ["private", "private"])


async def test_a_stream_tells_sentences_as_they_become_certain_and_ends_with_the_whole(
    client: httpx2.AsyncClient,
):
    events = await events_of(client, {"query": "holiday"})
    assert [name for name, _ in events] == [
        "stage",
        "citation",
        "sentence",
        "sentence",
        "removed",
        "warning",
        "answer",
    ]
    told = dict(events)
    assert events[2][1] == {"index": 0, "text": "You get 25 days a year.", "citations": [1]}
    assert told["removed"] == {"index": 1}
    whole = (await client.post(SEARCH, json={"query": "holiday", "include_answer": True})).json()["answer"]
    assert told["answer"] | {"id": ""} == whole | {"id": ""}


async def test_a_sentence_is_sent_before_the_answer_is_done(client: httpx2.AsyncClient, api: Api):
    api.pipeline.hold.clear()
    async with client.stream("POST", "/api/v1/ask", json={"query": "holiday"}) as reply:
        lines = reply.aiter_lines()
        assert [await anext(lines), await anext(lines)] == [
            "event: stage",
            'data: {"stage": "searching", "pages": 0}',
        ]
        api.pipeline.hold.set()
        assert [line async for line in lines if line.startswith("event")][-1] == "event: answer"


async def test_an_outage_is_told_as_one_everywhere_and_says_nothing_of_its_cause(
    client: httpx2.AsyncClient, api: Api
):
    api.pipeline.down = True
    texts = []
    for more in ({}, {"include_answer": True}):
        reply = await client.post(SEARCH, json={"query": "holiday", **more})
        assert (reply.status_code, code_of(reply)) == (503, "unavailable")
        texts.append(reply.text)
    (*_, last) = await events_of(client, {"query": "holiday"})
    assert (last[0], last[1]["code"]) == ("error", "unavailable")
    for text in (*texts, str(last)):
        assert "10.0.0.7" not in text
        assert "found" not in text
    assert (await client.get("/health")).status_code == 503


async def test_a_fault_of_ours_ends_a_stream_with_a_code_and_a_search_with_500(
    client: httpx2.AsyncClient, api: Api
):
    api.pipeline.breaks = True
    (*_, last) = await events_of(client, {"query": "holiday"})
    assert (last[0], last[1]["code"]) == ("error", "failed")
    reply = await client.post(SEARCH, json={"query": "holiday", "include_answer": True})
    assert (reply.status_code, code_of(reply)) == (500, "failed")
    assert "secret cause" not in reply.text + str(last)


@pytest.mark.parametrize("path", [SEARCH, "/api/v1/ask"])
@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"Authorization": "Bearer fnk_intranet_x"},
        {"Authorization": "Basic x"},
        {"Authorization": "Bearer"},
    ],
)
async def test_without_a_key_that_counts_nothing_is_asked(
    api: Api, key: str, path: str, sent: dict[str, str]
):
    async with api.client(**sent) as client:
        reply = await client.post(path, json={"query": "holiday"})
    assert (reply.status_code, code_of(reply)) == (401, "invalid_key")
    assert reply.headers["WWW-Authenticate"] == "Bearer"
    assert api.pipeline.asked == []


async def test_a_revoked_key_is_refused_by_every_replica_from_the_next_request_on(
    api: Api, key: str, redis: Redis, namespace: str
):
    async with (
        Api(redis, namespace=namespace).listening() as other,
        api.client(key) as one,
        other.client(key) as two,
    ):
        for client in (one, two):
            assert (await client.post(SEARCH, json={"query": "x"})).status_code == 200
        await other.keys.revoke("intranet")
        for client in (one, two):
            assert (await client.post(SEARCH, json={"query": "x"})).status_code == 401


async def test_a_key_that_asks_too_often_is_told_when_to_come_again(api: Api):
    _, slow = await api.keys.add("slow", per_minute=2)
    async with api.client(slow) as client:
        replies = [await client.post(SEARCH, json={"query": "x"}) for _ in range(3)]
        stream = await client.post("/api/v1/ask", json={"query": "x"})
    assert [one.status_code for one in replies] == [200, 200, 429]
    assert code_of(replies[2]) == code_of(stream) == "rate_limited"
    assert 1 <= int(replies[2].headers["Retry-After"]) <= 60


async def test_a_store_that_is_down_is_an_outage_and_lets_nobody_in(tmp_path: Any):
    from kb.store.valkey import connect_redis

    async with (
        connect_redis(str(tmp_path / "nothing.sock")) as nowhere,
        Api(nowhere, namespace="n").listening() as api,
        api.client("fnk_intranet_x") as client,
    ):
        reply = await client.post(SEARCH, json={"query": "holiday"})
    assert (reply.status_code, code_of(reply)) == (503, "unavailable")
    assert api.pipeline.asked == []


LONG = {"role": "user", "content": "x" * 8001}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"query": ""}',
        b'{"query": "  \\n"}',
        b'{"query": "\\ud800"}',
        b'{"query": "x", "top_k": 0}',
        b'{"query": "x", "top_k": 51}',
        b'{"query": "x", "top_k": 1e999}',
        b'{"query": "x", "top_k": NaN}',
        b'{"query": "x", "channel": "#people-leads"}',
        b'{"query": "x", "audience": ["#people-leads"]}',
        b'{"query": "x", "\\ud800": 1}',
        b'{"query": "x", "chat_history": [{"role": "system", "content": "x"}]}',
        b"[" * 60_000 + b"]" * 60_000,
        json.dumps({"query": "x" * 4001}).encode(),
        json.dumps({"query": "x", "chat_history": [LONG]}).encode(),
        json.dumps({"query": "x", "chat_history": HISTORY * 14}).encode(),
    ],
)
async def test_a_request_that_is_not_as_described_is_refused_with_what_is_wrong(
    client: httpx2.AsyncClient, api: Api, body: bytes
):
    reply = await client.post(SEARCH, content=body, headers={"Content-Type": "application/json"})
    assert (reply.status_code, code_of(reply)) in {(422, "invalid_request"), (400, "invalid_request")}
    assert api.pipeline.asked == []


async def test_a_refusal_repeats_nothing_of_what_was_sent(client: httpx2.AsyncClient):
    body = {"query": "", "top_k": "sesame", "abracadabra": 1, "chat_history": [{"role": "opensesame"}]}
    reply = await client.post(SEARCH, json=body)
    problems = {one["where"] for one in reply.json()["error"]["problems"]}
    assert {"body.query", "body.top_k", "body", "body.chat_history.0.role"} <= problems
    assert "sesame" not in reply.text
    assert "abracadabra" not in reply.text


async def test_a_body_without_end_is_cut_off(client: httpx2.AsyncClient, api: Api):
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 65536

    with suppress(httpx2.NetworkError):  # the server hangs up on it
        reply = await client.post(SEARCH, content=endless(), headers={"Content-Type": "application/json"})
        assert (reply.status_code, code_of(reply)) == (413, "too_large")
    assert api.pipeline.asked == []


async def test_a_body_that_is_declared_too_large_is_refused_unread(api: Api):
    reply = await raw(api, f"Content-Length: {MAX_BODY + 1}")
    assert reply.startswith("HTTP/1.1 413 ")
    assert '"code":"too_large"' in reply


async def test_a_body_that_does_not_come_does_not_hold_its_connection(
    api: Api, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("bot.api.guards.BODY_WITHIN_S", 0.1)
    reply = await raw(api, "Content-Type: application/json", "Content-Length: 20", body='{"query": ')
    assert reply.startswith("HTTP/1.1 400 ")
    assert api.pipeline.asked == []


@pytest.mark.parametrize(("length", "status"), [(20, 401), (MAX_BODY + 1, 413)])
async def test_a_refusal_reaches_who_still_sends_the_body(api: Api, length: int, status: int):
    def reply() -> bytes:
        host, port = api.address.removeprefix("http://").split(":")
        head = f"POST {SEARCH} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n"
        with socket.create_connection((host, int(port)), timeout=30) as client:
            client.sendall(head.encode())
            time.sleep(0.2)  # it is refused by now
            client.sendall(b" " * length)
            time.sleep(0.2)
            said = b""
            while not said.endswith(b"}") and (more := client.recv(65_536)):  # it may keep the connection
                said += more
            return said

    said = await asyncio.to_thread(reply)
    assert said.startswith(f"HTTP/1.1 {status} ".encode())
    assert said.endswith(b"}")


async def raw(api: Api, *headers: str, body: str = "") -> str:
    """All that the server says until it hangs up."""
    host, port = api.address.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    head = [f"POST {SEARCH} HTTP/1.1", f"Host: {host}", *headers, "", body]
    writer.write("\r\n".join(head).encode())
    reply = await reader.read()
    writer.close()
    return reply.decode()


@pytest.mark.parametrize("path", [SEARCH, "/api/v1/ask"])
async def test_more_questions_than_allowed_are_told_to_come_again(redis: Redis, namespace: str, path: str):
    async with Api(redis, namespace=namespace, concurrency=1).listening() as api:
        _, key = await api.keys.add("intranet")
        api.pipeline.hold.clear()
        async with api.client(key) as client:
            first = asyncio.create_task(client.post(path, json={"query": "x"}))
            await api.pipeline.begun.wait()
            for door in (SEARCH, "/api/v1/ask"):
                busy = await client.post(door, json={"query": "y"})
                assert (busy.status_code, code_of(busy), busy.headers["Retry-After"]) == (503, "busy", "1")
            api.pipeline.hold.set()
            assert (await first).status_code == 200
            assert (await client.post(SEARCH, json={"query": "y"})).status_code == 200


@pytest.mark.parametrize("path", [SEARCH, "/api/v1/ask"])
async def test_a_question_whose_asker_went_away_is_dropped_and_gives_its_place_back(
    api: Api, key: str, path: str
):
    api.pipeline.hold.clear()
    async with api.client(key) as client:
        asking = asyncio.create_task(client.post(path, json={"query": "x"}))
        await api.pipeline.begun.wait()
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking
    await until(lambda: api.pipeline.cancelled == 1)
    await until(lambda: api.service.concurrency.taken == 0)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "[::1"])
@pytest.mark.parametrize("path", ["/metrics", "/api/v1/openapi.json", "/api/v1/docs"])
async def test_a_foreign_host_name_is_answered_with_nothing(api: Api, host: str, path: str):
    async with api.client(Host=host) as client:
        reply = await client.get(path)
    if host:
        assert (reply.status_code, code_of(reply)) == (421, "foreign_host")
    assert reply.status_code >= 400


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:9", "127.0.0.1:80", "[::1]:80", "kb.example.com", "KB.example.com:443"]
)
async def test_our_own_host_names_are_answered(api: Api, host: str):
    async with api.client(Host=host) as client:
        assert (await client.get("/metrics")).status_code == 200


async def test_a_probe_is_answered_under_any_name_and_says_one_word(api: Api):
    async with api.client(Host="10.1.2.3:8080") as client:
        for path in ("/health", "/live", "/ready"):
            reply = await client.get(path)
            assert (reply.status_code, reply.json()) == (200, {"status": "ok"})
        api.ready = False
        assert (await client.get("/ready")).status_code == 503


async def test_a_process_whose_servers_are_away_is_alive(client: httpx2.AsyncClient, api: Api):
    api.pipeline.down, api.ready = True, False
    assert [(await client.get(path)).status_code for path in ("/health", "/ready", "/live")] == [
        503,
        503,
        200,
    ]


async def test_another_sites_page_can_read_nothing(api: Api, key: str):
    async with api.client(key, Origin="https://evil.example") as client:
        asked = await client.post(SEARCH, json={"query": "x"})
        preflight = await client.options(
            SEARCH,
            headers={
                "Access-Control-Request-Method": "POST",
                "Access-Control-Request-Headers": "authorization",
            },
        )
    assert (asked.status_code, code_of(asked)) == (421, "foreign_host")
    assert api.pipeline.asked == []
    async with api.client(key, Origin=api.address) as client:
        ours = await client.post(SEARCH, json={"query": "x"})
    assert ours.status_code == 200
    for reply in (asked, preflight, ours):
        assert not [name for name in reply.headers if name.lower().startswith("access-control")]


async def test_a_form_of_another_site_is_no_request(client: httpx2.AsyncClient, api: Api):
    reply = await client.post(SEARCH, content=b'{"query": "x"}', headers={"Content-Type": "text/plain"})
    assert reply.status_code == 422
    assert api.pipeline.asked == []


async def test_figures_are_served_in_the_form_that_prometheus_reads(client: httpx2.AsyncClient):
    reply = await client.get("/metrics")
    assert reply.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert reply.text == "footnote_questions_total 3\n"


async def test_neither_keys_nor_questions_are_logged(
    client: httpx2.AsyncClient, api: Api, key: str, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO)
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    await client.post(SEARCH, json={"query": "sesame"})
    await events_of(client, {"query": "sesame"})
    api.pipeline.down = True
    await client.post(SEARCH, json={"query": "sesame"})
    await client.post(SEARCH, json={"query": "sesame", "top_k": "x"})
    assert "api.asked" in caplog.text
    assert "api.unavailable" in caplog.text
    logged = caplog.text + "".join(str(vars(record)) for record in caplog.records)
    assert "sesame" not in logged
    assert key.split("_", 2)[2] not in logged


async def test_a_port_that_is_taken_is_told_with_what_to_do(api: Api):
    port = int(api.address.rsplit(":", 1)[1])
    with pytest.raises(SettingsError, match="FOOTNOTE_API__PORT"):
        async with listening(lambda *_: None, ApiSettings(port=port)):  # type: ignore[arg-type, return-value]
            pass


async def test_an_answer_under_way_ends_when_the_api_is_stopped(redis: Redis, namespace: str):
    async with Api(redis, namespace=namespace).listening() as api:
        _, key = await api.keys.add("intranet")
        api.pipeline.hold.clear()
        client = api.client(key)
        asking = asyncio.create_task(events_of(client, {"query": "x"}))
        await api.pipeline.begun.wait()
        asyncio.get_running_loop().call_later(0.2, api.pipeline.hold.set)
    assert (await asking)[-1][0] == "answer"
    await client.aclose()
