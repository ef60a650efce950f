"""Questions that are known to stand alone, asked late in a thread: how many does a rewriter leave alone?

Follow-ups that nobody rewrote are few and often only look standalone. Two kinds are standalone by construction:

    spelled out    a follow-up's gold rewrite, asked in the follow-up's own thread: the same topic, every word said
    openings       the first question of a conversation, asked at the end of the one before it: a new topic
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

from kb.evaluation.datasets import Conversation, LabelledTurn
from kb.evaluation.rewrites import GoldRewrite
from kb.evaluation.slices import same_words
from kb.models import Turn
from kb.rewriting.rewriter import Rewriter
from kb.text.language import detect

Kind = Literal["spelled out", "openings"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Standalone:
    """`thread` are the turns before the question, oldest first."""

    id: str
    kind: Kind
    question: str
    thread: tuple[LabelledTurn, ...]


def standalone_questions(conversations: Sequence[Conversation]) -> Iterator[Standalone]:
    for conversation in conversations:
        for at, turn in enumerate(conversation.turns):
            if at and same_words(turn.question) != same_words(turn.gold_rewrite):
                yield Standalone(
                    id=f"{conversation.id}:{turn.number}",
                    kind="spelled out",
                    question=turn.gold_rewrite,
                    thread=conversation.turns[:at],
                )
    for before, after in pairwise(conversations):
        yield Standalone(
            id=f"{before.id}+{after.id}",
            kind="openings",
            question=after.turns[0].question,
            thread=before.turns,
        )


async def run_standalone(rewriter: Rewriter, case: Standalone) -> GoldRewrite:
    """The thread's earlier questions are rewritten first, as in a real thread."""
    turns: list[Turn] = []
    for labelled in case.thread:
        rewrite = await rewriter.rewrite(
            labelled.question, turns, language=_language(labelled.question, turns)
        )
        rewritten = rewrite.query if rewrite.needs_rewrite else None
        turns.append(
            Turn(question=labelled.question, answer=labelled.answer, rewritten=rewritten, topics=rewrite.topics)
        )  # fmt: skip
    rewrite = await rewriter.rewrite(case.question, turns, language=_language(case.question, turns))
    return GoldRewrite(
        id=case.id, question=case.question, gold=case.question, rewrite=rewrite, milliseconds=0.0
    )


def standalone_figures(
    cases: Sequence[Standalone], results: Sequence[GoldRewrite]
) -> dict[str, float | int | None]:
    """A kind's count and the share that was left alone; None where there are none. In the order of `cases`."""
    figures: dict[str, float | int | None] = {}
    for kind in get_args(Kind):
        of_kind = [result for case, result in zip(cases, results, strict=True) if case.kind == kind]
        name = kind.replace(" ", "_")
        figures[name] = len(of_kind)
        alone = sum(not result.noticed for result in of_kind)
        figures[f"{name}_left_alone"] = alone / len(of_kind) if of_kind else None
    return figures


def _language(question: str, turns: Sequence[Turn]) -> str:
    return detect(question, hint=detect(turns[-1].question) if turns else None)
