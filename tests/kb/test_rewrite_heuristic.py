import json
from pathlib import Path
from typing import Any

import pytest

from kb.evaluation.datasets import read_conversations
from kb.evaluation.rewrites import (
    rewrite_figures,
    run_gold_rewrites,
    run_standalone,
    standalone_figures,
    standalone_questions,
)
from kb.models import Rewrite, Turn
from kb.rewriting.heuristic import HeuristicRewriter
from kb.rewriting.rewriter import RewriteChoice
from tests.fakes.shared import shared

ROOT = Path(__file__).parents[2]
CASES = json.loads((ROOT / "tests/golden/rewrite_cases.json").read_text(encoding="utf-8"))["cases"]


def a_turn(question: str, answer: str = "It is on the page.", **fields: Any) -> Turn:
    return Turn(question=question, answer=answer, **fields)


def turns_of(history: list[list[str]]) -> list[Turn]:
    return [a_turn(history[at][1], history[at + 1][1]) for at in range(0, len(history), 2)]


async def rewritten(
    question: str, *turns: Turn, language: str = "en", vocabulary: dict[str, int] | None = None
) -> Rewrite:
    rewriter = HeuristicRewriter(None if vocabulary is None else lambda word: vocabulary.get(word, 0))
    return rewriter.rewrite(question, turns, language=language)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
async def test_a_follow_up_that_earlier_systems_reported_is_understood(case: dict[str, Any]) -> None:
    rewrite = await rewritten(case["question"], *turns_of(case["history"]), language=case["language"])
    query = rewrite.query.lower()
    for any_of in case.get("must_contain", []):
        assert any(text in query for text in any_of), query
    for text in case.get("must_not_contain", []):
        assert text not in query
    assert rewrite.is_follow_up == case["follow_up"]
    if case.get("unchanged"):
        assert rewrite.query == case["question"]
        assert not rewrite.needs_rewrite


@pytest.mark.parametrize(
    ("first", "answer", "question", "language", "expected"),
    [
        ("Wat is houtmulch?", "Een bodembedekker.", "en de prijs?", "nl", "Wat is de prijs van houtmulch?"),
        ("Wat is houtmulch?", "Een bodembedekker.", "hoe dik moet ik dat leggen?", "nl", "Hoe dik moet ik houtmulch leggen?"),
        ("How many days of holiday do I get?", "25 days.", "and when do they expire?", "en", "When do days of holiday expire?"),
        ("Do you ship to Canada?", "Yes.", "How long does it take?", "en", "How long does it take to ship to Canada?"),
        ("Do you ship to Canada?", "Yes.", "and to Germany?", "en", "Do you ship to Germany?"),
        ("Do you ship to Canada?", "Yes.", "what about Germany?", "en", "Do you ship to Germany?"),
        ("I want to return my order", "Within 30 days.", "How do I do that?", "en", "How do I return my order?"),
        ("Do you sell MacBooks?", "Yes.", "How much does it cost?", "en", "How much do MacBooks cost?"),
        ("What is the study plan?", "A plan.", "tell me more", "en", "What is the study plan?"),
        ("What is covered on Day 6?", "Data.", "and day 7?", "en", "What is covered on day 7?"),
        ("What is the study plan?", "It has days.", "what happened next", "en", "What happened next (the study plan)?"),
        ("What is a VPC?", "A network.", "What are the benefits?", "en", "What are the benefits of a VPC?"),
        ("Was ist Holzmulch?", "Ein Bodendecker.", "und der Preis?", "de", "Was ist der Preis von Holzmulch?"),
        ("Was ist Holzmulch?", "Ein Bodendecker.", "Wie dick muss ich das legen?", "de", "Wie dick muss ich Holzmulch legen?"),
        ("Qu'est-ce que le paillis ?", "Un couvre-sol.", "et le prix ?", "fr", "Quel est le prix de paillis ?"),
        ("¿Qué es el mantillo?", "Una cubierta.", "¿y el precio?", "es", "¿Cuál es el precio del mantillo?"),
    ],
)  # fmt: skip
async def test_a_rewrite_reads_like_a_question(
    first: str, answer: str, question: str, language: str, expected: str
) -> None:
    rewrite = await rewritten(question, a_turn(first, answer), language=language)
    assert rewrite.query == expected
    assert rewrite.is_follow_up
    assert rewrite.method == "heuristic"


async def test_a_first_question_is_left_alone_whatever_its_form() -> None:
    assert await rewritten("en de prijs?", language="nl") == Rewrite(query="en de prijs?")


async def test_a_first_question_of_reference_words_asks_for_clarification() -> None:
    assert (await rewritten("what about it?")).clarify
    assert not (await rewritten("what about leave?")).clarify


