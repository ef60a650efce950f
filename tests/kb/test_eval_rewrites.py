from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from kb.errors import SettingsError
from kb.evaluation.datasets import Conversation, LabelledTurn
from kb.evaluation.rewrites import (
    GoldRewrite,
    RewriteCase,
    read_rewrite_cases,
    rewrite_figures,
    run_gold_rewrites,
    run_rewrite_case,
)
from kb.models import Rewrite, Turn
from kb.rewriting.heuristic import HeuristicRewriter
from kb.rewriting.rewriter import RewriteChoice

ROOT = Path(__file__).resolve().parents[2]


class Scripted:
    """Answers each question with its rewrite and remembers the threads."""

    def __init__(self, rewrites: Mapping[str, Rewrite]) -> None:
        self.threads: list[list[Turn]] = []
        self._rewrites = rewrites

    async def rewrite(
        self, question: str, turns: Sequence[Turn], *, language: str, pages_language: str = ""
    ) -> Rewrite:
        self.threads.append(list(turns))
        return self._rewrites.get(question, Rewrite(query=question))


def a_case(**fields: object) -> RewriteCase:
    case = {
        "id": "price",
        "history": [["user", "What is mulch?"], ["assistant", "Ground wood."]],
        "question": "and the price?",
        "must_contain": [["price", "cost"], ["mulch"]],
        "must_not_contain": ["prijs"],
        "follow_up": True,
    }
    return RewriteCase.model_validate_json(json.dumps(case | fields))


def rewritten(query: str, *, follow_up: bool = True) -> Rewrite:
    return Rewrite(query=query, needs_rewrite=True, is_follow_up=follow_up)


def a_gold(question: str, gold: str, rewrite: Rewrite, milliseconds: float = 1.0) -> GoldRewrite:
    return GoldRewrite(id="c:2", question=question, gold=gold, rewrite=rewrite, milliseconds=milliseconds)


@pytest.mark.parametrize(
    ("rewrite", "problems"),
    [
        (rewritten("What does Mulch cost?"), ()),
        (rewritten("the price"), ("the query lacks ['mulch']",)),
        (rewritten("mulch"), ("the query lacks ['price or cost']",)),
        (rewritten("mulch price prijs"), ("the query holds ['prijs']",)),
        (rewritten("mulch price", follow_up=False), ("taken for no follow-up",)),
    ],
)
async def test_a_case_says_what_its_rewrite_lacks(rewrite: Rewrite, problems: tuple[str, ...]):
    rewriter = Scripted({"and the price?": rewrite})
    result = await run_rewrite_case(rewriter, a_case())
    assert result.problems == problems
    assert rewriter.threads == [[Turn(question="What is mulch?", answer="Ground wood.")]]


async def test_a_question_that_stands_alone_must_not_be_touched():
    case = a_case(must_contain=[], unchanged=True, follow_up=False)
    touched = await run_rewrite_case(Scripted({case.question: rewritten("x", follow_up=False)}), case)
    assert touched.problems == ("the question stands alone and was changed",)
    assert (await run_rewrite_case(Scripted({}), case)).problems == ()


async def test_the_rules_pass_the_cases_of_earlier_systems():
    cases = read_rewrite_cases(ROOT / "tests/golden/rewrite_cases.json").cases
    results = [await run_rewrite_case(RewriteChoice(HeuristicRewriter()), case) for case in cases]
    assert len(results) == 20
    assert {one.case.id: one.problems for one in results if one.problems} == {}


def test_a_file_of_another_form_is_refused(tmp_path: Path):
    file = tmp_path / "cases.json"
    file.write_text('{"cases": [{"id": "x"}]}')
    with pytest.raises(SettingsError, match="not a file of rewrite cases"):
        read_rewrite_cases(file)


async def test_turns_with_a_history_are_rewritten_in_the_thread_of_those_before():
    rewriter = Scripted({"and the price?": rewritten("the price of mulch")})
    turns = [
        LabelledTurn(number=at, question=question, answer=f"A{at}.", gold_rewrite=question)
        for at, question in enumerate(["What is mulch?", "and the price?", "And bark?"], start=1)
    ]
    results = await run_gold_rewrites(rewriter, Conversation(id="c", turns=tuple(turns)))
    assert [one.id for one in results] == ["c:2", "c:3"]
    assert [(turn.question, turn.answer, turn.rewritten) for turn in rewriter.threads[2]] == [
        ("What is mulch?", "A1.", None),
        ("and the price?", "A2.", "the price of mulch"),
    ]


def test_figures_are_those_computed_by_hand():
    figures = rewrite_figures(
        [
            a_gold("and the price?", "the price of mulch", rewritten("The price of mulch?"), 1.0),
            a_gold("and bark?", "the price of bark", Rewrite(query="and bark?"), 2.0),
            a_gold("What is bark?", "what is bark", Rewrite(query="What is bark?"), 3.0),
            a_gold("What is soil?", "What is soil?", rewritten("What is soil mulch?"), 9.0),
        ]
    )
    assert (figures.follow_ups, figures.noticed) == (2, 0.5)
    assert (figures.standalone, figures.left_alone) == (2, 0.5)
    assert figures.exact == 0.5
    assert figures.rouge_l == pytest.approx((1.0 + 2 / 6) / 2)
    assert figures.rouge_l_asked == pytest.approx((4 / 7 + 2 / 6) / 2)
    assert (figures.p50_ms, figures.p95_ms) == (3.0, 9.0)


@pytest.mark.parametrize(
    ("rewrite", "noticed"),
    [
        (rewritten("the price of mulch"), True),
        (Rewrite(query="q", clarify=True), True),
        (Rewrite(query="q", is_follow_up=True, confidence=0.3), True),
        (Rewrite(query="q", is_follow_up=True), False),
        (Rewrite(query="q"), False),
    ],
)
def test_a_follow_up_is_noticed_when_it_would_be_rewritten_or_given_to_a_model(
    rewrite: Rewrite, noticed: bool
):
    assert a_gold("q", "gold", rewrite).noticed == noticed


def test_nothing_to_measure_has_no_shares():
    figures = rewrite_figures([])
    assert (figures.follow_ups, figures.noticed, figures.left_alone, figures.rouge_l) == (0, None, None, None)
