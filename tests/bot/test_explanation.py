""" "Why this answer?": what it tells of a model's searches, of the second check, and of a question in several parts."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from bot.messages.catalog import LANGUAGES, messages_in
from bot.playground.block_kit import check_view
from bot.questions.explain import modal, trace_payload
from bot.questions.explanation import explanation_blocks
from bot.questions.explanation_record import Explanation
from kb.answer import Answer, Checked
from kb.calibration import Reranking
from kb.models import Hit, Rewrite, Scores
from tests.fakes.answers import a_page, a_quote, an_answer, quotes_of

CHECKED = Checked(sentences=3, cited=3, supported=2, removed=1)


def told(answer: Answer) -> str:
    why = Explanation.model_validate(json.loads(json.dumps(trace_payload(answer, channel="C1"))))
    blocks = explanation_blocks(why)
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
    assert "reranker" not in said


def parts_of(answer: Answer, reason: str = "") -> tuple[str, str]:
    """What stands above the line, and what below it."""
    why = Explanation.model_validate(
        json.loads(json.dumps(trace_payload(answer, channel="C1", reason=reason)))
    )
    blocks = explanation_blocks(why)
    check_view(modal(messages_in(answer.language), blocks), kinds=("modal",))
    line = next(at for at, block in enumerate(blocks) if block["type"] == "divider")
    above, below = blocks[:line], blocks[line + 1 :]
    assert {block["type"] for block in above} == {"section"}
    return "\n".join(block["text"]["text"] for block in above), json.dumps(below, ensure_ascii=False)


def a_hit(**scores: Any) -> Hit:
    given: dict[str, Any] = {"fused": 0.5, "final": 0.5, "dense": None, "lexical": None, **scores}
    return Hit(chunk=an_answer().citations[0].chunk, scores=Scores(**given))


def test_a_person_reads_first_why_it_spoke_what_it_understood_where_it_looked_and_how_sure_it_is() -> None:
    answer = traced(replace(an_answer(), confidence=0.84), hits=(a_hit(dense=0.61, lexical=4.2),))
    above, below = parts_of(answer, "goes_on")
    assert above.split("\n") == [
        "*Why I answered:* You went on after my last answer.",
        f"*What I understood:* _{answer.question}_, as you asked it.",
        "*What I searched:* All pages that may be read here, for the words of the question and for its meaning.",
        "*How sure I am:* Very sure that the pages answer this (84%).",
        "*Which pages, and why these*",
        "• [1] <https://kb.example/leave-policy#annual-leave|Leave policy> › Annual leave"
        " – its words and its meaning fit the question",
    ]
    assert "0.61" in below
    assert "confidence 84%" in below
    assert below.startswith('[{"type": "section", "text": {"type": "mrkdwn", "text": "*Details*"')


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        ({"dense": 0.5}, "its meaning fits the question"),
        ({"lexical": 3.0, "dense": -0.4}, "its words fit the question"),
        ({"lexical": 0.0, "dense": 0.4}, "its meaning fits the question"),
        ({"lexical": 3.0, "anchor": 0.2}, "its words fit the question; this thread is about its page"),
        ({"dense": 0.5, "lexical": 3.0, "anchor": 0.2},
         "its words and its meaning fit the question; this thread is about its page"),
        ({}, ""),
    ],
)  # fmt: skip
def test_it_says_how_a_page_was_found(scores: dict[str, float], told: str) -> None:
    above, _ = parts_of(traced(an_answer(), hits=(a_hit(**scores),)))
    assert above.endswith(f" – {told}" if told else "› Annual leave")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"confidence": 0.6}, "Fairly sure that the pages answer this (60%)."),
        ({"confidence": 0.31}, "Not very sure that the pages answer this (31%); read them"),
        ({"outcome": "closest", "confidence": 0.22}, "Not sure that the pages answer this (22%)"),
        ({"outcome": "declined", "confidence": 0.02}, "No page came near enough (2%)"),
        ({"outcome": "unclear"}, "I wasn't sure what you meant"),
    ],
)
def test_how_sure_it_is_stands_in_words_and_in_percent(given: dict[str, Any], told: str) -> None:
    above, _ = parts_of(replace(an_answer(), **given))
    assert f"*How sure I am:* {told}" in above


def test_what_was_understood_is_told_in_the_words_of_the_thread() -> None:
    rewritten = Rewrite(query="How many <days> do part-timers get?", needs_rewrite=True)
    assert (
        "_How many &lt;days&gt; do part-timers get?_, with what was said"
        in parts_of(traced(an_answer(), rewrite=rewritten))[0]
    )
    unreadable = replace(rewritten, readable=False, topics=("Leave policy",))
    above = parts_of(traced(an_answer(), rewrite=unreadable, context=("leave",), context_share=0.4))[0]
    assert "together with what this thread is about: Leave policy." in above
    assert "I looked for words of this thread as well: leave." in above


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_unknown_reason_is_left_out_and_no_sentence_keeps_its_braces(language: str) -> None:
    above, below = parts_of(an_answer(language=language), "from another version")
    assert messages_in(language).why_spoke not in above
    assert "{" not in above
    assert messages_in(language).why_details in below


def test_a_trace_that_an_older_version_stored_opens_still() -> None:
    payload = trace_payload(an_answer(), channel="C1")
    for name in ("reason", "readable", "cited"):
        del payload[name]
    assert explanation_blocks(Explanation.model_validate(payload))


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
        context_share=0.5,
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
