"""Answer sets: a question, what was said before it, and what its answer has to hold.

    {"as_of": "2026-11-27", "cases": [
      {"id": "mulch-price", "question": "en de prijs?",
       "chat_history": [{"role": "user", "content": "Wat is houtmulch?"},
                        {"role": "assistant", "content": "Houtmulch is een bodembedekker."}],
       "keywords": ["45 euro", ["kuub", "kubieke meter"]], "category": "shop", "expect_unknown": false}]}

`keywords`: all of them stand in the answer, in any case; of an inner list any one. `category`: the folder, in its source,
of a page that is cited. `expect_unknown`: the pages do not tell, so the answer has to say so. `channel`: where it is
asked. Unlike the earlier questions of `kb.evaluation.questions` a `chat_history` is taken as it stands: nothing that it
says was retrieved, so nothing in it is an anchor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from kb.answer import Answer
from kb.errors import SettingsError, UnavailableError
from kb.models import Audience, Question, Turn
from kb.pipeline import Pipeline

Check = Literal["keywords", "category", "unknown"]
CHECKS: tuple[Check, ...] = ("keywords", "category", "unknown")


class Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Literal["user", "assistant"]
    content: str


class AnswerCase(BaseModel):
    """See the module."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = ""
    question: str = Field(min_length=1)
    chat_history: tuple[Message, ...] = ()
    keywords: tuple[tuple[str, ...], ...] = ()
    category: str | None = None
    expect_unknown: bool = False
    channel: str | None = None

    @field_validator("keywords", mode="before")
    @classmethod
    def _each_is_a_list_of_ways_to_say_it(cls, given: Any) -> Any:
        return [[one] if isinstance(one, str) else one for one in given] if isinstance(given, list) else given

    @model_validator(mode="after")
    def _nothing_is_expected_of_what_is_unknown(self) -> AnswerCase:
        if self.expect_unknown and (self.keywords or self.category):
            raise ValueError("a case that expects an unknown answer can have no keywords and no category")
        return self


class AnswerSet(BaseModel):
    """`as_of`: the day on which the answers hold."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    note: str = ""
    as_of: date | None = None
    cases: tuple[AnswerCase, ...]

    @model_validator(mode="before")
    @classmethod
    def _a_bare_list_holds_the_cases(cls, given: Any) -> Any:
        return {"cases": given} if isinstance(given, list) else given


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerResult:
    """`problems` by the check that found it; empty for a case that passed."""

    case: AnswerCase
    answer: Answer
    problems: dict[Check, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """Of one category, or of all: cases, how many passed, and how many failed each check."""

    cases: int
    passed: int
    failed: dict[Check, int]


def read_answer_set(file: Path) -> AnswerSet:
    """
    Raises:
        SettingsError: the file cannot be read or has another form; the message says where.
    """
    try:
        answers = AnswerSet.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise SettingsError(f"{file} is not an answer set: {error}") from error
    named = [
        case if case.id else case.model_copy(update={"id": f"case {number}"})
        for number, case in enumerate(answers.cases, 1)
    ]
    return answers.model_copy(update={"cases": tuple(named)})


async def run_answer_case(pipeline: Pipeline, case: AnswerCase) -> AnswerResult:
    """
    Raises:
        UnavailableError: the index or a model does not answer; an outage says nothing about a case.
    """
    audience = Audience(channels=frozenset({case.channel} if case.channel else ()))
    question = Question(id=case.id, text=case.question, audience=audience)
    answer = await pipeline.answer(question, turns_of(case.chat_history))
    if answer.outcome == "unavailable":
        raise UnavailableError("a question could not be answered: the index or the embedder is down")
    return AnswerResult(case=case, answer=answer, problems=problems_of(case, answer))


def turns_of(history: Sequence[Message]) -> list[Turn]:
    """An answer belongs to the question before it; what stands before the first question is nobody's answer."""
    turns: list[Turn] = []
    for message in history:
        if message.role == "user":
            turns.append(Turn(question=message.content, answer=""))
        elif turns:
            said = "\n".join(filter(None, (turns[-1].answer, message.content)))
            turns[-1] = Turn(question=turns[-1].question, answer=said)
    return turns


def problems_of(case: AnswerCase, answer: Answer) -> dict[Check, str]:
    """What an answer lacks, by check. Of an answer that should not or does not exist only that is told."""
    unknown = answer.outcome in ("declined", "unclear")
    if unknown != case.expect_unknown:
        told = f"{answer.outcome} with confidence {answer.confidence:.2f}"
        return {"unknown": f"expected {'no answer' if case.expect_unknown else 'an answer'}, got {told}"}
    if unknown:
        return {}
    problems: dict[Check, str] = {}
    said = answer.text.casefold()
    missing = [ways for ways in case.keywords if not any(way.casefold() in said for way in ways)]
    if missing:
        problems["keywords"] = f"the answer lacks {[' or '.join(ways) for ways in missing]}"
    cited = sorted({citation.chunk.page.path for citation in answer.citations})
    if case.category and not any(path.startswith(f"{case.category}/") for path in cited):
        problems["category"] = f"cites {cited}, nothing of {case.category!r}"
    return problems


def tallies(results: Sequence[AnswerResult]) -> dict[str, Tally]:
    """By category, those of no category under "unknown" or "any", and all of them under "all"."""
    groups: dict[str, list[AnswerResult]] = {}
    for result in results:
        name = "unknown" if result.case.expect_unknown else result.case.category or "any"
        groups.setdefault(name, []).append(result)
    return {name: _tally(group) for name, group in [*sorted(groups.items()), ("all", list(results))]}


def _tally(results: Sequence[AnswerResult]) -> Tally:
    failed: Counter[Check] = Counter(check for result in results for check in result.problems)
    return Tally(
        cases=len(results),
        passed=sum(not result.problems for result in results),
        failed={check: failed[check] for check in CHECKS},
    )
