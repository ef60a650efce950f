"""Gathers the figures of `/metrics`. An outage removes its own figures and no others."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from importlib.metadata import version
from typing import TypeVar

from bot.cli.composition.runtime import Runtime
from bot.cli.session.source_states import last_syncs
from bot.edge.slack_app import Edge
from bot.stats.counts import Stats
from bot.stats.metrics import QueueFigures, exposition
from bot.stats.process_state import ProcessState, SlackFigures
from kb.errors import UnavailableError

logger = logging.getLogger(__name__)
_T = TypeVar("_T")

WITHIN_S = 5.0
"""Prometheus gives a scrape ten seconds, and a part that hangs must not take the others' figures along."""


async def measured(runtime: Runtime, edge: Edge | None) -> str:
    """Returns the metrics in the text format of Prometheus; `edge` is None where no Slack is served."""

    async def of_everybody() -> tuple[Stats, QueueFigures]:
        queue = runtime.queue
        dead = await runtime.dead_letters.reasons()
        figures = QueueFigures(depth=await queue.depth(), dead=dead, oldest=await queue.oldest_age())
        return await runtime.analytics.stats(), figures

    everybody, pages, workers, sources, slack = await asyncio.gather(
        _or_none(of_everybody),
        _or_none(runtime.index.counts),
        _or_none(runtime.page_jobs.workers),
        _or_none(partial(last_syncs, runtime)),
        _slack(edge),
    )
    stats, queue = everybody or (None, None)
    condition = ProcessState(
        version=version("footnote"),
        pages=pages,
        store=stats is not None,
        reranker=runtime.ranker.available if runtime.ranker.wanted else None,
        workers=workers,
        sources=sources or (),
        slack=slack,
    )
    return exposition(
        stats,
        runtime.rewrites,
        runtime.model.usage if runtime.model else None,
        lag=runtime.watch.lag,
        queue=queue,
        state=condition,
        own=runtime.measured.registry,
    )


async def _slack(edge: Edge | None) -> SlackFigures | None:
    if edge is None:
        return None
    activity = edge.activity
    return SlackFigures(
        connected=await edge.is_connected(),
        last_event=activity.last_event,
        events=activity.events,
        failures=activity.failures,
        posts=edge.wiring.worker.replies.posts,
    )


async def _or_none(ask: Callable[[], Awaitable[_T]]) -> _T | None:
    try:
        async with asyncio.timeout(WITHIN_S):
            return await ask()
    except (UnavailableError, TimeoutError) as error:
        logger.warning("metrics.unavailable", extra={"cause": str(error) or type(error).__name__})
        return None
