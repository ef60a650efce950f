"""The sentences that people see."""

import dataclasses
import re
import string
from datetime import date, timedelta

import pytest

from bot.messages.catalog import LANGUAGES, Messages, messages_in
from bot.messages.formats import Formats
from kb.text.lexicon import languages

OTHERS = [code for code in LANGUAGES if code != "en"]


REASONS = (
    "mentioned",
    "direct",
    "shortcut",
    "unasked",
    "one_person",
    "goes_on",
    "answers_us",
    "everyone",
)
"""Of bot.listening.reply_policy: those that speak."""
FORMATS = {field.name for field in dataclasses.fields(Formats)}
ALIKE = {
    ("fr", "sources"), ("es", "no"), ("fr", "stats_satisfaction"), ("fr", "home_pages"),
    ("fr", "pages"), ("fr", "passages"), ("nl", "passages"), ("nl", "why_details"),
}  # fmt: skip
"""Words that are the same in English."""


@pytest.mark.parametrize("language", OTHERS)
def test_every_sentence_is_translated(language: str) -> None:
    english, other = LANGUAGES["en"], LANGUAGES[language]
    untranslated = {
        field.name
        for field in dataclasses.fields(Messages)
        if getattr(english, field.name) == getattr(other, field.name)
        and re.search(r"[a-z]", re.sub(r"\{\w+\}", "", str(getattr(english, field.name))), re.IGNORECASE)
    }
    assert untranslated - FORMATS <= {key for code, key in ALIKE if code == language}


@pytest.mark.parametrize("language", OTHERS)
def test_translations_fill_in_the_same_things(language: str) -> None:
    def filled_in(text: str) -> set[str]:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}

    for field in dataclasses.fields(Messages):
        ours, theirs = getattr(LANGUAGES["en"], field.name), getattr(LANGUAGES[language], field.name)
        assert type(ours) is type(theirs), field.name
        if isinstance(ours, str):
            assert filled_in(ours) == filled_in(theirs), field.name
        elif isinstance(ours, tuple):
            assert len(ours) == len(theirs), field.name
            assert [filled_in(one) for one in ours] == [filled_in(one) for one in theirs], field.name


@pytest.mark.parametrize("words", LANGUAGES.values())
def test_titles_and_buttons_fit_slacks_limits(words: Messages) -> None:
    assert max(len(title) for title in (words.why, words.feedback_title, words.close, words.send)) <= 24
    assert max(len(label) for label in (words.helpful, words.not_helpful, words.why)) <= 75
    assert len(words.home_title) <= 150
    assert len(words.shortcut_title) <= 24
    assert len(words.shortcut_send) <= 24


def test_each_language_is_a_module_and_a_file_of_words() -> None:
    assert set(LANGUAGES) == set(languages())
    assert all(messages.language == code for code, messages in LANGUAGES.items())


def test_a_locale_finds_its_language_and_an_unknown_one_is_english() -> None:
    assert messages_in("nl-NL") is LANGUAGES["nl"]
    assert messages_in("de_AT") is LANGUAGES["de"]
    assert messages_in("fr-CA") is messages_in("FR") is LANGUAGES["fr"]
    assert messages_in("es_419") is messages_in("es-ES") is LANGUAGES["es"]
    assert messages_in("ja") is messages_in(None) is LANGUAGES["en"]


@pytest.mark.parametrize(
    ("language", "third", "first"),
    [
        ("en", "3 May 2024", "1 May 2024"),
        ("nl", "3 mei 2024", "1 mei 2024"),
        ("de", "3. Mai 2024", "1. Mai 2024"),
        ("fr", "3 mai 2024", "1er mai 2024"),
        ("es", "3 de mayo de 2024", "1 de mayo de 2024"),
        ("pt", "3 de maio de 2024", "1 de maio de 2024"),
    ],
)
def test_dates_are_written_as_their_readers_write_them(language: str, third: str, first: str) -> None:
    words = messages_in(language)
    assert (words.on(date(2024, 5, 3)), words.on(date(2024, 5, 1))) == (third, first)


