"""Rewrites alone, without search: does a rewriter notice follow-ups, leave the rest alone, and say what is meant?

Two kinds of cases: hand-made ones with words that the query must carry (`{"cases": [...]}`), and conversations with a
gold rewrite a turn (`conversations.jsonl`), measured by ROUGE-L and exact match.

Follow-ups that nobody rewrote are few and often only look standalone. Two kinds of questions are so by construction:

    spelled out    a follow-up's gold rewrite, asked in the follow-up's own thread: the same topic, every word said
    openings       the first question of a conversation, asked at the end of the one before it: a new topic
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from kb.conversation.messages import ChatMessage, turns_of
from kb.evaluation.case_files import read_json
from kb.evaluation.datasets import Conversation, LabelledTurn
from kb.evaluation.metrics import rouge_l
from kb.evaluation.slices import same_words
from kb.models import Rewrite, Turn
from kb.rewriting.rewriter import Rewriter
from kb.text.language import detect

Kind = Literal["spelled out", "openings"]


class RewriteCase(BaseModel):
    """`must_contain`: lower-case parts of the query, each inner tuple any one of them. `history`: role and text.

    `unchanged`: the question stands alone and is searched as it is. `follow_up`: it continues the answer before.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    language: str = "en"
    history: tuple[tuple[Literal["user", "assistant"], str], ...] = ()
    question: str
    must_contain: tuple[tuple[str, ...], ...] = ()
    must_not_contain: tuple[str, ...] = ()
    unchanged: bool = False
    follow_up: bool | None = None


