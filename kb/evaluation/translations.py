"""The questions of answer sets in other languages, by the id of their case; one file may be about several sets.

    {"mulch-price": {"en": "and the price?", "de": "und der Preis?"}}

A translated case has the words of the file; its facts, its page and what was said before it stay as they are.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Annotated

from pydantic import Field, RootModel

from kb.errors import SettingsError
from kb.evaluation.answer_sets import AnswerSet
from kb.evaluation.case_files import read_json

AS_WRITTEN = "en"
"""The language of most sets: a case that the file does not have in it keeps its own words."""


class Translations(RootModel[dict[str, dict[str, Annotated[str, Field(min_length=1)]]]]):
    """Questions by the id of a case, then by language."""


def read_translations(file: Path) -> Translations:
    """
    Raises:
        SettingsError: the file cannot be read or has another form; the message says where.
    """
    return read_json(file, Translations, fault="holds no translated questions")


def translated(cases: AnswerSet, translations: Translations, language: str) -> AnswerSet:
    """Returns the cases that have a question in `language`, asked in it.

    Raises:
        SettingsError: there are none; the message says which languages there are.
    """
    wordings = [(case, translations.root[case.id]) for case in cases.cases if case.id in translations.root]
    if not wordings:
        raise SettingsError(
            "no case of the set has a translation: the ids of their file are those of another set"
        )
    kept = tuple(
        case.model_copy(update={"question": questions.get(language, case.question)})
        for case, questions in wordings
        if language in questions or language == AS_WRITTEN
    )
    if not kept:
        languages = ", ".join(
            sorted({AS_WRITTEN, *chain.from_iterable(questions for _, questions in wordings)})
        )
        raise SettingsError(f"no case of the set has a translation into {language!r}; there are: {languages}")
    return cases.model_copy(update={"cases": kept})
