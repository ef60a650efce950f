"""Question cases with a known page: does the whole pipeline answer from it, decline what is not there, and warn?

A case's `history` holds earlier questions of its thread. They are asked first, through the same pipeline, so that a
follow-up stands on what Footnote itself answered before, not on a script.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from kb.answer import Answer
from kb.evaluation.case_files import read_json
from kb.models import Audience, Question, Turn
from kb.pipeline import Pipeline


class QuestionCase(BaseModel):
    """`must_contain`: lower-case strings, all of which the answer or its quotes have to hold. `warning`: about
    `expect_page`.

    A question that is expected to be "declined" may end with what is closest as well: that is said to be no
    answer. One that is a `near_miss` (the page treats the subject and does not say the thing) may also be met
    by quotes, which claim nothing: nothing that a search leaves behind tells a near miss from an answer
    (docs/confidence.md).
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    question: str
    language: str = "en"
    channel: str | None = None
    history: tuple[str, ...] = ()
    expect: Literal["answered", "declined"]
    expect_page: str | None = None
    must_contain: tuple[str, ...] = ()
    warning: Literal["outdated", "superseded"] | None = None
    near_miss: bool = False


class CaseFile(BaseModel):
    """`as_of`: the day on which the expected warnings hold; pages grow old."""

    model_config = ConfigDict(frozen=True)

    cases: tuple[QuestionCase, ...]
    as_of: date | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseResult:
    """`problems` is empty for a case that passed; each says what was expected and what came."""

    case: QuestionCase
    answer: Answer
    problems: tuple[str, ...]


def read_cases(file: Path) -> CaseFile:
    """Reads `{"as_of": "2026-11-27", "cases": [...]}`.

    Raises:
        SettingsError: the file cannot be read or has another form.
    """
    return read_json(file, CaseFile, fault="is not a file of question cases")


async def run_cases(pipeline: Pipeline, cases: Sequence[QuestionCase]) -> AsyncIterator[CaseResult]:
    for case in cases:
        audience = Audience(channels=frozenset({case.channel} if case.channel else ()))
        turns: list[Turn] = []
        for number, text in enumerate(case.history):
            earlier = Question(id=f"{case.id}-{number}", text=text, audience=audience)
            turns.append(pipeline.turn(await pipeline.answer(earlier, turns)))
        answer = await pipeline.answer(Question(id=case.id, text=case.question, audience=audience), turns)
        yield CaseResult(case=case, answer=answer, problems=tuple(_problems(case, answer)))


def _problems(case: QuestionCase, answer: Answer) -> list[str]:
    claims_nothing = answer.outcome == "closest" or (case.near_miss and answer.mode == "extractive")
    ending = "declined" if claims_nothing and case.expect == "declined" else answer.outcome
    if ending != case.expect:
        return [f"expected {case.expect}, got {answer.outcome} (confidence {answer.confidence:.2f})"]
    if case.expect == "declined":
        return []
    problems = []
    shown = "\n".join((answer.text, *(block for quote in answer.quotes for block in quote.blocks))).lower()
    if missing := [part for part in case.must_contain if part not in shown]:
        problems.append(f"the answer lacks {missing}")
    cited = {citation.chunk.page.path for citation in answer.citations}
    if case.expect_page and case.expect_page not in cited:
        problems.append(f"cites {sorted(cited)}, not {case.expect_page}")
    warned = {warning.page.path: warning.kind for warning in answer.warnings}
    if case.expect_page in cited and warned.get(case.expect_page or "") != case.warning:
        problems.append(f"warning {warned.get(case.expect_page or '')}, expected {case.warning}")
    return problems
