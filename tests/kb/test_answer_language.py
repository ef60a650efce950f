"""Is an answer in the language of its question?"""

from __future__ import annotations

import pytest

from kb.answering.language import is_in_other_language

DUTCH = "Voltijders krijgen 25 dagen vakantie per jaar, en wat over is vervalt aan het eind van maart."
ENGLISH = "Full-time employees get 25 days of holiday a year, and what is left expires at the end of March."


@pytest.mark.parametrize(
    ("text", "language", "other"),
    [
        (DUTCH, "nl", False),
        (DUTCH, "en", True),
        (ENGLISH, "nl", True),
        (ENGLISH, "en", False),
        ("25.", "nl", False),
    ],
)
def test_a_whole_sentence_tells_its_language(text: str, language: str, other: bool) -> None:
    assert is_in_other_language(text, language) is other
