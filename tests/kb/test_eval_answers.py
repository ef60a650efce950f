from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kb.answer import Answer, Citation, Quote, Sentence, Trace
from kb.conversation.messages import ChatMessage, turns_of
from kb.errors import SettingsError, UnavailableError
from kb.evaluation.answer_sets import (
    AnswerCase,
    AnswerSet,
    read_answer_set,
    run_answer_case,
)
from kb.evaluation.answer_tallies import tallies
from kb.evaluation.shown_facts import facts_found, facts_shown
from kb.evaluation.translations import Translations, read_translations, translated
from kb.models import Chunk, Hit, Outcome, Page, Question, Rewrite, Scores, Turn


def an_answer(
    text: str = "It costs 45 euros.",
    *,
    path: str = "shop/mulch.md",
    outcome: Outcome = "answered",
    left_open: str = "",
    found: Sequence[Hit] = (),
) -> Answer:
    """Written; one that is "closest" or declined quotes its text instead."""
    page = Page(id="p", source="handbook", path=path, title="Mulch", url="https://kb/mulch")
    chunk = Chunk(id="p#0", page=page, position=0, text=text, url=page.url)
    cited = (Citation(n=1, chunk=chunk, quote=text, score=0.8, freshness="current"),)
    return Answer(
        question="q",
        outcome=outcome,
        mode="extractive",
        language="en",
        sentences=(Sentence(text=text, citations=(1,)),) if outcome == "answered" else (),
        citations=cited if outcome == "answered" else (),
        quotes=(Quote(citation=cited[0], blocks=(text,)),) if outcome in ("closest", "declined") else (),
        left_open=left_open,
        trace=Trace(rewrite=Rewrite(query="q"), hits=tuple(found)),
    )


def a_hit(text: str, *, title: str = "Mulch") -> Hit:
    page = Page(id="p", source="handbook", path="shop/mulch.md", title=title, url="https://kb/mulch")
    return Hit(chunk=Chunk(id="p#0", page=page, position=0, text=text, url=page.url), scores=Scores())


def a_case(**fields: Any) -> AnswerCase:
    return AnswerCase.model_validate({"id": "c", "question": "and the price?", **fields})


class Scripted:
    def __init__(self, answer: Answer) -> None:
        self.answered = answer
        self.asked: list[tuple[Question, list[Turn]]] = []

    async def answer(self, question: Question, turns: Sequence[Turn] = ()) -> Answer:
        self.asked.append((question, list(turns)))
        return self.answered


@pytest.mark.parametrize(
    ("expected", "answer", "failed"),
    [
        ({"keywords": ["45 EUROS"], "page": "shop/"}, an_answer(), set()),
        ({"page": "shop/mulch.md", "category": "follow-up"}, an_answer(), set()),
        ({"expected_answer_keywords": [["60 euros", "45 euros"]]}, an_answer(), set()),
        ({"keywords": ["45 euros", "delivery"]}, an_answer(), {"keywords"}),
        ({"page": "people/"}, an_answer(), {"page"}),
        ({"page": "sho"}, an_answer(), {"page"}),
        ({"page": "shop/mulch"}, an_answer(), {"page"}),
        ({"keywords": ["x"], "page": "people/"}, an_answer(), {"keywords", "page"}),
        ({"keywords": ["45 euros"]}, an_answer(outcome="declined"), {"unknown"}),
        ({"keywords": ["45 euros"]}, an_answer(outcome="unclear"), {"unknown"}),
        ({"keywords": ["45 euros"], "page": "shop/"}, an_answer(outcome="closest"), set()),
        ({"keywords": ["60 euros"]}, an_answer(outcome="closest"), {"keywords"}),
        ({"expect_unknown": True}, an_answer(outcome="declined"), set()),
        ({"expect_unknown": True, "page": "shop/", "kb": "x"}, an_answer(outcome="closest"), set()),
        ({"expect_unknown": True}, an_answer(outcome="unclear"), set()),
        ({"expect_unknown": True}, an_answer(left_open="what delivery costs"), set()),
        ({"expect_unknown": True}, an_answer(), {"unknown"}),
    ],
)
async def test_a_case_says_what_its_answer_lacks(expected: dict[str, Any], answer: Answer, failed: set[str]):
    result = await run_answer_case(Scripted(answer), a_case(**expected))
    assert result.problems.keys() == failed


