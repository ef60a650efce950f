"""When a question is asked back, with what, and what a reply to that means."""

from __future__ import annotations

from datetime import date

import pytest

from bot.rendering.render import answer_markdown, render
from kb.answer import Answer, Trace
from kb.answering.clarify import competing_pages, topics_of_thread
from kb.models import Hit, Retrieved, Rewrite, Scores, Turn
from kb.retrieval.confidence import EvidenceFeatures
from kb.rewriting.heuristic import HeuristicRewriter
from tests.fakes.passages import a_passage


def found(*titled: tuple[str, float], coverage: float = 1.0) -> EvidenceFeatures:
    hits = [Hit(chunk=a_passage("...", title=title), scores=Scores(final=final)) for title, final in titled]
    return EvidenceFeatures(hits=hits, coverages=[coverage] * len(hits))


LEAVE = found(("Leave FAQ", 0.58), ("Leave policy", 0.56), ("Leave policy", 0.53), ("Sick days", 0.55))


def asked(text: str, features: EvidenceFeatures, *turns: Turn) -> tuple[str, ...]:
    return competing_pages(Rewrite(query=text), turns, features, "en")


def test_a_bare_word_that_two_pages_are_named_after_is_asked_back_with_those():
    assert asked("leave", LEAVE) == ("Leave FAQ", "Leave policy")


@pytest.mark.parametrize(
    ("text", "features"),
    [
        ("How many days of leave do I get?", LEAVE),
        ("TOGAF", found(("TOGAF", 0.73), ("TOGAF study plan", 0.72))),
        ("sick", found(("Sick leave", 0.521), ("Leave FAQ", 0.515))),
        ("manager", found(("Sick leave", 0.50), ("TOGAF", 0.49))),
        ("delivery", found(("Delivery at home", 0.48), ("Delivery abroad", 0.43))),
        ("delivery", found(("Delivery at home", 0.48), ("Delivery abroad", 0.47), coverage=0.0)),
        ("delivery", found()),
        ("delivery", found(("Delivery at home", 0.0), ("Delivery abroad", 0.0))),
        ("delivery", found(("Delivery at home", -0.2), ("Delivery abroad", 0.6), ("Delivery fees", -0.15))),
    ],
    ids=[
        "says more",
        "a page of just that name",
        "one is named after it",
        "none is named after it",
        "one leads",
        "in none",
        "nothing found",
        "none stands out",
        "the first is not there for its score",
    ],
)
def test_a_question_that_is_clear_is_never_asked_back(text: str, features: EvidenceFeatures):
    assert asked(text, features) == ()


def test_it_is_asked_once():
    assert asked("leave", LEAVE, Turn(question="days", answer="", outcome="unclear")) == ()


def test_a_thread_offers_what_it_was_about_latest_first():
    def a_turn(*titles: str) -> Turn:
        cited = tuple(Retrieved(page_id=one, chunk_id=one, title=one, cited=True) for one in titles)
        return Turn(question="?", answer=".", retrieved=cited)

    assert topics_of_thread([a_turn("Leave policy"), a_turn("Expenses", "Leave policy")]) == (
        "Expenses",
        "Leave policy",
    )
    assert topics_of_thread([a_turn("Leave policy")]) == ()


@pytest.mark.parametrize(
    ("reply", "meant"),
    [
        ("the second one", "leave policy"),
        ("1", "leave faq"),
        ("the FAQ", "leave faq"),
        ("policy please", "policy"),
    ],
)
async def test_the_reply_to_a_clarifying_question_is_understood(reply: str, meant: str):
    unclear = Turn(question="leave", answer="", outcome="unclear", topics=("Leave FAQ", "Leave policy"))
    rewrite = HeuristicRewriter().rewrite(reply, [unclear], language="en")
    assert meant in rewrite.query.lower()
    assert "leave" in rewrite.query.lower()
    assert not rewrite.clarify


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "Do you mean A &amp; B, Leave FAQ or Leave policy?"),
        ("nl", "Bedoel je A &amp; B, Leave FAQ of Leave policy?"),
        ("de", "Meinst du A &amp; B, Leave FAQ oder Leave policy?"),
    ],
)
def test_the_question_names_the_readings_in_the_readers_language(language: str, said: str):
    answer = Answer(
        question="leave",
        outcome="unclear",
        mode="extractive",
        language=language,
        interpretations=("A & B", "Leave FAQ", "Leave policy"),
        trace=Trace(rewrite=Rewrite(query="leave")),
    )
    assert said in render(answer, question_id="q1", today=date(2026, 11, 27)).text
    assert "A & B" in answer_markdown(answer)
