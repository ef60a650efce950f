import pytest

from kb.models import Chunk, Page
from kb.retrieval.lexical import STEMMED, LexicalEncoder


@pytest.fixture(scope="module")
def encoder() -> LexicalEncoder:
    return LexicalEncoder()


def a_chunk(text: str, *, language: str = "en", title: str = "Handbook") -> Chunk:
    page = Page(id="p", source="s", path="p.md", title=title, url="https://kb.example/p", language=language)
    return Chunk(id="p#0", page=page, position=0, text=text, url=page.url)


def test_a_question_finds_another_form_of_its_word_in_the_passage_language(encoder: LexicalEncoder) -> None:
    assert set(encoder.query("holiday", ["en"]).indices) & set(encoder.document("Holidays", "en").indices)
    assert set(encoder.query("huis", ["nl"]).indices) & set(encoder.document("huizen en huis", "nl").indices)


def test_a_stop_word_of_the_question_is_no_rare_term_of_another_language(encoder: LexicalEncoder) -> None:
    french_or_english = encoder.document("La carte de visite", "en")
    assert encoder.query("de", ["en"]).indices  # "de" is a term where English is asked
    assert not encoder.query("de", ["nl", "en"]).indices
    houtmulch = encoder.query("de prijs van houtmulch", ["nl", "en"])
    assert not set(houtmulch.indices) & set(french_or_english.indices)


def test_a_word_is_searched_in_the_stem_of_every_language_of_the_index(encoder: LexicalEncoder) -> None:
    asked = set(encoder.query("kosten", ["nl", "de", "en"]).indices)
    for language in ("nl", "de", "en"):
        assert asked & set(encoder.document("kosten", language).indices)


def test_each_term_of_a_question_weighs_once(encoder: LexicalEncoder) -> None:
    vector = encoder.query("laptop laptop LAPTOP", ["en", "nl", "en"])
    assert vector.values == (1.0,) * len(vector.indices)
    assert len(set(vector.indices)) == len(vector.indices)


def test_a_question_of_stop_words_has_no_terms(encoder: LexicalEncoder) -> None:
    assert encoder.query("what is the", ["en"]).indices == ()
    assert encoder.query("", ["en"]).indices == ()


def test_a_repeated_term_weighs_more_in_a_passage_but_less_than_twice(encoder: LexicalEncoder) -> None:
    once = encoder.document("laptop", "en").values[0]
    twice = encoder.document("laptop laptop", "en").values[0]
    assert once < twice < 2 * once


def test_a_term_weighs_less_in_a_long_passage(encoder: LexicalEncoder) -> None:
    short = encoder.document("laptop", "en")
    long = encoder.document("laptop " + " ".join(f"word{at}" for at in range(300)), "en")
    assert dict(zip(long.indices, long.values, strict=True))[short.indices[0]] < short.values[0]


@pytest.mark.parametrize("language", [*STEMMED, "xx", "", "ta", "ko"])
def test_every_language_encodes_known_or_not(encoder: LexicalEncoder, language: str) -> None:
    passage = encoder.document("Footnote 2026", language)
    asked = encoder.query("footnote", [language])
    assert set(asked.indices) & set(passage.indices)


def test_words_of_a_language_without_spaces_are_found(encoder: LexicalEncoder) -> None:
    passage = encoder.document("年休は10日です", "ja")
    assert set(encoder.query("年休は何日ですか", ["ja", "en"]).indices) & set(passage.indices)


def test_coverage_is_the_share_of_content_words(encoder: LexicalEncoder) -> None:
    assert (
        encoder.coverage("What is the price of a laptop?", "The prices of laptops are public.", "en") == 1.0
    )
    assert encoder.coverage("What is the price of a laptop?", "Laptops are silver.", "en") == 0.5
    assert encoder.coverage("What is the price of a laptop?", "Ask your manager.", "en") == 0.0
    assert encoder.coverage("what is it", "Ask your manager.", "en") == 1.0


def test_coverage_of_a_chunk_counts_its_title_and_reads_it_in_its_language(encoder: LexicalEncoder) -> None:
    chunk = a_chunk("25 dagen per jaar", language="nl", title="Vakantiedagen")
    assert encoder.coverage("vakantiedag 25", chunk, "en") == 1.0
    assert encoder.coverage("vakantiedag ouderschapsverlof", chunk, "nl") == 0.5
