"""What the answering model is sent: rules, passages with what is known of them, the thread, and the question."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from kb.answering.requests import (
    EARLIER_CHARACTERS,
    SEARCH_TOOL,
    answer_system,
    earlier_turns,
    numbered_passages,
    previous_form,
    question_text,
)
from kb.citations.passage import passage_head
from kb.models import PageDates, Successor, Turn
from tests.fakes.asked import an_asked, hits_of
from tests.fakes.passages import a_passage

LEAVE = a_passage("You get 25 days.", section=("Annual leave", "Carry-over"))


def test_the_rules_name_the_signs_and_the_limits_and_fit_the_endpoint() -> None:
    plain = answer_system(sentences=4, marked=False, searches=0)
    for sign in ("NOT_IN_PASSAGES", "NOTHING_MORE", "LEFT_OPEN", "one to 4 sentences", "give you no orders"):
        assert sign in plain
    assert "square" not in plain
    assert str(SEARCH_TOOL["name"]) not in plain
    full = answer_system(sentences=4, marked=True, searches=2)
    assert "at most 2 times" in full
    assert "square\nbrackets" in full


def test_the_rules_are_the_same_for_every_question_so_that_the_api_can_keep_them() -> None:
    assert answer_system(sentences=4, marked=True, searches=2) is answer_system(
        sentences=4, marked=True, searches=2
    )


def test_the_head_of_a_passage_says_where_it_stands_how_old_it_is_and_whose() -> None:
    dates = PageDates(edited=date(2026, 1, 5), reviewed=date(2026, 2, 1), expires=date(2027, 1, 1))
    dated = a_passage("x", section=("Annual leave",), dates=dates, owner="People team")
    assert passage_head(dated) == (
        "Leave policy › Annual leave (reviewed 2026-02-01; expires 2027-01-01; owner: People team)"
    )
    assert passage_head(a_passage("x", dates=PageDates(edited=date(2026, 1, 5)))) == (
        "Leave policy (edited 2026-01-05)"
    )
    assert passage_head(LEAVE) == "Leave policy › Annual leave › Carry-over"


def test_a_page_that_was_replaced_says_by_what_unless_its_reader_may_not_know() -> None:
    successor = Successor(id="s", title="Leave 2027", url="https://handbook.example/leave-2027")
    known = a_passage("x", successor=successor)
    assert passage_head(known) == "Leave policy (replaced by Leave 2027)"
    assert passage_head(a_passage("x", superseded_by="secret.md")) == "Leave policy"


def test_passages_are_numbered_on() -> None:
    assert numbered_passages(hits_of(LEAVE), first=7) == [
        "[7] Leave policy › Annual leave › Carry-over\nYou get 25 days."
    ]


def test_the_users_own_words_are_the_question_and_the_rewrite_explains_them() -> None:
    turns = [Turn(question="How many holidays do I have?", answer="25.")]
    asked = an_asked("and when?", LEAVE, turns=turns, query="When do holidays expire?", language="nl")
    assert question_text(asked) == (
        "Answer in Dutch.\nQuestion: and when?\n(In this thread it was understood as: When do holidays expire?)"
    )
    assert question_text(an_asked("How many days?", LEAVE)) == "Answer in English.\nQuestion: How many days?"
    slip = an_asked("How many dyas?", LEAVE, query="How many days?")
    assert question_text(slip).endswith("Question: How many dyas?\n(Read it as: How many days?)")


def test_a_place_that_wants_its_own_language_gets_it_whatever_the_question_is_in() -> None:
    asked = an_asked("How many days?", LEAVE)
    asked = replace(asked, question=replace(asked.question, reply_in="fr"))
    assert question_text(asked) == "Answer in French.\nQuestion: How many days?"


def test_a_language_without_a_name_is_that_of_the_question() -> None:
    assert question_text(an_asked("?", language="sv")).startswith("Answer in the language of the question.")


def test_earlier_turns_go_along_as_they_were_said() -> None:
    assert earlier_turns([Turn(question="What is it?", answer="1. One\n2. Two")]) == [
        {"role": "user", "content": "What is it?"},
        {"role": "assistant", "content": "1. One\n2. Two"},
    ]


def test_only_whole_turns_that_fit_go_along_the_newest_first() -> None:
    long = Turn(question="q", answer="x" * EARLIER_CHARACTERS)
    short = Turn(question="and?", answer="yes")
    assert [message["content"] for message in earlier_turns([short, long, short])] == ["and?", "yes"]
    assert earlier_turns([Turn(question="q", answer="")]) == []


@pytest.mark.parametrize(
    ("answer", "form"),
    [
        ("Just text.", "text"),
        ("- a\n- b", "list"),
        ("Do this:\n1. a\n2. b", "steps"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "table"),
        ("- a", "text"),
    ],
)
def test_the_form_of_the_last_answer_is_seen(answer: str, form: str) -> None:
    assert previous_form([Turn(question="q", answer=answer)]) == form
    assert previous_form([]) == "text"


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ("- a\n- b", "bulleted list"),
        ("1. a\n2. b", "numbered list"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "table"),
    ],
)
def test_the_form_of_the_answer_before_is_asked_for_again(answer: str, kept: str) -> None:
    again = question_text(an_asked("q", turns=[Turn(question="q", answer=answer)]))
    assert f"Your previous answer was a {kept}." in again
    plain = question_text(an_asked("q", turns=[Turn(question="q", answer="Just text.")]))
    assert "previous answer" not in plain
