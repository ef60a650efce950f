"""The sentences that people see."""

import dataclasses
import string
from datetime import date

import pytest

from bot.messages import LANGUAGES, Messages, messages_in

OTHERS = [code for code in LANGUAGES if code != "en"]


@pytest.mark.parametrize("language", OTHERS)
def test_every_sentence_is_translated(language: str) -> None:
    same_in_both = {"percent_form", "date_form", "second", "minute", "thousands"}
    english, other = LANGUAGES["en"], LANGUAGES[language]
    untranslated = {
        field.name
        for field in dataclasses.fields(Messages)
        if getattr(english, field.name) == getattr(other, field.name)
    }
    assert untranslated <= same_in_both


@pytest.mark.parametrize("language", OTHERS)
def test_translations_fill_in_the_same_things(language: str) -> None:
    def filled_in(text: str) -> set[str]:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}

    for field in dataclasses.fields(Messages):
        ours, theirs = getattr(LANGUAGES["en"], field.name), getattr(LANGUAGES[language], field.name)
        if isinstance(ours, str):
            assert filled_in(ours) == filled_in(theirs), field.name
        else:
            assert len(ours) == len(theirs), field.name


@pytest.mark.parametrize("words", LANGUAGES.values())
def test_titles_and_buttons_fit_slacks_limits(words: Messages) -> None:
    assert max(len(title) for title in (words.why, words.feedback_title, words.close, words.send)) <= 24
    assert max(len(label) for label in (words.helpful, words.not_helpful, words.why)) <= 75
    assert len(words.home_title) <= 150


def test_a_locale_finds_its_language_and_an_unknown_one_is_english() -> None:
    assert messages_in("nl-NL") is LANGUAGES["nl"]
    assert messages_in("de_AT") is LANGUAGES["de"]
    assert messages_in("ja") is messages_in(None) is LANGUAGES["en"]


def test_dates_are_written_as_their_readers_write_them() -> None:
    day = date(2024, 5, 3)
    assert [messages_in(code).on(day) for code in ("en", "nl", "de")] == [
        "3 May 2024",
        "3 mei 2024",
        "3. Mai 2024",
    ]


@pytest.mark.parametrize(
    ("then", "told"),
    [
        (date(2026, 11, 27), "0 days ago"),
        (date(2026, 11, 26), "1 day ago"),
        (date(2026, 10, 1), "2 months ago"),
        (date(2025, 5, 1), "19 months ago"),
        (date(2020, 11, 27), "6 years ago"),
        (date(2027, 1, 1), "0 days ago"),
    ],
)
def test_ages_are_told_in_the_unit_that_matters(then: date, told: str) -> None:
    assert messages_in("en").since(then, date(2026, 11, 27)) == told


def test_durations_and_numbers_are_short() -> None:
    english, german = messages_in("en"), messages_in("de")
    assert [english.lasting(seconds) for seconds in (0.2, 40, 108, 7500)] == [
        "1 s",
        "40 s",
        "1 min 48 s",
        "2 hours 5 min",
    ]
    assert (english.number(12345), german.number(12345)) == ("12,345", "12.345")
    assert (english.percent(0.625), german.percent(1.0)) == ("62%", "100 %")
