"""The whole pipeline, real embedder and engines, on the sample handbook's own question cases, as of the day they name.

Asked with no language model and no reranker: what everybody gets who only types `make run`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from bot.cli.composition.sources import sample_folder
from kb.evaluation.questions import CaseResult, read_cases, run_cases
from tests.fakes.sample import open_sample
from tests.fakes.serving import sample_data

KNOWN_FAILURES: dict[str, str] = {}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def results(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[dict[str, CaseResult]]:
    cases = read_cases(sample_folder().parent / "questions.json")
    async with open_sample(
        sample_data(tmp_path_factory.getbasetemp(), "sample-questions"), cases.as_of
    ) as runtime:
        yield {result.case.id: result async for result in run_cases(runtime.pipeline, cases.cases)}


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_every_case_is_answered_declined_and_dated_as_expected(results: dict[str, CaseResult]):
    failed = {name: result.problems for name, result in results.items() if result.problems}
    unexpected = {name: problems for name, problems in failed.items() if name not in KNOWN_FAILURES}
    assert unexpected == {}


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_the_list_of_known_failures_holds_no_case_that_passes(results: dict[str, CaseResult]):
    assert [name for name in KNOWN_FAILURES if not results[name].problems] == []


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_every_sentence_of_every_answer_is_cited_and_quoted_to_the_letter(
    results: dict[str, CaseResult],
):
    answered = [result.answer for result in results.values() if result.answer.outcome == "answered"]
    assert len(answered) > 60
    for answer in answered:
        assert all(sentence.citations for sentence in answer.sentences), answer.text
        for citation in answer.citations:
            lines = [line for line in citation.quote.splitlines() if line.strip()]
            assert all(line.strip() in citation.chunk.text for line in lines), citation.quote


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_private_page_is_neither_cited_nor_offered_nor_searched_elsewhere(
    results: dict[str, CaseResult],
):
    for result in results.values():
        if result.case.channel != "#people-leads":
            paths = {hit.chunk.page.path for hit in result.answer.trace.hits}
            assert "people/salary-bands-2026.md" not in paths, result.case.id
            assert all("salary-bands" not in page.url for page in result.answer.nearest), result.case.id
