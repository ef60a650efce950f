"""Serves requests by key, for HTTP and MCP: takes a free place, asks the pipeline as the key's audience, makes a reply.

A question by key is counted like any other, and kept as a private one: its words are shown to nobody.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from bot.api import schemas
from bot.api.concurrency import ConcurrencyLimit
from bot.api.errors import OutageError
from bot.api.keys import ApiKey
from bot.api.responses import answer_of, result_of
from bot.questions.answer_record import AskedIn
from kb import answer as answers
from kb.answering.progress import Progress, Unwatched
from kb.errors import StoreUnavailableError, UnavailableError
from kb.models import Question
from kb.pages.freshness import FreshnessPolicy
from kb.pipeline import Pipeline
from kb.retrieval.result import RetrievalResult
from kb.runtime.tracing import note, span
from kb.text.language import detect

logger = logging.getLogger(__name__)

BY_KEY = AskedIn(place="private")


class Keys(Protocol):
    """bot.api.keys.ApiKeys, as the API uses it. Raises `StoreUnavailableError`."""

    async def admit(self, presented: str, /) -> ApiKey: ...


class UsageRecords(Protocol):
    """bot.stats.analytics.Analytics, as the API uses it. Raises `StoreUnavailableError`."""

    async def record(
        self, question_id: str, answer: answers.Answer, asked_in: AskedIn | None = ...
    ) -> None: ...

    async def count_language(self, language: str) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Service:
    """`is_well`: the index answers. `is_ready`: the models are loaded as well. `metrics`: for Prometheus."""

    pipeline: Pipeline
    freshness: FreshnessPolicy
    keys: Keys
    figures: UsageRecords
    concurrency: ConcurrencyLimit
    is_well: Callable[[], Awaitable[bool]]
    is_ready: Callable[[], Awaitable[bool]]
    metrics: Callable[[], Awaitable[str]]

    async def admit(self, presented: str) -> ApiKey:
        """Returns the key that was presented.

        Raises:
            KeyRefusedError, TooManyRequestsError, OutageError: it may not ask, or nobody can tell.
        """
        try:
            return await self.keys.admit(presented)
        except StoreUnavailableError as error:
            logger.exception("api.keys_unavailable")
            raise OutageError from error

    async def search(self, key: ApiKey, request: schemas.SearchRequest) -> schemas.SearchReply:
        """Finds passages, and an answer where it is wanted.

        Raises:
            BusyError, OutageError: not now.
        """
        with self.concurrency.slot(), span("question", door="api"):
            question = self._question(key, request)
            if request.include_answer:
                answer = await self._answered(question, request)
                query, hits = answer.rewritten or request.query, answer.trace.hits
                reply = answer_of(answer, question_id=question.id)
            else:
                found = await self._found(question, request)
                query, hits, reply = found.rewrite.query, tuple(found.hits), None
        return schemas.SearchReply(
            query=query,
            results=tuple(result_of(hit, self.freshness) for hit in hits[: request.top_k]),
            answer=reply,
        )

    async def ask(
        self, key: ApiKey, request: schemas.AskRequest, *, progress: Progress | None = None
    ) -> schemas.Answer:
        """Answers a question.

        Raises:
            BusyError, OutageError: not now.
        """
        with self.concurrency.slot(), span("question", door="api"):
            question = self._question(key, request)
            answer = await self._answered(question, request, progress)
        return answer_of(answer, question_id=question.id)

    @staticmethod
    def _question(key: ApiKey, request: schemas.AskRequest) -> Question:
        question = Question(id=uuid.uuid4().hex, text=request.query, audience=key.reads)
        note(question_id=question.id)
        logger.info("api.asked", extra={"question_id": question.id, "key": key.name})
        return question

    async def _found(self, question: Question, request: schemas.AskRequest) -> RetrievalResult:
        try:
            found = await self.pipeline.find(question, request.turns)
        except UnavailableError as error:
            logger.exception("api.unavailable", extra={"question_id": question.id})
            raise OutageError from error
        await self._counted(question, self.figures.count_language(detect(question.text)))
        return found

    async def _answered(
        self, question: Question, request: schemas.AskRequest, progress: Progress | None = None
    ) -> answers.Answer:
        answer = await self.pipeline.answer(question, request.turns, progress=progress or Unwatched())
        await self._counted(question, self.figures.record(question.id, answer, BY_KEY))
        note(outcome=answer.outcome)
        if answer.outcome == "unavailable":
            raise OutageError
        return answer

    @staticmethod
    async def _counted(question: Question, counting: Awaitable[None]) -> None:
        try:
            await counting
        except StoreUnavailableError as error:  # the answer stands without being counted
            logger.warning("api.not_counted", extra={"question_id": question.id, "cause": str(error)})
