"""What follow-ups find, real embedder and engine, on a hundred questions over the sample handbook.

The floors lie a little under what was measured when they were written: they tell a break, not a difference of a point.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
import pytest_asyncio

from bot.cli.evaluation.conversations import open_evaluation
from kb.config.configuration import load_settings
from kb.config.search_settings import RewriteSettings
from kb.evaluation.conversations import GoldRewriter, Memory, walk
from kb.evaluation.datasets import DataSet, read_data_set
from kb.evaluation.report import Figures, Report, compare, make_report
from kb.pipeline import Pipeline
from kb.rewriting.rewriter import NoRewriter

FOLDER = Path(__file__).parent / "conversations"
Rewriting = Literal["off", "heuristic", "gold"]
SIZES = {"all": 100, "first": 18, "follow_up": 68, "stays": 61, "shifts": 16, "returns": 5}
FLOOR_RECALL, FLOOR_NDCG, FLOOR_GOLD = 0.88, 0.77, 0.95

pytestmark = [pytest.mark.series, pytest.mark.slow, pytest.mark.timeout(300)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def reports(evaluations: Path) -> AsyncIterator[Mapping[str, Report]]:
    """The same index and models under each rewriter."""
    data = read_data_set(FOLDER)
    settings = load_settings(
        environ={},
        data=evaluations,
        rerank={"model": "off"},
        rewrite={"mode": "heuristic"},
    )
    async with open_evaluation(settings, data) as ruled:
        retriever = ruled.retriever
        unwritten = retriever.settings.model_copy(update={"rewrite": RewriteSettings(mode="off")})
        gold = GoldRewriter(data.conversations, retriever.rewriter)
        raw = replace(retriever, rewriter=NoRewriter(), settings=unwritten)
        pipelines: dict[Rewriting, Pipeline] = {
            "off": replace(ruled, retriever=raw),
            "heuristic": ruled,
            "gold": replace(ruled, retriever=replace(retriever, rewriter=gold)),
        }
        yield {name: await report_of(data, pipeline) for name, pipeline in pipelines.items()}


async def report_of(data: DataSet, pipeline: Pipeline) -> Report:
    results = [result for talk in data.conversations async for result in walk(pipeline, data, talk, Memory())]
    return make_report(data, results, config={}, versions={}, seconds=0.0)


def figures(reports: Mapping[str, Report], mode: Rewriting, of: str) -> Figures:
    return reports[mode].slices[of]


def test_every_kind_of_turn_is_there(reports: Mapping[str, Report]):
    assert {name: found.n for name, found in reports["off"].slices.items()} == SIZES


def test_follow_ups_find_what_they_mean(reports: Mapping[str, Report]):
    found = figures(reports, "heuristic", "follow_up")
    assert found.recall_5 is not None
    assert found.ndcg_5 is not None
    assert found.recall_5 >= FLOOR_RECALL
    assert found.ndcg_5 >= FLOOR_NDCG


def test_rewriting_by_rule_helps_follow_ups_beyond_doubt(reports: Mapping[str, Report]):
    gain = compare(reports["heuristic"], reports["off"]).slices["follow_up"]
    assert gain.ci95["ndcg@5"][0] > 0


def test_rewriting_by_rule_costs_questions_that_open_a_thread_nothing(reports: Mapping[str, Report]):
    loss = compare(reports["heuristic"], reports["off"]).slices["first"]
    assert loss.ci95["ndcg@5"] == (0.0, 0.0)


def test_gold_rewrites_find_most(reports: Mapping[str, Report]):
    found = figures(reports, "gold", "follow_up").recall_5
    assert found is not None
    assert found >= FLOOR_GOLD
