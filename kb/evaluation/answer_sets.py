"""Answer sets: a question, what was said before it, and what its answer has to hold.

    {"as_of": "2026-11-27", "cases": [
      {"id": "mulch-price", "question": "en de prijs?",
       "chat_history": [{"role": "user", "content": "Wat is houtmulch?"},
                        {"role": "assistant", "content": "Houtmulch is een bodembedekker."}],
       "keywords": ["45 euro", ["kuub", "kubieke meter"]], "page": "shop/", "category": "shop"}]}

`keywords` (or `expected_answer_keywords`): each is a fact that the reader has to see, in any case; of an inner list any
one will do. `page`: the path in its source of a page that is cited or quoted, or a folder's, which ends in a slash.
`expect_unknown`: the pages do not tell, so the answer has to say so. `category` is a label that groups the figures.
`channel`: where it is asked. Unlike the earlier questions of `kb.evaluation.questions` a `chat_history` is taken as it
stands: nothing that it says was retrieved, so nothing in it is an anchor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, field_validator, model_validator

from kb.answer import Answer
from kb.conversation.messages import ChatMessage, turns_of
from kb.errors import UnavailableError
from kb.evaluation.case_files import read_json
from kb.evaluation.shown_facts import facts_found, facts_shown
from kb.models import Audience, Question
from kb.pipeline import Pipeline

Check = Literal["keywords", "page", "unknown"]
CHECKS: tuple[Check, ...] = ("keywords", "page", "unknown")
Ending = Literal["answered", "partly", "closest", "declined", "unclear"]
ENDINGS: tuple[Ending, ...] = ("answered", "partly", "closest", "declined", "unclear")
"""partly: the answer says what the pages leave open of the question."""
NOT_TOLD: tuple[Ending, ...] = ("partly", "closest", "declined", "unclear")
"""How a question may end that the pages do not answer."""


class AnswerCase(BaseModel):
    """See the module. `kb` names the pages that the set is about; the data folder decides what is asked."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    id: str = ""
    question: str = Field(min_length=1)
    chat_history: tuple[ChatMessage, ...] = ()
    keywords: tuple[tuple[str, ...], ...] = Field(
        default=(), validation_alias=AliasChoices("keywords", "expected_answer_keywords")
    )
    page: str | None = None
    category: str | None = None
    expect_unknown: bool = False
    channel: str | None = None
    kb: str | None = None

    @field_validator("keywords", mode="before")
    @classmethod
    def _each_is_a_list_of_ways_to_say_it(cls, given: Any) -> Any:
        if not isinstance(given, list):
            return given
        return [[fact] if isinstance(fact, str) else fact for fact in given]

    @model_validator(mode="after")
    def _nothing_is_expected_of_what_is_unknown(self) -> AnswerCase:
        if self.expect_unknown and self.keywords:
            raise ValueError("a case that expects an unknown answer can have no keywords")
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

    def some(self, *, category: str | None = None, limit: int | None = None) -> AnswerSet:
        """Returns the first `limit` cases of a category."""
        chosen = [case for case in self.cases if category in (None, case.category)]
        return self.model_copy(update={"cases": tuple(chosen[:limit])})


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerResult:
    """`problems` by the check that found it; empty for a case that passed.

    Of each fact: `seen` says whether it is shown, `ranks` which of the
    passages that were found is the first to hold it.
    """

    case: AnswerCase
    answer: Answer
    problems: dict[Check, str]
    seen: tuple[bool, ...]
    ranks: tuple[int | None, ...]

    @property
    def ending(self) -> Ending:
        return ending_of(self.answer)


def read_answer_set(file: Path) -> AnswerSet:
    """
    Raises:
        SettingsError: the file cannot be read or has another form; the message says where.
    """
    answers = read_json(file, AnswerSet, fault="is not an answer set")
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
    shown = facts_shown(answer, case.keywords)
    return AnswerResult(
        case=case,
        answer=answer,
        problems=problems_of(case, answer, shown),
        seen=shown,
        ranks=facts_found(answer.trace.hits, case.keywords),
    )


def ending_of(answer: Answer) -> Ending:
    if answer.outcome in ("closest", "declined", "unclear"):
        return answer.outcome
    return "partly" if answer.left_open else "answered"


def problems_of(case: AnswerCase, answer: Answer, shown: Sequence[bool]) -> dict[Check, str]:
    """Returns what an answer lacks, by check. Of an answer that is not expected, or missing, only that is reported."""
    ending = ending_of(answer)
    got = f"{answer.outcome} with confidence {answer.confidence:.2f}"
    if case.expect_unknown:
        return {} if ending in NOT_TOLD else {"unknown": f"expected no answer, got {got}"}
    if ending in ("declined", "unclear"):
        return {"unknown": f"expected an answer, got {got}"}
    problems: dict[Check, str] = {}
    missing = [wordings for wordings, is_shown in zip(case.keywords, shown, strict=True) if not is_shown]
    if missing:
        problems["keywords"] = f"the answer lacks {[' or '.join(wordings) for wordings in missing]}"
    cited = cited_pages(answer)
    if case.page and not any(_is_page(path, case.page) for path in cited):
        problems["page"] = f"cites {cited}, nothing of {case.page!r}"
    return problems


def cited_pages(answer: Answer) -> list[str]:
    """Returns the paths, in their sources, of the pages that are cited or quoted."""
    citations = [*answer.citations, *(quote.citation for quote in answer.quotes)]
    return sorted({citation.chunk.page.path for citation in citations})


def _is_page(path: str, wanted: str) -> bool:
    return path.startswith(wanted) if wanted.endswith("/") else path == wanted
