"""Is an answer in the language of its question?"""

from __future__ import annotations

import pytest

from kb.answering.language import is_in_other_language, surely_in_others

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


@pytest.mark.parametrize(
    ("question", "language", "pages", "others"),
    [
        ("Hoeveel vakantiedagen krijg ik?", "nl", ["en"], True),
        ("Hoeveel vakantiedagen krijg ik?", "nl", ["nl", "en"], True),
        ("Hoeveel vakantiedagen krijg ik?", "nl", ["nl"], False),
        ("Hoeveel vakantiedagen krijg ik?", "nl", ["eo"], False),  # a language that is easily mistaken
        ("VPN?", "en", ["nl"], False),  # nothing tells that it is English
        ("How do I get a VPN?", "en", ["nl"], True),
        ("VPN?", "de", ["en"], True),  # the thread tells
    ],
)
def test_pages_are_said_to_be_in_another_language_only_where_both_are_sure(
    question: str, language: str, pages: list[str], others: bool
) -> None:
    assert surely_in_others(question, language, pages) is others