async def test_the_subject_survives_several_follow_ups() -> None:
    turns = [a_turn("Wat is houtmulch?"), a_turn("en de prijs?"), a_turn("hoe dik moet ik dat leggen?")]
    rewrite = await rewritten("en de kleur?", *turns, language="nl")
    assert rewrite.query == "Wat is de kleur van houtmulch?"


async def test_a_series_goes_on_from_the_rewrite_of_the_turn_before() -> None:
    turns = [
        a_turn("Tell me about Day 6 in the study plan"),
        a_turn("how about next", rewritten="Tell me about Day 7 in the study plan"),
    ]
    assert (await rewritten("and the next day?", *turns)).query == "Tell me about Day 8 in the study plan"


async def test_an_item_of_a_list_is_picked_by_its_place() -> None:
    turn = a_turn("What are the forms of leave?", "1. Annual leave\n2. **Parental leave**\n3. Sick leave")
    assert (
        await rewritten("tell me more about the second one", turn)
    ).query == "Tell me more about Parental leave"
    assert (await rewritten("what about the last one?", turn)).query == "What about Sick leave?"


async def test_an_answer_to_our_clarifying_question_joins_the_question_that_was_unclear() -> None:
    turn = a_turn("How long does it take?", "Do you mean shipping or returns?", outcome="unclear")
    rewrite = await rewritten("shipping to Canada", turn)
    assert rewrite.query == "How long does shipping to Canada take?"
    assert rewrite.is_follow_up


async def test_a_new_question_after_a_clarifying_question_is_taken_as_new() -> None:
    turn = a_turn("How long does it take?", "Do you mean shipping or returns?", outcome="unclear")
    rewrite = await rewritten("What is the parental leave policy?", turn)
    assert rewrite.query == "What is the parental leave policy?"


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Now tell me about Topic B", "en"),
        ("Another question: what is the dress code?", "en"),
        ("Andere vraag: wat is de kledingcode?", "nl"),
        ("Andere Frage: wie melde ich mich krank?", "de"),
        ("What is your return policy?", "en"),
        ("Can I use my certificate in other states this year?", "en"),
        ("Is it possible to work from abroad?", "en"),
        ("What is TOGAF?", "en"),
        ("What causes wildfires?", "en"),
        ("Wat is het retourbeleid van de webwinkel?", "nl"),
        ("Wie viele Tage Urlaub bekommen neue Mitarbeiter?", "de"),
        ("Combien de jours de congé reçoit un salarié ?", "fr"),
        ("¿Cuántos días de vacaciones recibe un empleado?", "es"),
    ],
)
async def test_a_question_that_stands_alone_drops_the_thread(question: str, language: str) -> None:
    rewrite = await rewritten(
        question, a_turn("How does topic A work?", "In three steps."), language=language
    )
    assert rewrite.query == question
    assert not rewrite.needs_rewrite
    assert not rewrite.is_follow_up


async def test_a_question_that_stands_alone_may_continue_the_answer() -> None:
    turn = a_turn("How many days of holiday do I get?", "25 days. Unused holiday can be carried over.")
    rewrite = await rewritten("How is unused holiday carried over?", turn)
    assert rewrite.is_follow_up
    assert not rewrite.needs_rewrite


async def test_slips_of_the_keyboard_are_corrected_and_known_words_are_not() -> None:
    turn = a_turn("How do I ask for a refund?", "Fill in the refund form.")
    words = {"refund": 4, "form": 9, "teh": 0, "adm": 2}
    assert (await rewritten("hwo long does teh refnud take?", turn, vocabulary=words)).query == (
        "How long does the refund take?"
    )
    assert "form" in (await rewritten("where is the form?", turn, vocabulary=words)).query


async def test_a_word_of_the_index_is_never_corrected() -> None:
    turn = a_turn("Explain TOGAF", "It has the **ADM**.")
    rewrite = await rewritten("what is teh for?", turn, vocabulary={"teh": 3})
    assert "teh" in rewrite.query


async def test_two_hundred_turns_cost_what_five_do() -> None:
    old = [a_turn(f"What is thing {n}?", "## Thing\n" + "word " * 200) for n in range(195)]
    recent = [a_turn("Wat is houtmulch?")] * 5
    assert await rewritten("en de prijs?", *old, *recent, language="nl") == await rewritten(
        "en de prijs?", *recent, language="nl"
    )


async def test_a_language_without_a_file_keeps_the_users_words_and_adds_the_subject() -> None:
    rewrite = await rewritten(
        "entä hinta?", a_turn("Mikä on puukate?", "**Puukate** on kate."), language="fi"
    )
    assert "entä hinta" in rewrite.query.lower()
    assert "puukate" in rewrite.query.lower()


