"""The sample handbook's answer set through the whole pipeline: no
language model, no reranker, real embedder and engine.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from bot.cli.composition.sources import sample_folder
from kb.evaluation.answer_sets import AnswerResult, read_answer_set, run_answer_case
from kb.text.language import detect
from tests.fakes.sample import open_sample
from tests.fakes.serving import sample_data

CASES = read_answer_set(sample_folder().parent / "answers.json")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def results(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[dict[str, AnswerResult]]:
    async with open_sample(
        sample_data(tmp_path_factory.getbasetemp(), "sample-answers"), CASES.as_of
    ) as runtime:
        yield {case.id: await run_answer_case(runtime.pipeline, case) for case in CASES.cases}


def test_the_set_has_follow_ups_in_three_languages():
    follow_ups = [case for case in CASES.cases if case.chat_history]
    languages = [detect(case.chat_history[0].content) for case in follow_ups]
    assert len(CASES.cases) >= 40
    assert {"en", "nl", "de"} <= set(languages)
    assert min(languages.count(one) for one in ("en", "nl", "de")) >= 4


async def test_every_answer_has_its_keywords_and_page_or_admits_that_it_is_not_there(
    results: dict[str, AnswerResult],
):
    assert {name: result.problems for name, result in results.items() if result.problems} == {}
