"""Rewrites alone, without search: does a rewriter notice follow-ups, leave the rest alone, and say what is meant?

Two kinds of cases: hand-made ones with words that the query must carry (`{"cases": [...]}`), and conversations with a
gold rewrite a turn (`conversations.jsonl`), measured by ROUGE-L and exact match.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from kb.errors import SettingsError
from kb.evaluation.datasets import Conversation
from kb.evaluation.metrics import rouge_l
from kb.evaluation.slices import same_words
from kb.models import Rewrite, Turn
from kb.rewriting.rewriter import Rewriter
from kb.text.language import detect


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
    try:
        return RewriteCases.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise SettingsError(f"{file} is not a file of rewrite cases: {error}") from error


async def run_rewrite_case(rewriter: Rewriter, case: RewriteCase) -> CaseRewrite:
    turns = _turns_of(case.history)
    rewrite = await rewriter.rewrite(case.question, turns, language=case.language)
    return CaseRewrite(case=case, rewrite=rewrite, problems=tuple(_problems(case, rewrite)))


async def run_gold_rewrites(rewriter: Rewriter, conversation: Conversation) -> list[GoldRewrite]:
    """Every turn that has a history, each after the turns before as they stand in the data set.

    What a turn before was rewritten to is remembered, as in a real thread.
    """
    turns: list[Turn] = []
    results = []
    for labelled in conversation.turns:
        hint = detect(turns[-1].question) if turns else None
        language = detect(labelled.question, hint=hint)
        started = time.perf_counter()
        rewrite = await rewriter.rewrite(labelled.question, turns, language=language)
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
        rewritten = rewrite.query if rewrite.needs_rewrite else None
        turns.append(
            Turn(question=labelled.question, answer=labelled.answer, rewritten=rewritten, topics=rewrite.topics)
        )  # fmt: skip
    return results


def rewrite_figures(results: Sequence[GoldRewrite]) -> RewriteFigures:
    """ROUGE-L and exact match are over the follow-ups alone: a standalone question is its own gold."""
    follow_ups = [one for one in results if one.follow_up]
    standalone = [one for one in results if not one.follow_up]
    times = sorted(one.milliseconds for one in results) or [0.0]
    return RewriteFigures(
        follow_ups=len(follow_ups),
        noticed=_mean([one.noticed for one in follow_ups]),
        standalone=len(standalone),
        left_alone=_mean([not one.noticed for one in standalone]),
        rouge_l=_mean([rouge_l(_words(one.rewrite.query), _words(one.gold)) for one in follow_ups]),
        rouge_l_asked=_mean([rouge_l(_words(one.question), _words(one.gold)) for one in follow_ups]),
        exact=_mean([one.exact for one in follow_ups]),
        p50_ms=round(times[len(times) // 2], 2),
        p95_ms=round(times[int(len(times) * 0.95)], 2),
    )


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


def _turns_of(history: Sequence[tuple[str, str]]) -> list[Turn]:
    """An answer belongs to the question before it; a question without one has an empty answer."""
    turns: list[Turn] = []
    for role, text in history:
        if role == "user":
            turns.append(Turn(question=text, answer=""))
        elif turns:
            turns[-1] = Turn(question=turns[-1].question, answer=text)
    return turns


def _words(text: str) -> list[str]:
    return same_words(text).split()


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
