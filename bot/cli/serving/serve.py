"""`footnote serve`: the running bot, and what it has in common with the playground's."""

from __future__ import annotations

import asyncio
import gc
import logging
import random
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from rich.console import Console

from bot.cli.checks.qdrant import warn_of_qdrant
from bot.cli.checks.store import warn_of_store
from bot.cli.composition.reindexing import build_schedule
from bot.cli.composition.runtime import Runtime, open_runtime, utc_now
from bot.cli.serving.api import serving_api
from bot.cli.serving.backend import RuntimeStatus, bot_backend, or_none
from bot.cli.serving.stopping import done_before, stop_requested
from bot.cli.session.control import control_socket
from bot.cli.session.local import LocalSession
from bot.edge.slack_app import Edge, open_edge
from bot.questions.ports import PipelinePort
from bot.queue.placeholder_cleanup import PlaceholderCleanup
from bot.slack.errors import SLACK_FAILURES, error_code, failure_kind
from kb.config.settings import Settings
from kb.errors import FootnoteError, SettingsError
from kb.runtime.tasks import cancelled

logger = logging.getLogger(__name__)
console = Console(stderr=True)

FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 30.0
"""Between two attempts to connect to a Slack that is away."""


async def serve(settings: Settings) -> int:
    """Runs against real Slack until it is told to stop."""
    began, loaded, stopped = time.monotonic(), asyncio.Event(), stop_requested()
    async with (
        open_runtime(settings, "serve", models=False) as runtime,
        running(runtime, runtime.pipeline) as (edge, session),
        serving_api(runtime, session, loaded=loaded.is_set) as api,
    ):
        if not await done_before(stopped, started(runtime, edge)):
            return 0
        loaded.set()
        counts = await or_none(runtime.index.counts)
        pages = (
            f"{counts.pages} pages"
            if counts is not None
            else "its index does not answer, run `footnote doctor`"
        )
        console.print(f"Footnote is ready after {time.monotonic() - began:.1f} s: {pages}.", markup=False)
        if counts is not None and not counts.pages:
            console.print("Nothing is indexed yet: run `footnote ingest FOLDER`.", style="yellow")
        say_api(api)
        await say_offer(session)
        async with warming(runtime):
            await stopped.wait()
    return 0


@asynccontextmanager
async def running(runtime: Runtime, answers: PipelinePort) -> AsyncIterator[tuple[Edge, LocalSession]]:
    """Runs the bot: queue workers, the edge (not yet connected) and the socket for other commands."""
    slack = runtime.settings.slack
    await warn_of_store(runtime.redis)
    warn_of_qdrant(runtime.settings.index)
    status = RuntimeStatus(runtime)
    session = LocalSession(runtime)
    async with AsyncExitStack() as stack:
        backend = bot_backend(runtime, answers, status)
        edge = await stack.enter_async_context(open_edge(settings=slack, backend=backend, clock=utc_now))
        status.activity, session.edge = edge.activity, edge
        await stack.enter_async_context(control_socket(session, runtime.folder.socket))
        workers = asyncio.create_task(
            runtime.queue.run(edge.handler, workers=slack.workers, on_giving_up=edge.handler.on_giving_up)
        )
        stack.push_async_callback(_end, workers)
        cleanup = asyncio.create_task(PlaceholderCleanup(runtime.dead_letters, edge.handler.clean_up).run())
        stack.push_async_callback(cancelled, cleanup)
        schedule = build_schedule(
            runtime.settings, redis=runtime.redis, reindexer=runtime.reindexer, sources=runtime.sources
        )
        stack.push_async_callback(cancelled, asyncio.create_task(schedule.run()))
        yield edge, session


def say_api(address: str | None) -> None:
    if address is not None:
        console.print(f"HTTP API: {address}, to try it: {address}/api/v1/docs", highlight=False, markup=False)


async def say_offer(session: LocalSession) -> None:
    if offer := await session.offer():
        warn(offer)


def warn(sentence: str) -> None:
    console.print(sentence, highlight=False, markup=False, style="yellow")


async def started(runtime: Runtime, edge: Edge) -> None:
    """Loads the models while Slack is being connected: questions that come meanwhile wait in the queue."""
    await asyncio.gather(runtime.load_models(), _connected(edge))
    # what is loaded stays: to look through it again and again would stop every thread for a tenth of a second
    gc.freeze()


async def _connected(edge: Edge) -> None:
    """Waits for a Slack that is away. A token that it refuses ends the start."""
    pause_s = FIRST_PAUSE_S
    while True:
        try:
            await edge.connect()
        except SLACK_FAILURES as error:
            code = error_code(error) or type(error).__name__
            if failure_kind(error) == "lasting":
                raise SettingsError(f"Slack refuses the token ({code}); run `footnote doctor`") from error
            if pause_s == FIRST_PAUSE_S:
                warn(f"Slack cannot be reached ({code}): trying again until it can, see `footnote doctor`")
            logger.warning("slack.not_connected", extra={"cause": code, "seconds": round(pause_s, 1)})
        else:
            return
        await asyncio.sleep(pause_s * random.uniform(0.5, 1))
        pause_s = min(pause_s * 2, LONGEST_PAUSE_S)


@asynccontextmanager
async def warming(runtime: Runtime) -> AsyncIterator[None]:
    """Loads the models while questions come already: those that need what is still missing prepare it themselves."""
    task = asyncio.create_task(runtime.warm())
    try:
        yield
    finally:
        await cancelled(task)


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    outcome = (await asyncio.gather(task, return_exceptions=True))[0]
    if isinstance(outcome, FootnoteError):
        logger.error("queue.stopped", extra={"cause": repr(outcome)})
