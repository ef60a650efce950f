"""What answering needs of the pipeline, the queue and the statistics, as protocols."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol

from bot.questions.answer_record import AskedIn
from kb.answer import Answer
from kb.answering.progress import Progress
from kb.models import Audience, Question, Turn


class Answerer(Protocol):
    """kb.pipeline.Pipeline, as the Slack edge uses it."""

    async def answer(
        self, question: Question, turns: Sequence[Turn] = (), *, progress: Progress = ...
    ) -> Answer: ...

    def turn(self, answer: Answer, *, question_ts: str | None = None) -> Turn: ...


class Deletions(Protocol):
    """bot.queue.queue.QuestionQueue, as answering uses it. Raises `StoreUnavailableError`."""

    async def is_deleted(self, message_id: str) -> bool: ...


class AnswerRecords(Protocol):
    """bot.stats.analytics.Analytics, as answering uses it. Raises `StoreUnavailableError`."""

    async def record(self, question_id: str, answer: Answer, asked_in: AskedIn | None = ...) -> None: ...

    async def save_trace(self, question_id: str, payload: Any) -> None: ...


class Traces(Protocol):
    """bot.stats.analytics.Analytics, as this view uses it. Raises `StoreUnavailableError`."""

    async def load_trace(self, question_id: str) -> Any | None: ...


class Knowledge(Protocol):
    """kb.pipeline.Pipeline, as this view uses it. Raises `UnavailableError`."""

    async def may_show(self, page_ids: Collection[str], audience: Audience) -> bool: ...


class EphemeralRecords(AnswerRecords, Traces, Protocol):
    """bot.stats.analytics.Analytics, as ephemeral answers use it. Raises `StoreUnavailableError`."""
