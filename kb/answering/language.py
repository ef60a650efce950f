"""Checks whether an answer, or what it quotes, is in the language of its question."""

from __future__ import annotations

from collections.abc import Iterable

from kb.text.language import SHORT_TEXT, detect, is_told
from kb.text.lexicon import languages

SURE_LANGUAGES = frozenset(languages()) | {"it", "pl", "ja", "zh", "ko"}
"""Languages that the detector tells apart well enough in a sentence or two to contradict a model."""


def surely_in_others(question: str, language: str, pages: Iterable[str]) -> bool:
    """Tells whether `pages` are surely in other languages than `language`, which is surely the question's."""
    others = {page for page in pages if page != language} & SURE_LANGUAGES
    return bool(others) and language in SURE_LANGUAGES and is_told(question, language)


def is_in_other_language(text: str, language: str) -> bool:
    """Tells whether a text is clearly not in `language`. Short texts, names and numbers tell nothing."""
    if len(text) < SHORT_TEXT or language not in SURE_LANGUAGES:
        return False
    found = detect(text, default=language, hint=language)
    return found != language and found in SURE_LANGUAGES
