"""What continues a thread without naming it: more of the same, another kind of the same, a term that must be held."""

import pytest

from kb.models import Rewrite, Turn
from kb.rewriting.heuristic import HeuristicRewriter

PLAN = {
    "en": "What is the study plan?",
    "nl": "Wat is het studieplan?",
    "de": "Was ist der Lernplan?",
    "es": "¿Qué es el plan de estudios?",
    "fr": "Quel est le plan d'études ?",
}


def read(question: str, *turns: tuple[str, str], language: str = "en") -> Rewrite:
    thread = [Turn(question=asked, answer=answer) for asked, answer in turns]
    return HeuristicRewriter().rewrite(question, thread, language=language)


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("tell me more", "en"),
        ("any others?", "en"),
        ("anything else?", "en"),
        ("Tell me more about that", "en"),
        ("Can you elaborate more on that?", "en"),
        ("is that all?", "en"),
        ("nog iets?", "nl"),
        ("en verder?", "nl"),
        ("noch etwas?", "de"),
        ("gibt es noch andere?", "de"),
        ("¿algo más?", "es"),
        ("autre chose ?", "fr"),
    ],
)
def test_more_is_asked_of_the_last_question_that_stood_alone(question: str, language: str) -> None:
    earlier = PLAN[language]
    rewrite = read(question, (earlier, "…"), language=language)
    assert (rewrite.query, rewrite.wants_more) == (earlier, True)
    assert (rewrite.is_follow_up, rewrite.needs_rewrite, rewrite.readable) == (True, True, True)


def test_more_may_be_asked_again_and_again() -> None:
    turns = (("What is the study plan?", "Ten days."), ("tell me more", "It has phases."), ("go on", "Six."))
    assert read("anything else?", *turns).query == "What is the study plan?"


def test_more_about_a_step_is_more_about_that_step() -> None:
    assert read("tell me more", ("What is Phase C about?", "Data.")).required == ("Phase C",)


@pytest.mark.parametrize("question", ["tell me more about the ADM", "What else is in the laptop bag?"])
def test_a_question_that_names_its_own_subject_is_not_more_of_the_same(question: str) -> None:
    assert not read(question, ("What is the study plan?", "Ten days.")).wants_more


def test_thanks_between_two_questions_change_nothing() -> None:
    asked = Turn(question="What is the study plan?", answer="Ten days.")
    thanks = Turn(question="thanks!", answer="Glad to help.", outcome="chat")
    rewrite = HeuristicRewriter().rewrite("tell me more", [asked, thanks], language="en")
    assert rewrite.query == "What is the study plan?"


@pytest.mark.parametrize(
    ("earlier", "question", "language", "expected"),
    [
        ("What does a junior engineer earn?", "and for a senior one?", "en", "What does a senior engineer earn?"),
        ("What does a junior engineer earn?", "and a senior?", "en", "What does a senior engineer earn?"),
        ("What does a junior engineer earn?", "what about a senior engineer?", "en", "What does a senior engineer earn?"),
        ("What is the price of the small plan?", "and the bigger one?", "en", "What is the price of the bigger plan?"),
        ("How much does the small laptop cost?", "and the bigger one?", "en", "How much does the bigger laptop cost?"),
        ("Can I get a small monitor?", "how about an even larger one?", "en", "Can I get an even larger monitor?"),
        ("Wat verdient een junior engineer?", "en voor een senior?", "nl", "Wat verdient een senior engineer?"),
        ("Was verdient ein Junior Entwickler?", "und für einen Senior?", "de", "Was verdient ein Senior Entwickler?"),
        ("¿Cuánto gana un ingeniero junior?", "¿y para un senior?", "es", "¿Cuánto gana un ingeniero senior?"),
        ("Combien gagne un ingénieur junior ?", "et pour un senior ?", "fr", "Combien gagne un ingénieur senior ?"),
    ],
)  # fmt: skip
def test_another_kind_keeps_the_thing_that_was_spoken_of(
    earlier: str, question: str, language: str, expected: str
) -> None:
    rewrite = read(question, (earlier, "It is on the page."), language=language)
    assert (rewrite.query, rewrite.readable) == (expected, True)


def test_another_thing_is_not_another_kind_of_the_same() -> None:
    rewrite = read("and for a contractor?", ("What does a junior engineer earn?", "40,000 euro."))
    assert "contractor engineer" not in rewrite.query
    assert "contractor" in rewrite.query


@pytest.mark.parametrize(
    ("earlier", "question", "required"),
    [
        (["What is covered on Day 6?"], "how about a day after tha", "Day 7"),
        (["What is covered on Day 6?", "how about a day after tha"], "and the one before", "Day 6"),
        (["What is covered on Day 6?"], "and day 9?", "day 9"),
        (["What is Phase D about?"], "and the one before", "Phase C"),
        (["What does an engineer in band 3 earn?"], "and band 4?", "band 4"),
    ],
)
def test_a_step_that_a_rule_knows_must_be_held(earlier: list[str], question: str, required: str) -> None:
    rewrite = read(question, *((one, "It is on the page.") for one in earlier))
    assert rewrite.required == (required,)
    assert required in rewrite.query


@pytest.mark.parametrize(
    ("earlier", "question"),
    [
        ("Is the office open on Monday?", "and the day after?"),
        ("What is the second step?", "and the next step?"),
    ],
)
def test_what_pages_write_in_other_ways_need_not_be_held(earlier: str, question: str) -> None:
    assert read(question, (earlier, "Yes.")).required == ()


@pytest.mark.parametrize(
    ("earlier", "question", "language"),
    [
        ("Do you sell MacBooks?", "And lapton?", "en"),
        ("Do you sell the MacBook Pro?", "What about the Air?", "en"),
        ("What are your opening hours?", "what about the weekend?", "en"),
        ("What is the return policy?", "How do I do that?", "en"),
        ("What happens in January?", "what happened after that", "en"),
        ("Wat is ouderschapsverlof?", "en voor adoptieouders?", "nl"),
    ],
)
def test_a_rewrite_that_nobody_would_write_is_searched_and_not_shown(
    earlier: str, question: str, language: str
) -> None:
    rewrite = read(question, (earlier, "It is on the page."), language=language)
    assert rewrite.needs_rewrite
    assert not rewrite.readable