@pytest.mark.parametrize(
    "question", ["?", "...", "🤔", "it", "a" * 5000, "(((", "\\d+ [a-z", "what about\n\n\nit"]
)
async def test_odd_questions_are_survived(question: str) -> None:
    rewrite = await rewritten(question, a_turn("How does topic A work?", "In three steps."))
    assert rewrite.query


@pytest.mark.parametrize(
    "question",
    [
        "Did the author change his mind?",
        "How old was Rocky Graziano when he first fought?",
        "How does the Kubernetes service work and why should I use it?",
        "Did Patricia Highsmith write anything else besides Ripley?",
        "Is it worth having a chat widget?",
        "Did Elbridge Gerry take down the hospital?",
        "Which problems are too large for a small team?",
        "Are all humans allowed?",
        "Did Ben and Mae arrive on Fridays?",
    ],
)
async def test_a_question_that_names_what_it_points_at_is_left_alone(question: str) -> None:
    rewrite = await rewritten(question, a_turn("Who built the hospital?", "The hospital was built in 1764."))
    assert (rewrite.query, rewrite.needs_rewrite, rewrite.confidence) == (question, False, 1.0)


@pytest.mark.parametrize(
    "question",
    [
        "What happened after that court decision?",
        "Is religion a big part of his life?",
        "What was the name of her last album?",
        "Did Ballmer do that too?",
    ],
)
async def test_a_word_that_points_out_of_its_question_is_noticed(question: str) -> None:
    rewrite = await rewritten(question, a_turn("Who is Ada Lovelace?", "**Ada Lovelace** wrote programs."))
    assert rewrite.is_follow_up
    assert rewrite.needs_rewrite or rewrite.confidence < 1.0


async def test_a_noun_that_may_be_the_threads_is_searched_as_asked_and_worth_a_model() -> None:
    question = "Did the album win any awards?"
    rewrite = await rewritten(question, a_turn("Who made Venom?", "Venom is the fifth album of the band."))
    assert (rewrite.query, rewrite.needs_rewrite) == (question, False)
    assert rewrite.is_follow_up
    assert rewrite.confidence < 1.0


@pytest.mark.series
async def test_on_canard_the_gate_notices_follow_ups_and_leaves_questions_with_every_word_said_alone() -> (
    None
):
    """The floors lie a little under what was measured: 91.1% noticed, 92.3% of the gold rewrites left alone.

    Most of the missed ones lack nothing but the article's title, which their thread never says.
    """
    talks = read_conversations(shared("data/conv/canard-500/conversations.jsonl"))
    rewriter = RewriteChoice(HeuristicRewriter())
    figures = rewrite_figures([one for talk in talks for one in await run_gold_rewrites(rewriter, talk)])
    cases = [case for case in standalone_questions(talks) if case.kind == "spelled out"][::2]
    alone = standalone_figures(cases, [await run_standalone(rewriter, case) for case in cases])
    assert (figures.noticed or 0) >= 0.9
    assert (alone["spelled_out_left_alone"] or 0) >= 0.9


async def test_nearly_every_question_of_the_handbook_is_left_alone_in_a_thread_about_something_else() -> None:
    cases = json.loads((ROOT / "ingest/sample/questions.json").read_text(encoding="utf-8"))["cases"]
    first = [case for case in cases if not case["history"]]
    noticed = []
    for at, case in enumerate(first):
        before = first[(at + len(first) // 2) % len(first)]
        thread = [a_turn(before["question"], ". ".join(before["must_contain"]))]
        rewrite = await rewritten(case["question"], *thread, language=case["language"])
        if rewrite.needs_rewrite or rewrite.clarify or rewrite.confidence < 1.0:
            noticed.append(case["question"])
    assert len(first) > 60
    assert len(noticed) <= 0.05 * len(first), noticed


@pytest.mark.parametrize(
    ("earlier", "question", "expected"),
    [
        ("What does a software engineer in salary band 3 earn?", "and band 4?", "salary band 4"),
        ("Wat verdien je in schaal 8?", "en schaal 9?", "schaal 9"),
    ],
)
def test_a_number_of_a_series_that_no_language_file_knows_is_put_in_the_place_of_the_other(
    earlier: str, question: str, expected: str
):
    language = "nl" if "schaal" in earlier else "en"
    rewrite = HeuristicRewriter().rewrite(question, [Turn(question=earlier, answer="…")], language=language)
    assert expected in rewrite.query
    assert earlier.rsplit(" ", 1)[0][:12] in rewrite.query


def test_what_one_may_do_is_the_subject_not_how_often():
    earlier = Turn(question="Hoeveel dagen per week mag ik thuiswerken?", answer="Tot 3 dagen per week.")
    rewrite = HeuristicRewriter().rewrite("en de vergoeding?", [earlier], language="nl")
    assert rewrite.query == "Wat is de vergoeding van thuiswerken?"
