import pytest

from kb.models import Turn
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.thread_words import context_terms, in_context

LEXICAL = LexicalEncoder()
COMMON = {"question", "answer", "company", "bedrijf"}


def rarity(terms: object) -> float:
    common = {stem for word in COMMON for language in ("en", "nl") for stem in LEXICAL.stems(word, language)}
    return 0.5 if set(terms) & common else 3.0  # type: ignore[call-overload]


def terms_of(question: str, *turns: Turn, language: str = "en", limit: int = 10) -> tuple[str, ...]:
    return context_terms(question, turns, language, lexical=LEXICAL, rarity=rarity, limit=limit)


def a_turn(question: str, answer: str = "", **fields: object) -> Turn:
    return Turn(question=question, answer=answer, **fields)


ECLIPSE = a_turn("What do I need for an eclipse?", "You need glasses. Glasses protect the eyes.")


def test_the_words_of_the_last_question_come_before_those_of_its_answer() -> None:
    terms = terms_of("Is it safe?", ECLIPSE)
    assert terms.index("eclipse") < terms.index("glasses")
    assert "eyes" in terms


def test_words_fade_with_every_turn() -> None:
    terms = terms_of(
        "Is it safe?", a_turn("free viewing"), a_turn("light pollution"), a_turn("the projector")
    )
    assert terms == ("projector", "light", "pollution", "free", "viewing")


def test_what_the_question_says_itself_in_any_form_is_not_said_twice() -> None:
    assert "eclipse" not in terms_of("How long do eclipses last?", ECLIPSE)


def test_words_that_half_the_pages_hold_tell_nothing() -> None:
    assert terms_of("why?", a_turn("the company and its pension", "The answer.")) == ("pension",)


def test_function_words_and_thanks_are_not_what_a_thread_is_about() -> None:
    assert (
        terms_of("why?", ECLIPSE, a_turn("thank you kindly", "You are welcome!", outcome="chat"))[0]
        == "eclipse"
    )


def test_no_more_than_the_limit_and_none_of_an_empty_thread() -> None:
    assert len(terms_of("Is it safe?", ECLIPSE, limit=2)) == 2
    assert terms_of("Is it safe?") == ()


def test_dutch_words_are_weighed_as_dutch() -> None:
    turn = a_turn("Wat is de prijs van houtmulch?", "Houtmulch kost 40 euro per kuub.")
    terms = terms_of("en de bezorging?", turn, language="nl")
    assert terms[0] == "houtmulch"
    assert not {"de", "van", "per"} & set(terms)


@pytest.mark.parametrize("turns", [5, 200])
def test_only_the_last_turns_are_read(turns: int) -> None:
    thread = [a_turn(f"topic{at}") for at in range(turns)]
    assert terms_of("and?", *thread) == tuple(f"topic{at}" for at in range(turns - 1, turns - 5, -1))


def test_the_wording_keeps_the_question_and_puts_the_words_behind_it() -> None:
    assert in_context("is it safe?", ("lunar", "eclipse")) == "is it safe? (lunar, eclipse)"
