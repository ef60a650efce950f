"""A question behind a pasted letter is what is searched for."""

from __future__ import annotations

import pytest

from kb.models import Turn
from kb.rewriting.heuristic import HeuristicRewriter, thread_state
from kb.rewriting.long import LONG, asked_at_the_end
from kb.rewriting.spelling import correct
from kb.text.lexicon import lexicon

LETTERS = "abcdefghijklmnoprstuvwxyz"
LETTER = "Dear colleagues, we met in May to talk about the tender. Nothing was decided then. " * 12


@pytest.mark.parametrize(
    ("end", "language"),
    [
        ("How many weeks of parental leave does a father get?", "en"),
        ("Which form do I need for parental leave? And who signs the form?", "en"),
        ("Can you tell me how parental leave is paid", "en"),
        ("Hoeveel weken ouderschapsverlof krijgt een vader?", "nl"),
        ("Wie viele Wochen Elternzeit bekommt ein Vater?", "de"),
    ],
)
async def test_the_end_of_a_long_message_is_searched_for(end: str, language: str) -> None:
    for message in (f"{LETTER}\n{end}", f"{LETTER} {end} \n"):
        rewrite = HeuristicRewriter().rewrite(message, (), language=language)
        assert rewrite.query == end
        assert rewrite.needs_rewrite
        assert rewrite.readable


async def test_a_follow_up_behind_a_long_message_leans_on_its_thread() -> None:
    turns = [Turn(question="What is parental leave?", answer="Time off for parents.")]
    rewrite = HeuristicRewriter().rewrite(f"{LETTER}\nAnd how long is it?", turns, language="en")
    assert "parental leave" in rewrite.query
    assert len(rewrite.query) < LONG


@pytest.mark.parametrize("message", ["How long is it?", LETTER, f"{LETTER} {'x' * 700}?"])
async def test_what_is_short_or_asks_nothing_stays_as_it_is(message: str) -> None:
    assert asked_at_the_end(message, lexicon("en")) is None
    assert (HeuristicRewriter().rewrite(message, (), language="en")).query == message


async def test_several_questions_at_the_end_are_all_asked() -> None:
    message = f"{LETTER} How many days of study leave do I get, and who approves it?"
    rewrite = HeuristicRewriter().rewrite(message, (), language="en")
    assert rewrite.parts == ("How many days of study leave do I get?", "Who approves study leave?")


def a_turn(question: str, answer: str = "It is explained on the page.") -> Turn:
    return Turn(question=question, answer=answer)


async def test_a_thread_of_pasted_letters_is_read_as_one_of_what_they_ask() -> None:
    asked = ["How long is parental leave?", "Who signs the form for study leave?"] * 20
    long = [a_turn(f"{LETTER * 8}\n{question}") for question in asked]
    short = [a_turn(question) for question in asked]
    for question in ("and what does it cost?", "How do I report sick?", "who approves that?"):
        rewriter = HeuristicRewriter()
        rewrite = rewriter.rewrite(question, long, language="en")
        assert rewrite == rewriter.rewrite(question, short, language="en")


def test_of_a_letter_that_asks_nothing_its_end_is_read() -> None:
    state = thread_state(
        [a_turn(f"Parental leave is new. {'x' * 5000} {LETTER}The deadline is in June.")], lexicon("en")
    )
    assert state.previous.endswith("The deadline is in June.")
    assert LETTER.endswith(state.previous.removesuffix("The deadline is in June."))
    assert len(state.previous) <= LONG


def test_what_is_read_of_a_thread_does_not_grow_with_its_messages() -> None:
    def read(characters: int) -> int:
        words = " ".join(f"w{number:06}" for number in range(characters // 8))
        return len(thread_state([a_turn(words, answer=words)] * 5, lexicon("en")).seen)

    assert read(8_000) == read(200_000) > 0


def test_a_pasted_log_is_not_corrected_word_by_word() -> None:
    def looked_up(words: int) -> int:
        asked: list[str] = []
        log = " ".join("q" + letter * 3 + other * 3 for letter in LETTERS for other in LETTERS)[: words * 8]
        correct(log, lexicon("en"), thread=(), vocabulary=lambda word: asked.append(word) or 0)
        return len(asked)

    assert looked_up(100) == looked_up(600) > 0


def test_slips_are_mended_in_front_of_a_pasted_log() -> None:
    log = " ".join("q" + letter * 3 + other * 3 for letter in LETTERS for other in LETTERS)
    mended = correct(f"Waht is {log}", lexicon("en"), thread=(), vocabulary=None)
    assert mended == f"What is {log}"
