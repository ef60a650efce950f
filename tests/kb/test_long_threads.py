"""A thread of 200 turns asks no more of the model than one of 5, and still knows what its early turns were about."""

from __future__ import annotations

import json

import pytest

from kb.answering.requests import earlier_turns
from kb.conversation.conversations import KEPT_CHARACTERS, compacted
from kb.models import Retrieved, Turn
from kb.rewriting.context import render_prompt, thread_context
from kb.rewriting.heuristic import HeuristicRewriter
from kb.text.lexicon import lexicon

QUESTION = "and how long does it take?"


def a_turn(number: int) -> Turn:
    return Turn(
        question=f"What is the shipping policy for destination {number:03} and its customers?",
        answer=f"Shipping to **destination {number:03}** takes some days. " * 20,
        topics=(f"customs {number:03}",),
        retrieved=(Retrieved(page_id=f"page-{number:03}", chunk_id="c", title="Shipping", cited=True),),
        question_ts=f"{number}.0",
    )


def a_thread(turns: int) -> list[Turn]:
    """As it is stored: one turn after the other."""
    thread: list[Turn] = []
    for number in range(turns):
        thread = compacted([*thread, a_turn(number)])
    return thread


def prompt(turns: list[Turn]) -> str:
    return render_prompt(QUESTION, thread_context(QUESTION, turns, lexicon("en"), window=5), language="en")


def test_the_rewriters_prompt_is_as_long_as_in_a_short_thread() -> None:
    assert len(prompt(a_thread(200))) <= 1.2 * len(prompt(a_thread(5)))


def test_the_answering_model_is_told_as_much_as_in_a_short_thread() -> None:
    def told(turns: list[Turn]) -> int:
        return sum(len(str(message["content"])) for message in earlier_turns(turns))

    assert told(a_thread(200)) == told(a_thread(5)) > 0


async def test_the_rules_read_the_latest_turns_only() -> None:
    rewriter = HeuristicRewriter()
    long = rewriter.rewrite(QUESTION, a_thread(200), language="en")
    assert long == rewriter.rewrite(QUESTION, a_thread(200)[-5:], language="en")


def test_of_each_early_turn_about_half_a_kilobyte_stays() -> None:
    early = a_thread(200)[0]
    assert early.answer == ""
    assert len(early.question) <= KEPT_CHARACTERS
    assert (early.topics, early.retrieved[0].page_id) == (("customs 000", "destination 000"), "page-000")


@pytest.mark.parametrize("number", [0, 42, 180])
def test_an_early_topic_is_shown_to_the_model_when_the_question_returns_to_it(number: int) -> None:
    question = f"back to destination {number:03}: what about customs?"
    context = thread_context(question, a_thread(200), lexicon("en"), window=5)
    shown = json.loads(render_prompt(question, context, language="en"))["thread"]
    assert any(f"destination {number:03}" in one["question"] for one in shown)
    assert len(shown) == 5
