"""Declining, real embedder and engine: the golden conversations, and questions that the sample handbook does not answer.

The floors lie a little under what was measured when they were written: they tell a break, not a difference of a point.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from rich.progress import Progress

from bot.cli.evaluate_conversations import ConversationsRequest, open_evaluation
from kb.configuration import load_settings
from kb.evaluation.conversations import Memory
from kb.evaluation.datasets import read_data_set
from kb.evaluation.decline import Stranger, observe
from kb.evaluation.decline_report import Measured, Table, in_sample

HERE = Path(__file__).parent
STRANGERS = HERE / "strangers.json"
DECLINED_FLOOR, LOST_CEILING = 0.80, 0.10

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def strangers() -> list[Stranger]:
    told = json.loads(STRANGERS.read_text(encoding="utf-8"))
    return [Stranger(text=text, source=source) for source, texts in told.items() for text in texts]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def measured(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Measured]:
    folder = HERE / "conversations"
    data = read_data_set(folder)
    settings = load_settings(environ={}, data=tmp_path_factory.mktemp("data"), rerank={"model": "off"})
    request = ConversationsRequest(folder=folder)
    async with open_evaluation(settings, data, request, Progress(disable=True)) as pipeline:
        seen = [one async for one in observe(pipeline, data, strangers(), Memory())]
        yield in_sample(Table(seen), pipeline.relevance.plain)


def test_what_the_pages_do_not_answer_is_declined(measured: Measured):
    assert measured.unanswerable_declined.n == len(strangers())
    assert measured.unanswerable_declined.share >= DECLINED_FLOOR


def test_what_the_pages_answer_is_answered(measured: Measured):
    assert measured.answerable_declined.n == 100
    assert measured.answerable_declined.share <= LOST_CEILING


def test_a_source_with_a_higher_score_is_more_often_right(measured: Measured):
    low, high = measured.shown.bins[0], [one for one in measured.shown.bins if one.low >= 0.4]
    assert sum(one.share * one.n for one in high) > 0.6 * sum(one.n for one in high)
    assert low.share < 0.2
