"""What every rewriter does: none, the rules, and a model behind the typed Messages server pass the same suite."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from kb.config.settings import Settings
from kb.llm.client import LanguageModel
from kb.models import Turn
from kb.rewriting.rewriter import Rewriter, choose_rewriter
from tests.fakes.messages_replies import say_json
from tests.fakes.messages_server import MessagesServer

EARLIER = Turn(question="Do you ship to Canada?", answer="Yes, Havik ships to Canada.", topics=("Canada",))
FOLLOW_UP = "How long does it take?"
STANDALONE = "What is your return policy?"


@pytest.fixture(params=["off", "heuristic", "model"])
async def rewriter(request: pytest.FixtureRequest) -> AsyncIterator[Rewriter]:
    if request.param != "model":
        yield choose_rewriter(Settings(rewrite={"mode": request.param}))  # type: ignore[arg-type]
        return
    async with MessagesServer() as server:
        settings = Settings.model_validate(
            {"model": {"api_key": server.key, "base_url": server.url, "rewrite_deadline_s": 5}}
        )
        client = LanguageModel(settings.model)
        server.script(
            say_json(
                {
                    "needs_rewrite": True,
                    "is_follow_up": True,
                    "query": "How long does it take to ship to Canada?",
                    "topics": ["shipping to Canada"],
                    "reasoning": "it = shipping to Canada",
                    "confidence": 0.9,
                }
            )
        )
        yield choose_rewriter(settings, client=client)
        await client.close()


async def test_a_first_question_is_searched_as_it_was_asked(rewriter: Rewriter):
    rewrite = await rewriter.rewrite(FOLLOW_UP, [], language="en")
    assert (rewrite.query, rewrite.needs_rewrite, rewrite.is_follow_up) == (FOLLOW_UP, False, False)


async def test_a_question_that_stands_alone_is_left_alone(rewriter: Rewriter):
    rewrite = await rewriter.rewrite(STANDALONE, [EARLIER], language="en")
    assert (rewrite.query, rewrite.needs_rewrite) == (STANDALONE, False)


async def test_a_follow_up_is_never_lost_and_where_rewritten_names_its_topic(rewriter: Rewriter):
    rewrite = await rewriter.rewrite(FOLLOW_UP, [EARLIER], language="en")
    assert "how long" in rewrite.query.lower()
    assert rewrite.needs_rewrite == (rewrite.query != FOLLOW_UP)
    if rewrite.needs_rewrite:
        assert "canada" in rewrite.query.lower()
        assert rewrite.is_follow_up
        assert 0 < rewrite.confidence <= 1
        assert len(rewrite.query) <= 3 * len(FOLLOW_UP) + 60


async def test_a_rewrite_says_where_it_came_from(rewriter: Rewriter):
    rewrite = await rewriter.rewrite(FOLLOW_UP, [EARLIER], language="en")
    assert (rewrite.method == "none") == (not rewrite.needs_rewrite)
