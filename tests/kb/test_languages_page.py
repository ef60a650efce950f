"""docs/languages.md tells what is known of which language, as the language files have it."""

from __future__ import annotations

from kb.text.lexicon import Lexicon, languages, lexicon
from tests.fakes.languages_page import PAGE, PURPOSES, coverage, in_page


def test_the_table_is_that_of_the_language_files() -> None:
    told = "python -m tests.fakes.languages_page writes it"
    assert in_page(PAGE.read_text(encoding="utf-8")) == coverage(), told


def test_every_section_says_what_it_is_for() -> None:
    assert set(PURPOSES) == set(Lexicon.model_fields) - {"language", "name"}


def test_every_language_names_itself() -> None:
    assert all(lexicon(language).name for language in languages())
