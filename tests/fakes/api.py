"""The HTTP API over a pipeline that says what a test wants, on a real socket, with keys in a real Valkey."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, date, datetime
from typing import Any

import httpx2
from redis.asyncio import Redis

from bot.api.app import create_app
from bot.api.concurrency import ConcurrencyLimit
from bot.api.guards import Guards
from bot.api.keys import ApiKeys
from bot.api.mcp_tools import mounted
from bot.api.server import listening
from bot.api.service import Service
from kb.answer import Answer, AnswerWarning, Citation, Sentence, Trace
from kb.answering.progress import Progress, Unwatched
from kb.config.server_settings import ApiSettings
from kb.errors import IndexUnavailableError
from kb.models import PageDates, Question, Rewrite, Turn
from kb.pages.freshness import FreshnessPolicy
from kb.retrieval.result import RetrievalResult
from tests.fakes.passages import a_passage, equal_hits

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
LEAVE = a_passage("25 days a year.", section=("Annual leave",), dates=PageDates(reviewed=date(2024, 5, 3)))
HITS = equal_hits(LEAVE, a_passage("Parking is free.", title="Parking"))
CITATION = Citation(n=1, chunk=LEAVE, quote="25 days a year.", score=0.9, freshness="outdated")
FRESHNESS = FreshnessPolicy(clock=lambda: NOW)


def now() -> datetime:
    return NOW


class ScriptedPipeline:
    """Finds two passages for everything, and answers with two sentences of which the last check removes one.

    `hold`: until it is set, nothing is found. `down`: the index does not answer.
    """

    def __init__(self) -> None:
        self.hold = asyncio.Event()
        self.hold.set()
        self.begun = asyncio.Event()
        self.down = self.breaks = False
        self.cancelled = 0
        self.asked: list[tuple[Question, list[Turn]]] = []

    async def find(self, question: Question, turns: Sequence[Turn] = ()) -> RetrievalResult:
        await self._begin(question, turns)
        if self.down:
            raise IndexUnavailableError("http://10.0.0.7:6333 does not answer")
        return RetrievalResult(rewrite=Rewrite(query=question.text), hits=HITS)

    async def answer(
        self, question: Question, turns: Sequence[Turn] = (), *, progress: Progress | None = None
    ) -> Answer:
        progress = progress or Unwatched()
        await progress.stage("searching")
        await self._begin(question, turns)
        if self.breaks:
            raise RuntimeError("the secret cause")
        if self.down:
            return _answer(question, "unavailable")
        kept = Sentence(text="You get 25 days a year.", citations=(1,))
        await progress.written([kept], [CITATION])
        await progress.written([kept, Sentence(text="And 30 in May.", citations=(1,))], [CITATION])
        warning = FRESHNESS.warn(LEAVE.page)
        assert warning is not None
        return _answer(question, "answered", sentences=(kept,), citations=(CITATION,), warnings=(warning,))

    async def _begin(self, question: Question, turns: Sequence[Turn]) -> None:
        self.asked.append((question, list(turns)))
        self.begun.set()
        try:
            await self.hold.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


def _answer(
    question: Question,
    outcome: Any,
    *,
    sentences: tuple[Sentence, ...] = (),
    citations: tuple[Citation, ...] = (),
    warnings: tuple[AnswerWarning, ...] = (),
) -> Answer:
    return Answer(
        question=question.text,
        outcome=outcome,
        mode="model",
        language="en",
        sentences=sentences,
        citations=citations,
        warnings=warnings,
        confidence=0.8,
        trace=Trace(rewrite=Rewrite(query=question.text), hits=HITS if sentences else ()),
    )


class Counted:
    """Remembers what was recorded of questions."""

    def __init__(self) -> None:
        self.places: list[str] = []
        self.languages: list[str] = []

    async def record(self, question_id: str, answer: Answer, asked_in: Any = None) -> None:
        self.places.append(asked_in.place)

    async def count_language(self, language: str) -> None:
        self.languages.append(language)


class Api:
    """A replica at `address`, and what stands behind it."""

    def __init__(self, redis: Redis, *, namespace: str, concurrency: int = 4) -> None:
        self.pipeline, self.counted, self.keys = (
            ScriptedPipeline(),
            Counted(),
            ApiKeys(redis, namespace=namespace, clock=now),
        )
        self.ready = True
        self.address = ""
        self.service = Service(
            pipeline=self.pipeline,
            freshness=FRESHNESS,
            keys=self.keys,
            figures=self.counted,
            concurrency=ConcurrencyLimit(concurrency),
            is_well=self._is_well,
            is_ready=self._is_ready,
            metrics=self._metrics,
        )

    async def _is_well(self) -> bool:
        return not self.pipeline.down

    async def _is_ready(self) -> bool:
        return self.ready

    async def _metrics(self) -> str:
        return "footnote_questions_total 3\n"

    @asynccontextmanager
    async def listening(self, hosts: Sequence[str] = ()) -> AsyncIterator[Api]:
        app = create_app(self.service)
        async with (
            _in_one_task(mounted(app, self.service)),
            listening(Guards(app, hosts=hosts), ApiSettings(port=0)) as address,
        ):
            self.address = address
            yield self

    def client(self, key: str | None = None, **headers: str) -> httpx2.AsyncClient:
        sent = headers | ({"Authorization": f"Bearer {key}"} if key else {})
        return httpx2.AsyncClient(base_url=self.address, headers=sent, timeout=60, trust_env=False)


@asynccontextmanager
async def _in_one_task(context: AbstractAsyncContextManager[None]) -> AsyncIterator[None]:
    """pytest begins and ends a fixture in two tasks, which a task group of anyio does not bear."""
    entered, done = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        async with context:
            entered.set()
            await done.wait()

    holding = asyncio.create_task(hold())
    await entered.wait()
    try:
        yield
    finally:
        done.set()
        await holding


async def events_of(client: httpx2.AsyncClient, body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The events of an answer, with their data."""
    events = []
    async with client.stream("POST", "/api/v1/ask", json=body) as reply:
        assert reply.status_code == 200, await reply.aread()
        assert reply.headers["Content-Type"].startswith("text/event-stream")
        name = ""
        async for line in reply.aiter_lines():
            field, _, value = line.partition(": ")
            if field == "event":
                name = value
            elif field == "data":
                events.append((name, json.loads(value)))
    return events