@pytest.mark.parametrize(
    ("language", "hundreds", "thousands", "tens_of_thousands", "percent"),
    [
        ("en", "999", "1,234", "12,345", "62%"),
        ("nl", "999", "1.234", "12.345", "62%"),
        ("de", "999", "1.234", "12.345", "62\u00a0%"),
        ("fr", "999", "1\u202f234", "12\u202f345", "62\u00a0%"),
        ("es", "999", "1234", "12.345", "62\u00a0%"),
        ("pt", "999", "1.234", "12.345", "62%"),
    ],
)
def test_numbers_are_written_as_their_readers_write_them(
    language: str, hundreds: str, thousands: str, tens_of_thousands: str, percent: str
) -> None:
    words = messages_in(language)
    assert [words.number(n) for n in (999, 1234, 12345)] == [hundreds, thousands, tens_of_thousands]
    assert words.percent(0.62) == percent


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", ["today", "1 day ago", "2 days ago"]),
        ("nl", ["vandaag", "1 dag geleden", "2 dagen geleden"]),
        ("de", ["heute", "vor 1 Tag", "vor 2 Tagen"]),
        ("fr", ["aujourd'hui", "il y a 1 jour", "il y a 2 jours"]),
        ("es", ["hoy", "hace 1 día", "hace 2 días"]),
        ("pt", ["hoje", "há 1 dia", "há 2 dias"]),
    ],
)
def test_ages_are_told_as_their_language_counts(language: str, told: list[str]) -> None:
    words, today = messages_in(language), date(2026, 11, 27)
    assert [words.since(today - timedelta(days=days), today) for days in (0, 1, 2)] == told


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", ["0 pages", "1 page", "1,290 pages"]),
        ("nl", ["0 pagina's", "1 pagina", "1.290 pagina's"]),
        ("de", ["0 Seiten", "1 Seite", "1.290 Seiten"]),
        ("fr", ["0 page", "1 page", "1\u202f290 pages"]),
        ("es", ["0 páginas", "1 página", "1290 páginas"]),
        ("pt", ["0 páginas", "1 página", "1.290 páginas"]),
    ],
)
def test_none_one_and_several_take_the_form_of_their_language(language: str, told: list[str]) -> None:
    words = messages_in(language)
    assert [words.counted(words.pages, n) for n in (0, 1, 1290)] == told


def test_french_marks_never_begin_a_line() -> None:
    for field in dataclasses.fields(Messages):
        text = getattr(LANGUAGES["fr"], field.name)
        for one in text if isinstance(text, tuple) else [str(text)]:
            assert not re.search(r" [:;?!»%](\s|$)|« ", one), field.name


@pytest.mark.parametrize(
    ("then", "told"),
    [
        (date(2026, 11, 27), "today"),
        (date(2026, 11, 26), "1 day ago"),
        (date(2026, 10, 1), "2 months ago"),
        (date(2025, 5, 1), "19 months ago"),
        (date(2020, 11, 27), "6 years ago"),
        (date(2027, 1, 1), "today"),
    ],
)
def test_ages_are_told_in_the_unit_that_matters(then: date, told: str) -> None:
    assert messages_in("en").since(then, date(2026, 11, 27)) == told


def test_durations_are_short() -> None:
    english = messages_in("en")
    assert [english.lasting(seconds) for seconds in (0.2, 40, 108, 7500)] == [
        "1 s",
        "40 s",
        "1 min 48 s",
        "2 hours 5 min",
    ]
    assert [english.lasting(hours * 3600) for hours in (24, 47, 48, 168)] == [
        "24 hours",
        "47 hours",
        "2 days",
        "7 days",
    ]
    assert messages_in("de").lasting(168 * 3600) == "7 Tage"
    assert messages_in("de").since(date(2026, 11, 20), date(2026, 11, 27)) == "vor 7 Tagen"


@pytest.mark.parametrize("words", LANGUAGES.values())
def test_every_reason_to_speak_has_its_sentence_and_slack_itself_says_optional(words: Messages) -> None:
    for reason in REASONS:
        assert getattr(words, f"because_{reason}").endswith(".")
    assert "(" not in words.feedback_comment