@pytest.mark.parametrize(
    ("text", "fact", "shown"),
    [
        ("It is **25 days** a\n year.", "25 Days a year", True),
        ("Ask the _Ops team_, don\u2019t wait.", "ops team, don't wait", True),
        ("Set `max_age_days` to 5.", "max_age_days", True),
        ("It costs \\$2,000.", "$2,000", True),
        ("It is 25 days.", "26 days", False),
    ],
)
def test_a_fact_is_seen_whatever_its_emphasis(text: str, fact: str, shown: bool):
    assert facts_shown(an_answer(text), [[fact]]) == (shown,)


def test_what_an_answer_leaves_open_is_no_fact_that_it_shows():
    assert facts_shown(an_answer(left_open="who delivers"), [["45 euros"], ["delivers"]]) == (True, False)


def test_what_is_quoted_is_seen():
    assert facts_shown(an_answer(outcome="closest"), [["45 euros"]]) == (True,)


def test_a_fact_is_found_in_the_best_passage_that_holds_it_as_a_model_reads_it():
    hits = [
        a_hit("Ground **wood**."),
        a_hit("It costs 45 euros.", title="Prices"),
        a_hit("45 euros, delivered."),
    ]
    facts = [
        ["60 euros", "45 Euros"],
        ["prices"],
        ["ground wood"],
        ["delivered"],
        ["wood. prices"],
        ["by boat"],
    ]
    assert facts_found(hits, facts) == (2, 2, 1, 3, None, None)
    assert facts_found([], [["45 euros"]]) == (None,)


async def test_a_question_is_asked_behind_its_history_and_in_its_channel():
    history = [
        {"role": "assistant", "content": "Welcome!"},
        {"role": "user", "content": "What is mulch?"},
        {"role": "assistant", "content": "Ground wood."},
        {"role": "assistant", "content": "For gardens."},
        {"role": "user", "content": "Thanks"},
    ]
    pipeline = Scripted(an_answer())
    await run_answer_case(pipeline, a_case(chat_history=history, channel="#shop"))
    ((question, turns),) = pipeline.asked
    assert question.text == "and the price?"
    assert question.audience.channels == {"#shop"}
    assert [(turn.question, turn.answer, turn.retrieved) for turn in turns] == [
        ("What is mulch?", "Ground wood.\nFor gardens.", ()),
        ("Thanks", "", ()),
    ]


async def test_an_outage_is_no_result():
    with pytest.raises(UnavailableError):
        await run_answer_case(Scripted(an_answer(outcome="unavailable")), a_case())


async def test_results_are_counted_by_category():
    async def ran(answer: Answer, **case: Any):
        return await run_answer_case(Scripted(answer), a_case(**case))

    results = [
        await ran(an_answer(), category="shop"),
        await ran(an_answer("Nothing."), category="shop", keywords=["45", "Nothing"]),
        await ran(an_answer(), expect_unknown=True),
        await ran(an_answer(outcome="closest"), keywords=["45"]),
        await ran(an_answer(left_open="the rest"), expect_unknown=True, category="near miss"),
    ]
    told = tallies(results, [a_case(category="shop"), a_case(category="new")])

    assert {name: (one.cases, one.passed, one.pending) for name, one in told.items()} == {
        "any": (1, 1, 0),
        "near miss": (1, 1, 0),
        "new": (0, 0, 1),
        "shop": (2, 1, 1),
        "unknown": (1, 0, 0),
        "all": (5, 3, 2),
    }
    everything = told["all"]
    assert (everything.facts_shown, everything.facts) == (2, 3)
    assert everything.failed == {"keywords": 1, "page": 0, "unknown": 1}
    assert everything.endings == {"answered": 3, "partly": 1, "closest": 1, "declined": 0, "unclear": 0}


