"""The questions of answer sets in other languages, by the id of their case; one file may be about several sets.

    {"mulch-price": {"en": "and the price?", "de": "und der Preis?"}}

A translated case has the words of the file; its facts, its page and what was said before it stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field, RootModel, ValidationError

from kb.errors import SettingsError
from kb.evaluation.answer_sets import AnswerCase, AnswerSet

AS_WRITTEN = "en"
"""The language of most sets: a case that the file does not have in it keeps its own words."""


class Translations(RootModel[dict[str, dict[str, Annotated[str, Field(min_length=1)]]]]):
    """Questions by the id of a case, then by language."""


def read_translations(file: Path) -> Translations:
    """
    Raises:
        SettingsError: the file cannot be read or has another form; the message says where.
    """
    try:
        return Translations.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise SettingsError(f"{file} holds no translated questions: {error}") from error


def translated(cases: AnswerSet, translations: Translations, language: str) -> AnswerSet:
    """The cases that have a question in `language`, asked in it.

    Raises:
        SettingsError: there are none; the message says which languages there are.
    """
    known = {case.id: translations.root[case.id] for case in cases.cases if case.id in translations.root}
    if not known:
        raise SettingsError(
            "no case of the set has a translation: the ids of their file are those of another set"
        )
    asked = [_asked(case, known[case.id], language) for case in cases.cases if case.id in known]
    kept = tuple(case for case in asked if case is not None)
    if not kept:
        languages = ", ".join(sorted({AS_WRITTEN, *(one for wordings in known.values() for one in wordings)}))
        raise SettingsError(f"no case of the set has a translation into {language!r}; there are: {languages}")
    return cases.model_copy(update={"cases": kept})


def _asked(case: AnswerCase, wordings: Mapping[str, str], language: str) -> AnswerCase | None:
    """Whoever names a language wants it asked, whatever the embedder reads."""
    if language in wordings:
        return case.model_copy(update={"question": wordings[language]})
    return case if language == AS_WRITTEN else None
