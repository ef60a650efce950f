"""A question behind a pasted letter is what is searched for."""

from __future__ import annotations

import pytest

from kb.models import Turn
from kb.rewriting.heuristic import HeuristicRewriter
from kb.rewriting.long import LONG, asked_at_the_end
from kb.text.lexicon import lexicon

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
        rewrite = await HeuristicRewriter().rewrite(message, (), language=language)
        assert rewrite.query == end
        assert rewrite.needs_rewrite
        assert rewrite.readable


async def test_a_follow_up_behind_a_long_message_leans_on_its_thread() -> None:
    turns = [Turn(question="What is parental leave?", answer="Time off for parents.")]
    rewrite = await HeuristicRewriter().rewrite(f"{LETTER}\nAnd how long is it?", turns, language="en")
    assert "parental leave" in rewrite.query
    assert len(rewrite.query) < LONG


@pytest.mark.parametrize("message", ["How long is it?", LETTER, f"{LETTER} {'x' * 700}?"])
async def test_what_is_short_or_asks_nothing_stays_as_it_is(message: str) -> None:
    assert asked_at_the_end(message, lexicon("en")) is None
    assert (await HeuristicRewriter().rewrite(message, (), language="en")).query == message


async def test_several_questions_at_the_end_are_all_asked() -> None:
    message = f"{LETTER} How many days of study leave do I get, and who approves it?"
    rewrite = await HeuristicRewriter().rewrite(message, (), language="en")
    assert rewrite.parts == ("How many days of study leave do I get?", "Who approves study leave?")
