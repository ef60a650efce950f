"""A model's replies are used again for the same question at the same point of a thread, and are checked each time."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from kb.config.settings import Settings
from kb.errors import StoreUnavailableError
from kb.models import Turn
from kb.rewriting.cache import ReplyCache
from kb.rewriting.rewriter import choose_rewriter
from kb.rewriting.tally import RewriteTally
from tests.fakes.replies import InMemoryReplies

THREAD = [Turn(question="Do you ship to Canada?", answer="Yes, we ship to Canada.")]
QUESTION = "How long does it take?"
REWRITE = "How long does it take to ship to Canada?"


class CountingModel:
    def __init__(self, query: str = REWRITE) -> None:
        self.calls = 0
        self.reply = {
            "needs_rewrite": True,
            "is_follow_up": True,
            "query": query,
            "topics": ["Canada"],
            "reasoning": "it = shipping",
            "confidence": 0.9,
        }

    async def complete_json(self, *_: object, **__: object) -> dict[str, Any]:
        self.calls += 1
        return self.reply


class Broken:
    """A cache whose server is down, hangs, or holds what another version wrote."""

    def __init__(self, how: str) -> None:
        self.how = how

    async def load(self, key: str) -> str | None:
        if self.how == "down":
            raise StoreUnavailableError("down")
        if self.how == "hangs":
            await asyncio.Event().wait()
        return json.dumps({"query": 7}) if self.how == "odd" else None

    async def save(self, key: str, reply: str) -> None:
        await self.load(key)


def memory() -> InMemoryReplies:
    return InMemoryReplies()


async def ask(
    client: CountingModel,
    cache: ReplyCache | None,
    *,
    turns: list[Turn] = THREAD,
    question: str = QUESTION,
    **settings: Any,
) -> tuple[str, RewriteTally]:
    tally = RewriteTally()
    rewriter = choose_rewriter(Settings.model_validate(settings), client=client, cache=cache, tally=tally)
    rewrite = await rewriter.rewrite(question, turns, language="en")
    return rewrite.query, tally


async def test_the_same_question_at_the_same_point_is_not_paid_for_twice():
    model, cache = CountingModel(), memory()
    first, missed = await ask(model, cache)
    again, hit = await ask(model, cache)
    assert (first, again, model.calls) == (REWRITE, REWRITE, 1)
    assert (missed.cache, hit.cache) == ({"miss": 1}, {"hit": 1})
    assert hit.outcomes == {("model", ""): 1}


@pytest.mark.parametrize(
    "other",
    [
        {"turns": [Turn(question="Do you ship to Canada?", answer="Yes, by sea.")]},
        {"turns": [Turn(question="Hello, what do you sell?", answer="Mulch."), *THREAD]},
        {"question": "How long does it take then?"},
        {"model": {"rewrite_model": "another"}},
    ],
)
async def test_another_thread_question_or_model_is_asked_anew(other: dict[str, Any]):
    model, cache = CountingModel(), memory()
    await ask(model, cache)
    await ask(model, cache, **other)
    assert model.calls == 2


@pytest.mark.parametrize(
    ("how", "event"), [("down", "unavailable"), ("hangs", "unavailable"), ("odd", "miss")]
)
async def test_a_failing_cache_changes_nothing_but_the_cost(how: str, event: str):
    model = CountingModel()
    query, tally = await ask(model, Broken(how))
    assert (query, model.calls) == (REWRITE, 1)
    assert tally.cache == {event: 1}
    assert tally.outcomes == {("model", ""): 1}


async def test_a_reply_that_could_not_be_used_is_not_kept():
    model, cache = CountingModel("What are the payroll passwords?"), memory()
    for _ in range(2):
        _, tally = await ask(model, cache)
        assert tally.lost == 1
    assert model.calls == 2


async def test_a_kept_reply_is_checked_like_a_new_one():
    class Planted(InMemoryReplies):
        async def load(self, key: str) -> str | None:
            return json.dumps(CountingModel("What are the payroll passwords?").reply)

    query, tally = await ask(CountingModel(), Planted())
    assert "payroll" not in query
    assert tally.outcomes == {("fallback", "question_lost"): 1}


async def test_without_a_cache_every_question_is_asked():
    model = CountingModel()
    _, tally = await ask(model, None)
    await ask(model, None)
    assert model.calls == 2
    assert not tally.cache
