"""The HTTP API: what programs get, and what they cannot reach."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from kb.answer import Answer, Trace
from kb.api import create_api
from kb.errors import IndexUnavailableError
from kb.models import Question, Rewrite, Turn
from kb.retrieval import Found
from tests.fakes.passages import a_passage, equal_hits

HITS = equal_hits(a_passage("25 days a year."), a_passage("Parking is free.", title="Parking"))


class Pipeline:
    """Answers everything with the same passages, and remembers who asked."""

    def __init__(self) -> None:
        self.down = False
        self.asked: list[Question] = []

    async def find(self, question: Question, turns: Sequence[Turn] = ()) -> Found:
        self.asked.append(question)
        if self.down:
            raise IndexUnavailableError("http://10.0.0.7:6333 does not answer")
        return Found(rewrite=Rewrite(query=question.text), hits=HITS)

    async def answer(self, question: Question, turns: Sequence[Turn] = ()) -> Answer:
        trace = Trace(rewrite=Rewrite(query=question.text))
        return Answer(
            question=question.text, outcome="declined", mode="extractive", language="en", trace=trace
        )


@pytest.fixture
def pipeline() -> Pipeline:
    return Pipeline()


@pytest.fixture
async def client(pipeline: Pipeline) -> AsyncIterator[TestClient[Any, Any]]:
    async def health() -> dict[str, Any]:
        return {"status": "unavailable" if pipeline.down else "ok"}

    async with TestClient(TestServer(create_api(pipeline, health=health))) as client:  # type: ignore[arg-type]
        yield client


async def test_a_search_returns_passages_with_their_scores(client: TestClient[Any, Any]):
    reply = await client.post("/api/v1/search", json={"query": "holiday", "limit": 1})
    told = await reply.json()
    assert reply.status == 200
    assert [result["title"] for result in told["results"]] == ["Leave policy"]
    assert told["results"][0]["scores"]["dense"] == 0.8
    assert "answer" not in told


async def test_an_answer_comes_only_when_it_is_asked_for(client: TestClient[Any, Any]):
    reply = await client.post("/api/v1/search", json={"query": "holiday", "include_answer": True})
    assert (await reply.json())["answer"]["outcome"] == "declined"


async def test_it_asks_for_nobody_in_particular_and_a_channel_cannot_be_named(
    client: TestClient[Any, Any], pipeline: Pipeline
):
    refused = await client.post("/api/v1/search", json={"query": "pay", "channel": "#people-leads"})
    assert refused.status == 400
    await client.post("/api/v1/search", json={"query": "pay"})
    assert [question.audience.channels for question in pipeline.asked] == [frozenset()]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"query": ""}', b'{"query": "x", "limit": 0}'])
async def test_a_request_that_cannot_be_read_says_what_is_wrong(client: TestClient[Any, Any], body: bytes):
    reply = await client.post("/api/v1/search", data=body)
    assert reply.status == 400
    assert (await reply.json())["problems"]


async def test_an_outage_is_503_without_a_word_of_its_cause(client: TestClient[Any, Any], pipeline: Pipeline):
    pipeline.down = True
    reply = await client.post("/api/v1/search", json={"query": "holiday"})
    assert (reply.status, await reply.json()) == (503, {"error": "unavailable"})
    assert (await client.get("/health")).status == 503


async def test_figures_are_served_in_the_form_that_prometheus_reads(pipeline: Pipeline):
    async def health() -> dict[str, Any]:
        return {"status": "ok"}

    async def metrics() -> str:
        return "footnote_questions_total 3\n"

    api = create_api(pipeline, health=health, metrics=metrics)  # type: ignore[arg-type]
    async with TestClient(TestServer(api)) as client:
        reply = await client.get("/metrics")
        assert reply.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        assert await reply.text() == "footnote_questions_total 3\n"


async def test_without_figures_there_is_no_address_for_them(client: TestClient[Any, Any]):
    assert (await client.get("/metrics")).status == 404


async def test_the_language_of_each_question_is_told_once(pipeline: Pipeline):
    told: list[str] = []

    async def health() -> dict[str, Any]:
        return {"status": "ok"}

    async def on_language(language: str) -> None:
        told.append(language)

    api = create_api(pipeline, health=health, on_language=on_language)  # type: ignore[arg-type]
    async with TestClient(TestServer(api)) as client:
        query = {"query": "Hoeveel vakantiedagen krijg ik?", "include_answer": True}
        await client.post("/api/v1/search", json=query)
        await client.post("/api/v1/search", json={"query": "How many days do I get?"})
        pipeline.down = True
        await client.post("/api/v1/search", json=query)
    assert told == ["nl", "en"]
