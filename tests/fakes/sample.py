"""The sample handbook in a runtime of its own: no language model, no reranker, real embedder and engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path

from bot.cli.composition.runtime import Runtime, open_runtime
from bot.cli.evaluation.questions import clock_at
from bot.cli.session.local import LocalSession
from bot.cli.session.requests import IngestRequest
from kb.config.configuration import load_settings


@asynccontextmanager
async def open_sample(data: Path, as_of: date | None) -> AsyncIterator[Runtime]:
    """`as_of`: the day on which questions are asked, which a set of cases about freshness must name."""
    assert as_of is not None
    settings = load_settings(environ={}, data=data, rerank={"model": "off"})
    async with open_runtime(settings, "test", models=True, clock=clock_at(as_of)) as runtime:
        async for step in LocalSession(runtime).ingest(IngestRequest(sample=True)):
            assert step.phase != "failed", step.error
        yield runtime
