"""What answering needs of the pipeline and of the statistics, as protocols."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol

from bot.questions.answer_record import AskedIn
from kb.answer import Answer
from kb.answering.progress import Progress
from kb.models import Audience, Question, Turn


class PipelinePort(Protocol):
    """`kb.pipeline.Pipeline`; the playground puts links to its own page viewer into the answers of one."""

    async def answer(
        self, question: Question, turns: Sequence[Turn] = (), *, progress: Progress = ...
    ) -> Answer: ...

    async def may_show(self, page_ids: Collection[str], audience: Audience) -> bool:
        """Raises `UnavailableError`."""

    def turn(self, answer: Answer, *, question_ts: str | None = None) -> Turn: ...


class AnswerRecords(Protocol):
    """`bot.stats.analytics.Analytics`, as answering uses it. Raises `StoreUnavailableError`."""

    async def record(self, question_id: str, answer: Answer, asked_in: AskedIn | None = ...) -> None: ...

    async def save_trace(self, question_id: str, payload: Any) -> None: ...

    async def load_trace(self, question_id: str) -> Any | None: ...
