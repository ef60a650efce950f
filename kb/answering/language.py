"""Whether an answer is in the language of its question, and what to do where it is not."""

from __future__ import annotations

from collections.abc import Sequence

from kb.answer import Citation, Mode
from kb.text.language import SHORT_TEXT, detect

SURE_LANGUAGES = frozenset({"en", "nl", "de", "fr", "es", "it", "pt", "pl", "ja", "zh", "ko"})
"""Languages that the detector tells apart well enough in a sentence or two to contradict a model."""


def is_in_other_language(text: str, language: str) -> bool:
    """Whether a text is clearly not in `language`. Short texts, names and numbers tell nothing."""
    if len(text) < SHORT_TEXT or language not in SURE_LANGUAGES:
        return False
    found = detect(text, default=language, hint=language)
    return found != language and found in SURE_LANGUAGES


def speaks_pages_language(mode: Mode, language: str, text: str, citations: Sequence[Citation]) -> bool:
    """Whether a reader should be told that the answer is in its pages' language: quotes are, and now and then a model."""
    if mode == "model":
        return is_in_other_language(text, language)
    return any(citation.chunk.page.language != language for citation in citations)
