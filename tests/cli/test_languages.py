"""A Dutch reader over English pages, with and without a model: real embedder and engine, a Messages API on loopback."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.api.keys import ApiKeys
from bot.api.schemas import SearchRequest
from bot.cli.ask import _notes
from bot.cli.composition.runtime import Runtime, open_runtime, utc_now
from bot.cli.serving.api import build_service
from bot.cli.session.local import LocalSession
from bot.cli.session.requests import AskRequest, IngestRequest
from kb.config.configuration import load_settings
from tests.cli.conftest import PAGES
from tests.fakes.messages_server import MessagesServer, Say, answer_by_itself, say_json

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

DUTCH = "Hoe lang is de garantie op tuingereedschap?"
ENGLISH = "How long is the warranty on garden tools?"


@asynccontextmanager
async def english_pages(
    data: Path, pages: Path, **settings: Any
) -> AsyncIterator[tuple[Runtime, LocalSession]]:
    pages.mkdir()
    for name, text in PAGES.items():
        (pages / name).write_text(text, encoding="utf-8")
    known = load_settings(environ={}, data=data, rerank={"model": "off"}, **settings)
    async with open_runtime(known, "test", models=True) as runtime:
        session = LocalSession(runtime)
        async for step in session.ingest(IngestRequest(paths=(pages,))):
            assert step.phase != "failed", step.error
        yield runtime, session


def a_model(body: Mapping[str, Any]) -> Say:
    """Translates the Dutch question, and finds no answer."""
    schema = body.get("output_config", {}).get("format", {}).get("schema", {})
    if not schema:
        return Say("NOT_IN_PASSAGES")
    if "translated" not in schema["properties"]:
        return answer_by_itself(body)
    question = json.loads(body["messages"][-1]["content"])["question"]
    assert question == DUTCH
    reply = {"needs_rewrite": False, "is_follow_up": False, "query": question, "translated": ENGLISH}
    return say_json({**reply, "parts": [], "topics": [], "reasoning": "", "confidence": 1.0})


def _rewrites(server: MessagesServer) -> int:
    return sum("translated" in str(request.get("output_config")) for request in server.requests)


async def test_without_a_model_the_quotes_say_their_language_and_the_offer_comes_with_the_fifth_question(
    tmp_path: Path,
) -> None:
    english_alone = {"model": "all-MiniLM-L6-v2"}
    async with english_pages(tmp_path / "data", tmp_path / "pages", embed=english_alone) as (
        runtime,
        session,
    ):
        reply = await session.ask(AskRequest(question=DUTCH))
        assert (reply.answer["language"], reply.trace["rewrite"]["translated"]) == ("nl", "")
        named = await session.ask(AskRequest(question="Hoe lang is de warranty op garden tools?"))
        assert {quote["language"] for quote in named.answer["quotes"]} == {"en"}
        assert _notes(named) == ["Citaten uit de pagina's.", "De pagina's zijn in het Engels."]
        in_english = await session.ask(AskRequest(question=ENGLISH))
        assert "pages' language" not in in_english.answer["notes"]
        assert await session.offer() == ""

        keys = ApiKeys(runtime.redis, namespace=runtime.settings.store.namespace, clock=utc_now)
        key, _ = await keys.add("intranet")
        api = build_service(runtime, session, loaded=lambda: True)
        await api.search(key, SearchRequest(query=DUTCH))
        for _ in range(2):
            await session.ask(AskRequest(question=DUTCH))
        assert await session.offer() == (
            '5 of the last 6 questions were Dutch; `embed.model = "multilingual"` reads it: see README'
        )


async def test_with_a_model_a_first_question_is_translated_and_answered_in_its_own_language(
    tmp_path: Path,
) -> None:
    async with MessagesServer(answering=a_model) as server:
        model = {
            "api_key": server.key,
            "base_url": server.url,
            "rewrite_deadline_s": 20,
            "native_citations": True,
        }
        async with english_pages(tmp_path / "data", tmp_path / "pages", model=model) as (_, session):
            reply = await session.ask(AskRequest(question=DUTCH))
            assert (_rewrites(server), reply.trace["rewrite"]["translated"]) == (1, ENGLISH)
            assert reply.trace["hits"][0]["title"] == "Warranty on garden tools"
            assert "Answer in Dutch." in str(server.requests[-1]["messages"])
            assert reply.answer["answer"].startswith("Ik kon dit niet vinden in de kennisbank.")
            assert "five years from the day of purchase" in reply.answer["answer"]
            assert reply.answer["notes"] == ["pages' language"]

            await session.ask(AskRequest(question=DUTCH))
            await session.ask(AskRequest(question=ENGLISH))
            assert _rewrites(server) == 1
