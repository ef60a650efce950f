"""Which language a sentence is in, for rules that hang on it."""

from __future__ import annotations

from functools import lru_cache

from kb.text.language import detect
from kb.text.wording import language_of


@lru_cache(maxsize=4096)
def tongue(words: str) -> str:
    """By its small words; where they do not tell, by statistics."""
    return language_of(words) or detect(words)
