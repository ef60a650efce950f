""" "Why this answer?": what it tells of a model's searches, of the second check, and of a question in several parts."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from bot.messages import messages_in
from bot.playground.block_kit import check_view
from bot.why import Why, modal, trace_payload, why_blocks
from kb.answer import Answer, Checked
from kb.calibration import Reranking
from kb.models import Rewrite
from tests.fakes.answers import a_page, a_quote, an_answer, quotes_of

CHECKED = Checked(sentences=3, cited=3, supported=2, removed=1)


def told(answer: Answer) -> str:
    why = Why.model_validate(json.loads(json.dumps(trace_payload(answer, channel="C1"))))
    blocks = why_blocks(why)
    check_view(modal(messages_in(answer.language), blocks), kinds=("modal",))
    return "\n".join(block["text"]["text"] for block in blocks if block["type"] == "section")


def traced(answer: Answer, **given: Any) -> Answer:
    return replace(answer, trace=replace(answer.trace, **given))


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ("judged", "done: a model read each sentence beside what it cites"),
        ("late", "came too late; they were checked by the letter alone"),
        ("failed", "failed; they were checked by the letter alone"),
        ("off", "off; they were checked by the letter"),
    ],
)
def test_it_says_what_became_of_the_second_check(judge: Any, said: str) -> None:
    answer = traced(an_answer(), judge=judge, checked=CHECKED)
    assert f"*Second check of the sentences:* {said}" in told(answer)


def test_quotes_are_not_judged_and_nothing_is_said_of_a_judge() -> None:
    assert "Second check" not in told(quotes_of())


def test_further_searches_removed_sentences_and_parts_are_told() -> None:
    parts = ("How many days do I get?", "Who approves them?")
    answer = traced(
        an_answer(notes=("sentences removed", "reranker unavailable")),
        searches=("approval of leave", "line manager <!channel>"),
        removed_sentences=("Everyone gets 30 days.", "Nobody asks."),
        rewrite=Rewrite(query=" ".join(parts), parts=parts),
    )
    said = told(answer)
    assert "*The model searched further for:* approval of leave / line manager &lt;!channel&gt;" in said
    assert "*Asked in one:* How many days do I get? / Who approves them?" in said
    assert "• Everyone gets 30 days.\n• Nobody asks." in said
    assert "2 sentences removed: not on the page." in said
    assert "The reranker is off" in said


def test_a_quoted_passage_carries_its_number_and_pages_of_one_title_their_place() -> None:
    north, south = (
        a_page(id=place, title="Parking", path=f"{place}/parking.md", url=f"https://kb.example/{place}")
        for place in ("north", "south")
    )
    said = told(quotes_of(a_quote(page=north), a_quote(page=south, n=2)))
    assert "[1]  <https://kb.example/north#annual-leave|Parking (north)>" in said
    assert "Parking (south): current" in said


def test_long_questions_and_searches_stay_within_slacks_limits() -> None:
    long = "What about the moon? " * 100
    answer = traced(
        an_answer(question=long),
        searches=(long,) * 3,
        anchors=("page-leave-policy",),
        anchor_reason=long,
        rewrite=Rewrite(
            query=long, needs_rewrite=True, reasoning=long, lost=long, topics=(long,), parts=(long,)
        ),
        context=(long,),
        context_need=0.5,
        judge="late",
        checked=CHECKED,
    )
    told(answer)


def test_it_opens_only_while_every_page_that_the_model_read_may_be_read() -> None:
    answer = traced(an_answer(), read_pages=("page-leave-policy", "page-that-nothing-is-cited-from"))
    assert "page-that-nothing-is-cited-from" in trace_payload(answer, channel="C1")["pages"]


def test_it_says_what_the_cross_encoder_does_on_these_pages_and_how_that_is_known() -> None:
    found = Reranking(model="mini", weight=0.5, candidates=20, before=0.61, after=0.7, samples=60)
    assert (
        "*Reread by a cross-encoder:* yes, 20 passages, its say is 50%: of 60 headings of these pages it put the right "
        "section higher (61% without it, 70% with it; 100% is always first)"
    ) in told(traced(an_answer(), reranking=found))
    off = told(traced(an_answer(), reranking=found.model_copy(update={"weight": 0.0})))
    assert "*Reread by a cross-encoder:* no: of 60 headings" in off
    assert "cross-encoder" not in told(traced(an_answer()))
