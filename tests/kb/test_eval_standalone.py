from collections.abc import Sequence

from kb.evaluation.datasets import Conversation, LabelledTurn
from kb.evaluation.rewrites import run_standalone, standalone_figures, standalone_questions
from kb.models import Rewrite, Turn


def a_talk(name: str, *turns: tuple[str, str]) -> Conversation:
    labelled = [
        LabelledTurn(number=at, question=question, answer=f"A{at}.", gold_rewrite=gold)
        for at, (question, gold) in enumerate(turns, start=1)
    ]
    return Conversation(id=name, turns=tuple(labelled))


TALKS = [
    a_talk("a", ("What is mulch?", "What is mulch?"), ("Its price?", "The price of mulch?")),
    a_talk("b", ("What is soil?", "What is soil?"), ("what is SOIL", "What is soil?")),
]


class TakesOneForAFollowUp:
    def __init__(self, question: str) -> None:
        self.threads: dict[str, list[str]] = {}
        self._question = question

    async def rewrite(
        self, question: str, turns: Sequence[Turn], *, language: str, pages_language: str = ""
    ) -> Rewrite:
        self.threads[question] = [turn.question for turn in turns]
        return Rewrite(query=f"{question} (mulch)", needs_rewrite=question == self._question)


def test_gold_rewrites_and_first_questions_stand_alone():
    found = [(case.kind, case.question, len(case.thread)) for case in standalone_questions(TALKS)]
    assert found == [("spelled out", "The price of mulch?", 1), ("openings", "What is soil?", 2)]


async def test_each_is_asked_at_the_end_of_its_thread_and_counted_by_kind():
    rewriter = TakesOneForAFollowUp("What is soil?")
    cases = list(standalone_questions(TALKS))
    results = [await run_standalone(rewriter, case) for case in cases]
    assert rewriter.threads["The price of mulch?"] == ["What is mulch?"]
    assert rewriter.threads["What is soil?"] == ["What is mulch?", "Its price?"]
    assert standalone_figures(cases, results) == {
        "spelled_out": 1,
        "spelled_out_left_alone": 1.0,
        "openings": 1,
        "openings_left_alone": 0.0,
    }


def test_no_questions_have_no_share():
    assert standalone_figures([], [])["openings_left_alone"] is None
