"""The cases of earlier systems by the model path: real client, real HTTP, a server that says what a model should."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kb.config.settings import Settings
from kb.evaluation.rewrites import RewriteCase, read_rewrite_cases, run_rewrite_case
from kb.llm.client import LanguageModel
from kb.rewriting.rewriter import Rewriter, choose_rewriter
from kb.rewriting.tally import RewriteTally
from tests.fakes.messages_server import MessagesServer, say_json

HERE = Path(__file__).parent
CASES = read_rewrite_cases(HERE / "rewrite_cases.json").cases
REPLIES = json.loads((HERE / "model_rewrites.json").read_text(encoding="utf-8"))["replies"]


@dataclass(frozen=True, kw_only=True)
class ByModel:
    server: MessagesServer
    rewriter: Rewriter
    tally: RewriteTally


@pytest.fixture
async def by_model() -> AsyncIterator[ByModel]:
    async with MessagesServer() as server:
        settings = Settings.model_validate(
            {"model": {"api_key": server.key, "base_url": server.url, "rewrite_deadline_s": 20}}
        )
        client, tally = LanguageModel(settings.model), RewriteTally()
        yield ByModel(
            server=server, tally=tally, rewriter=choose_rewriter(settings, client=client, tally=tally)
        )
        await client.close()


@pytest.mark.parametrize("case", [case for case in CASES if case.id in REPLIES], ids=lambda case: case.id)
async def test_a_right_rewrite_of_the_model_is_used(by_model: ByModel, case: RewriteCase):
    by_model.server.script(say_json(REPLIES[case.id]))
    result = await run_rewrite_case(by_model.rewriter, case)
    assert result.problems == ()
    assert (result.rewrite.method, result.rewrite.query) == ("model", REPLIES[case.id]["query"])
    assert by_model.tally.lost == 0


@pytest.mark.parametrize("case", [case for case in CASES if case.id not in REPLIES], ids=lambda case: case.id)
async def test_no_model_is_asked_about_a_question_that_stands_alone_or_asks_for_more(
    by_model: ByModel, case: RewriteCase
):
    result = await run_rewrite_case(by_model.rewriter, case)
    assert result.problems == ()
    assert by_model.server.calls == 0


def test_every_reply_belongs_to_a_case():
    assert len(CASES) == 20
    assert REPLIES.keys() <= {case.id for case in CASES}
