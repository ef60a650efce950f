"""Defines the record of an answer: enough to judge a vote, to find gaps in the pages and to make a test case.

Not the answer's text. Records live for `bot.stats.analytics.KEEP`, and
one of an earlier version loads with the defaults.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from pydantic import Field, ValidationError

from bot.frozen_model import FrozenModel
from kb.answer import Answer, Checked, Mode, NearestPage
from kb.models import Outcome

logger = logging.getLogger(__name__)

Vote = Literal["good", "bad"]
Place = Literal["public", "private", "terminal"]
"""Where a question was asked: in a channel that everybody in the workspace may read, in another
channel or a direct message, or in the operator's terminal. What Slack does not tell is private."""


class SourceUsed(FrozenModel):
    title: str
    url: str
    score: float | None


class PageNear(FrozenModel):
    """A page that came near without answering, or that an answer rests on."""

    page_id: str
    title: str
    url: str
    owner: str | None = None


class PageCited(FrozenModel):
    """A page as it was when it was cited."""

    page_id: str
    revision: str


class AskedIn(FrozenModel):
    """Who asked, and in which message. The defaults are a question from the terminal."""

    place: Place = "terminal"
    team: str = ""
    channel: str = ""
    channel_name: str = ""
    """The name of a public channel at that time."""
    thread_ts: str = ""
    ts: str = ""
    user: str = ""
    unasked: bool = False
    """Nobody had spoken to Footnote."""


class AnswerRecord(FrozenModel):
    """See the module."""

    question: str = Field(repr=False)
    rewritten: str | None = Field(default=None, repr=False)
    understood: str | None = Field(default=None, repr=False)
    """The rewrite, where it is a sentence that a person would write."""
    is_follow_up: bool
    outcome: Outcome
    mode: Mode
    confidence: float
    notes: tuple[str, ...] = ()
    sources: tuple[SourceUsed, ...] = ()
    checked: Checked | None = None
    timings_ms: dict[str, float]
    language: str = ""
    asked_at: datetime | None = None
    """When it was answered; None in a record of an earlier version."""
    asked_in: AskedIn = AskedIn(place="private")
    """An earlier version did not write down where: it is kept to itself."""
    nearest: tuple[PageNear, ...] = ()
    cited: tuple[PageCited, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedQuestion:
    """A question of the last `keep`, with all that people said about its answer."""

    question_id: str
    record: AnswerRecord
    votes: dict[str, Vote]
    """User id -> vote."""
    reasons: dict[str, dict[str, str | None]]
    """User id -> {"reason", "comment"}."""
    missed_by: frozenset[str]
    """Ids of those who reported that the pages lack it."""
    closed_at: datetime | None
    """When it was found to be answered by now."""


class AskedReader(Protocol):
    """bot.stats.analytics.Analytics, as the latest questions are read from it. Raises `StoreUnavailableError`."""

    async def asked(self, limit: int = ...) -> list[AskedQuestion]: ...


def record_of(answer: Answer, asked_in: AskedIn, now: datetime) -> AnswerRecord:
    pages = {citation.chunk.page.id: citation.chunk.page for citation in answer.citations}
    return AnswerRecord(
        question=answer.question,
        rewritten=answer.rewritten,
        understood=answer.interpreted,
        is_follow_up=answer.trace.rewrite.is_follow_up,
        outcome=answer.outcome,
        mode=answer.mode,
        confidence=answer.confidence,
        notes=answer.notes,
        sources=tuple(
            SourceUsed(title=cited.chunk.page.title, url=cited.chunk.url, score=cited.score)
            for cited in answer.citations
        ),
        checked=answer.trace.checked,
        timings_ms=dict(answer.timings_ms),
        language=answer.language,
        asked_at=now,
        asked_in=asked_in,
        nearest=tuple(
            PageNear(page_id=page.page_id, title=page.title, url=page.url, owner=page.owner)
            for page in _nearest_first(answer)
        ),
        cited=tuple(PageCited(page_id=page.id, revision=page.revision) for page in pages.values())
        if answer.outcome == "answered"
        else (),
    )


def _nearest_first(answer: Answer) -> list[NearestPage]:
    if answer.outcome == "answered":
        pages = {citation.chunk.page.id: citation.chunk.page for citation in answer.citations}
        return [
            NearestPage(title=page.title, url=page.url, owner=page.owner, page_id=page.id)
            for page in pages.values()
        ]
    if answer.outcome not in ("closest", "declined") or answer.closest_page is None:
        return list(answer.nearest)
    first = answer.closest_page
    return [first, *(page for page in answer.nearest if page.page_id != first.page_id)]


def record_kept(stored: bytes | str, *, question_id: str) -> AnswerRecord | None:
    """Loads a stored record; None: another version wrote it."""
    try:
        return AnswerRecord.model_validate_json(stored)
    except ValidationError as error:
        problems = error.error_count()
        logger.warning("answer.unreadable", extra={"question_id": question_id, "problems": problems})
        return None
