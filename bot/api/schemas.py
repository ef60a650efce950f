"""Defines requests and replies, as `docs/openapi.json` describes them."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from kb.answer import Freshness, FreshnessReason, Mode, Note, WarningKind
from kb.conversation import messages
from kb.conversation.conversations import compacted
from kb.models import Turn

MAX_QUERY = 4000
MAX_MESSAGES = 40
MAX_MESSAGE = 8000
REMEMBERED_ANSWER = 2000
"""Characters of an earlier answer that count: what the bot remembers of
one in Slack. More would be read on the event loop.
"""
REMEMBERED_QUESTION = 1000
"""Characters of an earlier question that count, from its end: what was pasted above is seldom what it asks."""
MAX_BODY = 512 * 1024
"""Bytes of a request: what these limits allow, in three bytes a character and with room for JSON's own."""

Text = Annotated[str, Field(min_length=1, max_length=MAX_QUERY, pattern=r"\S")]


def _number(given: object) -> object:
    """Takes a JSON number alone: pydantic takes "5" and true for one as well, the description does not."""
    if isinstance(given, bool | str):
        raise PydanticCustomError("int_type", "Input should be a valid integer")
    return given


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Out(BaseModel):
    model_config = ConfigDict(frozen=True, from_attributes=True)


class Message(messages.ChatMessage):
    """One message of the conversation so far."""

    content: Annotated[str, Field(max_length=MAX_MESSAGE)]


History = Annotated[
    tuple[Message, ...],
    Field(
        max_length=MAX_MESSAGES,
        description="The conversation before it, oldest first: a follow-up is understood in it.",
    ),
]


class AskRequest(_In):
    query: Annotated[
        Text,
        Field(description="The question, in any language.", examples=["How long is the probation period?"]),
    ]
    chat_history: History = ()

    @property
    def turns(self) -> list[Turn]:
        """Returns the turns as the bot remembers its own threads: the latest, and the topics of those before."""
        turns = messages.turns_of(self.chat_history)
        return compacted(
            [
                replace(
                    turn,
                    question=turn.question[-REMEMBERED_QUESTION:],
                    answer=turn.answer[:REMEMBERED_ANSWER],
                )
                for turn in turns
            ]
        )


class SearchRequest(AskRequest):
    top_k: Annotated[
        int, Field(ge=1, le=50, description="Passages to return at most."), BeforeValidator(_number)
    ] = 5
    include_answer: Annotated[
        bool, Field(strict=True, description="Whether an answer is wanted as well.")
    ] = False


class Dates(_Out):
    edited: dt.date | None
    reviewed: dt.date | None
    review_due: dt.date | None
    expires: dt.date | None


class Warned(_Out):
    """Why a page deserves doubt."""

    kind: WarningKind
    reason: FreshnessReason
    title: str
    url: str
    date: Annotated[dt.date | None, Field(description="The day that `reason` speaks of.")]
    text: Annotated[str, Field(description="The warning as an English sentence.")]


class SearchResult(_Out):
    """A passage of a page."""

    title: str
    source: str
    path: str
    url: Annotated[str, Field(description="Leads to the section where the source has addresses of sections.")]
    section: Annotated[
        tuple[str, ...], Field(description="The headings above the passage, without the page's title.")
    ]
    text: Annotated[str, Field(description="The passage as it stands on the page, in Markdown.")]
    language: str
    owner: str | None
    score: Annotated[
        float, Field(description="Orders the results of one reply; not comparable between replies.")
    ]
    dates: Dates
    freshness: Freshness
    warnings: tuple[Warned, ...]


class Sentence(_Out):
    text: Annotated[str, Field(description="Markdown: a sentence, a list item, a table, a quoted block.")]
    citations: Annotated[tuple[int, ...], Field(description="`n` of the citations that support it.")]


class Citation(_Out):
    n: int
    title: str
    source: str
    path: str
    url: str
    section: tuple[str, ...]
    quote: Annotated[str, Field(description="The words that the answer rests on.")]
    score: Annotated[
        float | None, Field(description="How likely it supports what cites it, 0 to 1; null: not measured.")
    ]
    date: Annotated[dt.date | None, Field(description="Of its last review, else of its last edit.")]
    freshness: Freshness


class NearPage(_Out):
    title: str
    url: str
    owner: str | None


class Answer(_Out):
    """An answer, or that there is none: `outcome` tells which."""

    id: str
    outcome: Annotated[
        Literal["answered", "closest", "declined", "unclear", "chat"],
        Field(
            description="answered: the pages say it. closest: no direct answer; the nearest passage is quoted. "
            "declined: nothing "
            "was found, or a model says that no page tells. unclear: ask for one of "
            "`interpretations`. chat: a greeting or thanks."
        ),
    ]
    text: Annotated[str, Field(description="What a reader is told, in Markdown with marks such as [1].")]
    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    warnings: tuple[Warned, ...]
    confidence: Annotated[
        float, Field(ge=0, le=1, description="How sure the evidence is, before anything is written.")
    ]
    mode: Annotated[
        Mode, Field(description="model: a language model wrote it. extractive: the pages' own words.")
    ]
    language: str
    rewritten: Annotated[str | None, Field(description="What was searched for instead of the question.")]
    is_follow_up: bool
    left_open: Annotated[str, Field(description="What the pages leave open of the question.")]
    unfound: Annotated[
        tuple[str, ...], Field(description="Parts of the question for which nothing was found.")
    ]
    interpretations: tuple[str, ...]
    nearest: Annotated[
        tuple[NearPage, ...], Field(description="Pages that come near where there is no answer.")
    ]
    notes: Annotated[tuple[Note, ...], Field(description="What was degraded on the way.")]


class SearchReply(_Out):
    query: Annotated[str, Field(description="What was searched for: the question, or its rewrite.")]
    results: tuple[SearchResult, ...]
    answer: Annotated[Answer | None, Field(description="null: it was not asked for.")]


class Problem(_Out):
    where: Annotated[str, Field(description="The field, as in `body.chat_history.0.role`.")]
    message: str


class Fault(_Out):
    code: Literal[
        "invalid_request",
        "invalid_key",
        "not_found",
        "not_allowed",
        "too_large",
        "foreign_host",
        "rate_limited",
        "busy",
        "unavailable",
        "failed",
    ]
    message: str
    problems: tuple[Problem, ...] = ()


class ErrorReply(_Out):
    error: Fault


class Health(_Out):
    status: Literal["ok", "unavailable"]
