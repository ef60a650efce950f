"""The sets of questions over public handbooks: whole, and their halves
apart. Their pages are not here; see answers/README.md.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.evaluation.answer_sets import read_answer_set
from kb.evaluation.translations import read_translations, translated

TRANSLATIONS = Path(__file__).parent / "answers" / "translations.json"
FILES = sorted(file for file in TRANSLATIONS.parent.glob("*.json") if file != TRANSLATIONS)
LANGUAGES = {"nl", "de", "fr", "es", "ja"}


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


def test_the_translations_are_of_as_many_answerable_cases_of_both_halves():
    cases = {case.id: (file, case) for file in FILES for case in read_answer_set(file).cases}
    translations = read_translations(TRANSLATIONS).root
    assert not translations.keys() - cases.keys()
    assert [name for name in translations if not cases[name][1].keywords or cases[name][1].chat_history] == []
    for half in (".dev.", ".held-out."):
        assert sum(half in cases[name][0].name for name in translations) == 30


def test_every_translated_question_is_there_in_five_other_languages():
    """By their ids alone: what a held-out question says is in no message of a test."""
    questions = {case.id: case.question for file in FILES for case in read_answer_set(file).cases}
    incomplete, blank, untranslated = [], [], []
    for name, wordings in read_translations(TRANSLATIONS).root.items():
        incomplete += [name] if set(wordings) != LANGUAGES else []
        blank += [name for words in wordings.values() if words != words.strip() or not words]
        untranslated += [name] if len({questions[name], *wordings.values()}) != len(LANGUAGES) + 1 else []
    assert (incomplete, blank, untranslated) == ([], [], [])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_set_is_asked_in_each_language_by_the_same_cases(file: Path):
    cases, translations = read_answer_set(file), read_translations(TRANSLATIONS)
    asked = {
        language: {case.id for case in translated(cases, translations, language).cases}
        for language in (*LANGUAGES, "en")
    }
    assert len(asked["en"]) >= 3
    assert all(names == asked["en"] for names in asked.values())
