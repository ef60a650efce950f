"""Quoting and declining, real embedder and engine: the golden
conversations, and questions that the sample handbook does not answer.

The floors lie a little under what was measured when they were written: they tell a break, not a difference of a point.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from bot.cli.evaluation.conversations import open_evaluation
from kb.config.configuration import load_settings
from kb.evaluation.conversations import Memory
from kb.evaluation.datasets import read_data_set
from kb.evaluation.decline import Stranger, observe
from kb.evaluation.decline_report import DeclineFigures, ObservationTable, in_sample

HERE = Path(__file__).parent
STRANGERS = HERE / "strangers.json"
QUOTED_FLOOR, DECLINED_CEILING, QUOTED_CEILING, AREA_FLOOR = 0.87, 0.03, 0.3, 0.95

pytestmark = [pytest.mark.series, pytest.mark.slow, pytest.mark.timeout(300)]


def strangers() -> list[Stranger]:
    told = json.loads(STRANGERS.read_text(encoding="utf-8"))
    return [Stranger(text=text, source=source) for source, texts in told.items() for text in texts]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def measured(evaluations: Path) -> AsyncIterator[DeclineFigures]:
    folder = HERE / "conversations"
    data = read_data_set(folder)
    settings = load_settings(environ={}, data=evaluations, rerank={"model": "off"})
    async with open_evaluation(settings, data) as pipeline:
        seen = [one async for one in observe(pipeline, data, strangers(), Memory())]
        yield in_sample(ObservationTable(seen), pipeline.evidence.relevance.plain)


def test_what_is_on_no_page_is_not_quoted_as_an_answer(measured: DeclineFigures):
    assert measured.decided.strangers.n == len(strangers())
    assert measured.decided.strangers.quoted.share <= QUOTED_CEILING


def test_what_the_pages_answer_is_quoted_and_hardly_ever_declined(measured: DeclineFigures):
    assert measured.decided.answerable.n == 100
    assert measured.decided.answerable.quoted.share >= QUOTED_FLOOR
    assert measured.decided.answerable.declined.share <= DECLINED_CEILING


def test_an_answerable_question_has_more_confidence_than_one_about_something_else(measured: DeclineFigures):
    assert measured.area_strangers is not None
    assert measured.area_strangers > AREA_FLOOR
