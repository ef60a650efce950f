"""The sets of questions over public handbooks: whole, and their halves apart. Their pages are not here; see answers/README.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.evaluation.answer_sets import read_answer_set

FILES = sorted((Path(__file__).parent / "answers").glob("*.json"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_case_either_has_facts_or_expects_that_no_page_tells(file: Path):
    for case in read_answer_set(file).cases:
        assert bool(case.keywords) != case.expect_unknown, case.id
        assert case.category
        assert case.page


def test_the_sets_hold_what_they_are_said_to_hold():
    cases = [case for file in FILES for case in read_answer_set(file).cases]
    assert sum(bool(case.keywords) and not case.chat_history for case in cases) == 120
    assert sum(case.expect_unknown for case in cases) == 60
    assert sum(bool(case.chat_history) for case in cases) >= 30
    assert len({case.id for case in cases}) == len(cases)


def test_no_question_is_in_both_halves():
    halves = [
        {case.question for file in FILES if half in file.name for case in read_answer_set(file).cases}
        for half in (".dev.", ".held-out.")
    ]
    assert all(halves)
    assert not halves[0] & halves[1]