async def test_facts_that_were_found_are_counted_whatever_is_shown():
    found = [a_hit("25 days"), a_hit("31 March"), a_hit("45 euros")]
    keywords = ["25 days", "31 March", "45 euros", "60 euros"]
    told = tallies(
        [
            await run_answer_case(Scripted(an_answer(found=found)), a_case(keywords=keywords)),
            await run_answer_case(
                Scripted(an_answer(outcome="declined", found=found)), a_case(keywords=["25"])
            ),
            await run_answer_case(Scripted(an_answer(found=found)), a_case(expect_unknown=True)),
        ]
    )
    assert (told["all"].facts_shown, told["all"].facts_in_best, told["all"].facts) == (1, {2: 3, 16: 4}, 5)
    assert told["unknown"].facts_in_best == {2: 0, 16: 0}


def a_set() -> AnswerSet:
    return AnswerSet.model_validate(
        [
            {"id": "price", "question": "and the price?", "keywords": ["45"], "page": "shop/"},
            {"id": "prijs", "question": "en de prijs?"},
            {"id": "depth", "question": "how deep?"},
        ]
    )


TRANSLATED = Translations(
    {
        "price": {"nl": "en de prijs?", "de": "und der Preis?"},
        "prijs": {"en": "and the price?"},
        "other": {"fr": "x"},
    }
)


@pytest.mark.parametrize(
    ("language", "asked"),
    [
        ("de", {"price": "und der Preis?"}),
        ("en", {"price": "and the price?", "prijs": "and the price?"}),
    ],
)
def test_only_what_is_translated_is_asked_and_in_its_words(language: str, asked: dict[str, str]):
    cases = translated(a_set(), TRANSLATED, language).cases
    assert {case.id: case.question for case in cases} == asked
    assert (cases[0].keywords, cases[0].page) == ((("45",),), "shop/")


def test_a_language_or_a_set_without_translations_is_told():
    with pytest.raises(SettingsError, match="into 'fr'; there are: de, en, nl"):
        translated(a_set(), TRANSLATED, "fr")
    with pytest.raises(SettingsError, match="no case of the set has a translation"):
        translated(a_set(), Translations({"other": {"fr": "x"}}), "fr")


@pytest.mark.parametrize("text", ["", "[]", '{"price": "en de prijs?"}', '{"price": {"nl": ""}}'])
def test_a_file_of_translations_of_another_form_is_refused(tmp_path: Path, text: str):
    file = tmp_path / "translations.json"
    file.write_text(text)
    with pytest.raises(SettingsError, match="holds no translated questions"):
        read_translations(file)


def test_some_cases_of_a_set_can_be_chosen():
    cases = AnswerSet.model_validate([{"question": str(n), "category": "ab"[n % 2]} for n in range(6)])
    assert [case.question for case in cases.some(category="b", limit=2).cases] == ["1", "3"]
    assert len(cases.some().cases) == 6


def test_a_bare_list_is_a_set_and_cases_without_a_name_get_a_number(tmp_path: Path):
    file = tmp_path / "set.json"
    file.write_text(json.dumps([{"question": "a"}, {"question": "b", "id": "named"}]))
    assert [case.id for case in read_answer_set(file).cases] == ["case 1", "named"]


@pytest.mark.parametrize(
    "case",
    [
        {"question": ""},
        {"keywords": ["x"]},
        {"question": "a", "keyword": ["x"]},
        {"question": "a", "chat_history": [{"role": "system", "content": "x"}]},
        {"question": "a", "expect_unknown": True, "keywords": ["x"]},
    ],
)
def test_a_case_of_another_form_is_refused(tmp_path: Path, case: dict[str, Any]):
    file = tmp_path / "set.json"
    file.write_text(json.dumps({"cases": [case]}))
    with pytest.raises(SettingsError, match="is not an answer set"):
        read_answer_set(file)


def test_an_empty_history_has_no_turns():
    assert turns_of([]) == []
    assert turns_of([ChatMessage(role="assistant", content="Hello")]) == []
