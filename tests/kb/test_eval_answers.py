from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kb.answer import Answer, Citation, Sentence, Trace
from kb.errors import SettingsError, UnavailableError
from kb.evaluation.answer_sets import (
    AnswerCase,
    Message,
    problems_of,
    read_answer_set,
    run_answer_case,
    tallies,
    turns_of,
)
from kb.models import Chunk, Outcome, Page, Question, Rewrite, Turn


def an_answer(
    text: str = "It costs 45 euros.", *, path: str = "shop/mulch.md", outcome: Outcome = "answered"
) -> Answer:
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
        trace=Trace(rewrite=Rewrite(query="q")),
    )


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
        ({"keywords": ["45 EUROS"], "category": "shop"}, an_answer(), set()),
        ({"keywords": [["60 euros", "45 euros"]]}, an_answer(), set()),
        ({"keywords": ["45 euros", "delivery"]}, an_answer(), {"keywords"}),
        ({"category": "people"}, an_answer(), {"category"}),
        ({"category": "sho"}, an_answer(), {"category"}),
        ({"keywords": ["x"], "category": "people"}, an_answer(), {"keywords", "category"}),
        ({"keywords": ["45 euros"]}, an_answer(outcome="declined"), {"unknown"}),
        ({"expect_unknown": True}, an_answer(outcome="declined"), set()),
        ({"expect_unknown": True}, an_answer(outcome="unclear"), set()),
        ({"expect_unknown": True}, an_answer(), {"unknown"}),
    ],
)
def test_a_case_says_what_its_answer_lacks(expected: dict[str, Any], answer: Answer, failed: set[str]):
    assert problems_of(a_case(**expected), answer).keys() == failed


async def test_a_question_is_asked_behind_its_history_and_in_its_channel():
    history = [
        {"role": "assistant", "content": "Welcome!"},
        {"role": "user", "content": "What is mulch?"},
        {"role": "assistant", "content": "Ground wood."},
        {"role": "assistant", "content": "For gardens."},
        {"role": "user", "content": "Thanks"},
    ]
    pipeline = Scripted(an_answer())
    await run_answer_case(pipeline, a_case(chat_history=history, channel="#shop"))  # type: ignore[arg-type]
    ((question, turns),) = pipeline.asked
    assert question.text == "and the price?"
    assert question.audience.channels == {"#shop"}
    assert [(turn.question, turn.answer, turn.retrieved) for turn in turns] == [
        ("What is mulch?", "Ground wood.\nFor gardens.", ()),
        ("Thanks", "", ()),
    ]


async def test_an_outage_is_no_result():
    with pytest.raises(UnavailableError):
        await run_answer_case(Scripted(an_answer(outcome="unavailable")), a_case())  # type: ignore[arg-type]


async def test_results_are_counted_by_category():
    passing, failing = Scripted(an_answer()), Scripted(an_answer("Nothing."))
    results = [
        await run_answer_case(passing, a_case(category="shop")),  # type: ignore[arg-type]
        await run_answer_case(failing, a_case(category="shop", keywords=["45"])),  # type: ignore[arg-type]
        await run_answer_case(passing, a_case(expect_unknown=True)),  # type: ignore[arg-type]
        await run_answer_case(passing, a_case()),  # type: ignore[arg-type]
    ]
    told = {name: (one.cases, one.passed, one.failed) for name, one in tallies(results).items()}
    assert told == {
        "any": (1, 1, {"keywords": 0, "category": 0, "unknown": 0}),
        "shop": (2, 1, {"keywords": 1, "category": 0, "unknown": 0}),
        "unknown": (1, 0, {"keywords": 0, "category": 0, "unknown": 1}),
        "all": (4, 2, {"keywords": 1, "category": 0, "unknown": 1}),
    }


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
    assert turns_of([Message(role="assistant", content="Hello")]) == []