class RewriteCases(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    cases: tuple[RewriteCase, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseRewrite:
    """`problems` is empty for a case that passed."""

    case: RewriteCase
    rewrite: Rewrite
    problems: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldRewrite:
    """A later turn of a conversation beside its gold rewrite. `milliseconds` is the rewriter's time."""

    id: str
    question: str
    gold: str
    rewrite: Rewrite
    milliseconds: float

    @property
    def follow_up(self) -> bool:
        """Whether the gold rewrite has other words than the question."""
        return same_words(self.question) != same_words(self.gold)

    @property
    def noticed(self) -> bool:
        """Whether the rewriter took it for one: rewrote it, asked back, or saw that it leans on the thread unsurely."""
        unsure = self.rewrite.is_follow_up and self.rewrite.confidence < 1.0
        return self.rewrite.needs_rewrite or self.rewrite.clarify or unsure

    @property
    def exact(self) -> bool:
        return same_words(self.rewrite.query) == same_words(self.gold)


@dataclass(frozen=True, kw_only=True, slots=True)
class Standalone:
    """A question that stands alone, and the thread it is asked in. `thread`: the turns before it, oldest first."""

    id: str
    kind: Kind
    question: str
    thread: tuple[LabelledTurn, ...]


class RewriteFigures(BaseModel):
    """Shares are 0..1, None where there is nothing to take a share of. `*_asked`: of the question left as it is."""

    model_config = ConfigDict(frozen=True)

    follow_ups: int
    noticed: float | None
    standalone: int
    left_alone: float | None
    rouge_l: float | None
    rouge_l_asked: float | None
    exact: float | None
    p50_ms: float
    p95_ms: float


def read_rewrite_cases(file: Path) -> RewriteCases:
    """
    Raises:
        SettingsError: the file cannot be read or has another form.
    """
    return read_json(file, RewriteCases, fault="is not a file of rewrite cases")


async def run_rewrite_case(rewriter: Rewriter, case: RewriteCase) -> CaseRewrite:
    turns = turns_of([ChatMessage(role=role, content=text) for role, text in case.history])
    rewrite = await rewriter.rewrite(case.question, turns, language=case.language)
    return CaseRewrite(case=case, rewrite=rewrite, problems=tuple(_problems(case, rewrite)))


async def run_gold_rewrites(rewriter: Rewriter, conversation: Conversation) -> list[GoldRewrite]:
    """Rewrites every turn that has a history, each after the turns before as they stand in the data set.

    What a turn before was rewritten to is remembered, as in a real thread.
    """
    turns: list[Turn] = []
    results = []
    for labelled in conversation.turns:
        started = time.perf_counter()
        rewrite = await _rewrite(rewriter, labelled.question, turns)
        milliseconds = (time.perf_counter() - started) * 1000
        if turns:
            results.append(
                GoldRewrite(
                    id=f"{conversation.id}:{labelled.number}",
                    question=labelled.question,
                    gold=labelled.gold_rewrite,
                    rewrite=rewrite,
                    milliseconds=milliseconds,
                )
            )
        turns.append(_turn(labelled, rewrite))
    return results


def standalone_questions(conversations: Sequence[Conversation]) -> Iterator[Standalone]:
    for conversation in conversations:
        for number, turn in enumerate(conversation.turns):
            if number and same_words(turn.question) != same_words(turn.gold_rewrite):
                yield Standalone(
                    id=f"{conversation.id}:{turn.number}",
                    kind="spelled out",
                    question=turn.gold_rewrite,
                    thread=conversation.turns[:number],
                )
    for before, after in pairwise(conversations):
        yield Standalone(
            id=f"{before.id}+{after.id}",
            kind="openings",
            question=after.turns[0].question,
            thread=before.turns,
        )


async def run_standalone(rewriter: Rewriter, case: Standalone) -> GoldRewrite:
    """Rewrites the question after the thread's earlier ones, as in a real thread."""
    turns: list[Turn] = []
    for labelled in case.thread:
        turns.append(_turn(labelled, await _rewrite(rewriter, labelled.question, turns)))
    rewrite = await _rewrite(rewriter, case.question, turns)
    return GoldRewrite(
        id=case.id, question=case.question, gold=case.question, rewrite=rewrite, milliseconds=0.0
    )


async def _rewrite(rewriter: Rewriter, question: str, turns: Sequence[Turn]) -> Rewrite:
    language = detect(question, hint=detect(turns[-1].question) if turns else None)
    return await rewriter.rewrite(question, turns, language=language)


def _turn(labelled: LabelledTurn, rewrite: Rewrite) -> Turn:
    rewritten = rewrite.query if rewrite.needs_rewrite else None
    return Turn(
        question=labelled.question, answer=labelled.answer, rewritten=rewritten, topics=rewrite.topics
    )


def rewrite_figures(results: Sequence[GoldRewrite]) -> RewriteFigures:
    """Sums up. ROUGE-L and exact match are over the follow-ups alone: a standalone question is its own gold."""
    follow_ups = [result for result in results if result.follow_up]
    standalone = [result for result in results if not result.follow_up]
    times = sorted(result.milliseconds for result in results) or [0.0]
    return RewriteFigures(
        follow_ups=len(follow_ups),
        noticed=_mean([result.noticed for result in follow_ups]),
        standalone=len(standalone),
        left_alone=_mean([not result.noticed for result in standalone]),
        rouge_l=_mean([_rouge_l(result.rewrite.query, result.gold) for result in follow_ups]),
        rouge_l_asked=_mean([_rouge_l(result.question, result.gold) for result in follow_ups]),
        exact=_mean([result.exact for result in follow_ups]),
        p50_ms=round(times[len(times) // 2], 2),
        p95_ms=round(times[int(len(times) * 0.95)], 2),
    )


def standalone_figures(
    cases: Sequence[Standalone], results: Sequence[GoldRewrite]
) -> dict[str, float | int | None]:
    """Returns of each kind its count and the share that was left alone, None where there are none.

    `results` are in the order of `cases`.
    """
    figures: dict[str, float | int | None] = {}
    for kind in get_args(Kind):
        alone = [not result.noticed for case, result in zip(cases, results, strict=True) if case.kind == kind]
        name = kind.replace(" ", "_")
        figures |= {name: len(alone), f"{name}_left_alone": _mean(alone)}
    return figures


def _problems(case: RewriteCase, rewrite: Rewrite) -> list[str]:
    query = rewrite.query.lower()
    problems = []
    if missing := [any_of for any_of in case.must_contain if not any(part in query for part in any_of)]:
        problems.append(f"the query lacks {[' or '.join(any_of) for any_of in missing]}")
    if present := [part for part in case.must_not_contain if part in query]:
        problems.append(f"the query holds {present}")
    if case.unchanged and (rewrite.needs_rewrite or rewrite.query != case.question):
        problems.append("the question stands alone and was changed")
    if case.follow_up is not None and rewrite.is_follow_up != case.follow_up:
        problems.append(f"taken for {'a' if rewrite.is_follow_up else 'no'} follow-up")
    return problems


def _rouge_l(query: str, gold: str) -> float:
    return rouge_l(same_words(query).split(), same_words(gold).split())


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
