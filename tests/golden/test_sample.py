"""The whole pipeline, real embedder and engine, on the sample handbook's question cases and on its answer set, as of the
day they name: every third case, the others in a series.

Asked with no language model and no reranker: what everybody gets who only types `make run`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TypeVar

import pytest
import pytest_asyncio

from bot.cli.composition.runtime import Runtime
from bot.cli.composition.sources import sample_folder
from kb.evaluation.answer_sets import AnswerResult, read_answer_set, run_answer_case
from kb.evaluation.questions import CaseResult, read_cases, run_cases
from kb.text.language import detect
from tests.fakes.sample import open_sample
from tests.fakes.serving import sample_data

QUESTIONS = read_cases(sample_folder().parent / "questions.json")
ANSWERS = read_answer_set(sample_folder().parent / "answers.json")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

_T = TypeVar("_T")


def every_third(cases: Sequence[_T]) -> Sequence[_T]:
    return cases[::3]


def the_others(cases: Sequence[_T]) -> Sequence[_T]:
    return [case for at, case in enumerate(cases) if at % 3]


PARTS = [every_third, pytest.param(the_others, marks=pytest.mark.series)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def runtime(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Runtime]:
    assert QUESTIONS.as_of == ANSWERS.as_of
    data = sample_data(tmp_path_factory.getbasetemp(), "sample-questions")
    async with open_sample(data, QUESTIONS.as_of) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=PARTS)
async def results(request: pytest.FixtureRequest, runtime: Runtime) -> dict[str, CaseResult]:
    cases = request.param(QUESTIONS.cases)
    return {result.case.id: result async for result in run_cases(runtime.pipeline, cases)}


async def test_every_case_is_answered_declined_and_dated_as_expected(results: dict[str, CaseResult]):
    assert {name: result.problems for name, result in results.items() if result.problems} == {}


async def test_every_sentence_of_every_answer_is_cited_and_quoted_to_the_letter(
    results: dict[str, CaseResult],
):
    answered = [result.answer for result in results.values() if result.answer.outcome == "answered"]
    assert len(answered) > 0.6 * len(results)
    for answer in answered:
        assert all(sentence.citations for sentence in answer.sentences), answer.text
        for citation in answer.citations:
            lines = [line for line in citation.quote.splitlines() if line.strip()]
            assert all(line.strip() in citation.chunk.text for line in lines), citation.quote


async def test_a_private_page_is_neither_cited_nor_offered_nor_searched_elsewhere(
    results: dict[str, CaseResult],
):
    for result in results.values():
        if result.case.channel != "#people-leads":
            paths = {hit.chunk.page.path for hit in result.answer.trace.hits}
            assert "people/salary-bands-2026.md" not in paths, result.case.id
            assert all("salary-bands" not in page.url for page in result.answer.nearest), result.case.id


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=PARTS)
async def answers(request: pytest.FixtureRequest, runtime: Runtime) -> dict[str, AnswerResult]:
    cases = request.param(ANSWERS.cases)
    return {case.id: await run_answer_case(runtime.pipeline, case) for case in cases}


def test_the_set_has_follow_ups_in_three_languages():
    follow_ups = [case for case in ANSWERS.cases if case.chat_history]
    languages = [detect(case.chat_history[0].content) for case in follow_ups]
    assert len(ANSWERS.cases) >= 40
    assert {"en", "nl", "de"} <= set(languages)
    assert min(languages.count(one) for one in ("en", "nl", "de")) >= 4


async def test_every_answer_has_its_keywords_and_page_or_admits_that_it_is_not_there(
    answers: dict[str, AnswerResult],
):
    assert {name: result.problems for name, result in answers.items() if result.problems} == {}
