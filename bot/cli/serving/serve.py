"""`footnote serve` and `footnote playground`: the running bot.

Both run the same `Bot`; they differ in whose Slack it talks to.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import logging
import random
import time
import webbrowser
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from bot.cli.administration.index_commands import follow, must_exist, show_report
from bot.cli.checks.qdrant import warn_of_qdrant
from bot.cli.checks.store import warn_of_store
from bot.cli.composition.reindexing import build_schedule
from bot.cli.composition.runtime import Runtime, open_runtime, utc_now
from bot.cli.serving.api import serving_api
from bot.cli.serving.backend import bot_backend
from bot.cli.serving.pages import PageViewer
from bot.cli.serving.playground_guide import PlaygroundGuide
from bot.cli.serving.stopping import told_to_stop, unless
from bot.cli.session.control import control_socket
from bot.cli.session.embedder_offer import current_offer
from bot.cli.session.local import LocalSession
from bot.cli.session.requests import IngestRequest
from bot.cli.session.source_states import source_states
from bot.edge.app import Activity
from bot.edge.backend import PipelinePort
from bot.edge.slack_app import Edge, open_edge
from bot.playground import Playground, sample_workspace
from bot.playground.history import History
from bot.playground.links import LinkedAnswers
from bot.queue.dead_letters import DeadLetters
from bot.queue.placeholder_cleanup import PlaceholderCleanup
from bot.queue.queue import QuestionQueue
from bot.slack.errors import SLACK_FAILURES, error_code, failure_kind
from bot.stats.status import BotStatus
from kb.config.settings import Settings
from kb.errors import FootnoteError, SettingsError, UnavailableError
from kb.runtime.tasks import cancelled

logger = logging.getLogger(__name__)
console = Console(stderr=True)

FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 30.0
"""Between two attempts to connect to a Slack that is away."""


async def serve(settings: Settings) -> int:
    """Runs against real Slack until it is told to stop."""
    started, loaded, stopped = time.monotonic(), asyncio.Event(), told_to_stop()
    async with (
        open_runtime(settings, "serve", models=False) as runtime,
        running(runtime, runtime.pipeline) as (edge, session),
        serving_api(runtime, session, loaded=loaded.is_set) as api,
    ):
        if not await unless(stopped, _started(runtime, edge)):
            return 0
        loaded.set()
        counts = await _or_none(runtime.index.counts)
        pages = (
            f"{counts.pages} pages"
            if counts is not None
            else "its index does not answer, run `footnote doctor`"
        )
        console.print(f"Footnote is ready after {time.monotonic() - started:.1f} s: {pages}.", markup=False)
        if counts is not None and not counts.pages:
            console.print("Nothing is indexed yet: run `footnote ingest FOLDER`.", style="yellow")
        _say_api(api)
        await _say_offer(session)
        async with _warming(runtime):
            await stopped.wait()
    return 0


async def playground(
    settings: Settings,
    pages: Path | None,
    *,
    port: int,
    open_browser: bool,
    data_given: bool,
    fresh: bool = False,
) -> int:
    """Runs in a local Slack in the browser, with the sample handbook or the user's own pages.

    What was said there before is there again, unless `fresh`.
    """
    if pages is not None:
        must_exist(pages)
    if pages is not None and not data_given:
        settings = settings.model_copy(update={"data": own_data_folder(settings.data, pages)})
    started = time.monotonic()
    async with AsyncExitStack() as stack:
        runtime = await stack.enter_async_context(open_runtime(settings, "playground", models=False))
        viewer = PageViewer(runtime.sources.folders, runtime.reader)
        history = History(runtime.folder.path, tell=_warn)
        if fresh:
            history.forget()
        slack = Playground(
            sample_workspace(),
            port=port,
            pages=viewer.read,
            history=history,
            guide=PlaygroundGuide(runtime),
        )
        await _start_playground(slack, port, stack)
        slack_settings = settings.slack.model_copy(update=_credentials(slack))
        runtime = runtime.with_slack(slack_settings)
        linked = LinkedAnswers(runtime.pipeline, f"{slack.url}kb/", viewer.address)
        edge, session = await stack.enter_async_context(running(runtime, linked))
        request = IngestRequest(paths=(pages.absolute(),)) if pages else IngestRequest(sample=True)
        report = await follow(session, request)
        if report is None:
            return 1
        show_report(report)
        await _started(runtime, edge)
        api = await stack.enter_async_context(serving_api(runtime, session, loaded=lambda: True))
        runtime.folder.announce("playground", playground=slack.url)
        console.print(f"Footnote is ready after {time.monotonic() - started:.1f} s.")
        _say_api(api)
        await _say_offer(session)
        console.print(f"\n  Playground: [bold]{slack.url}[/bold]   (Ctrl+C stops it)\n")
        if open_browser:
            await asyncio.to_thread(webbrowser.open, slack.url)
        async with _warming(runtime):
            await told_to_stop().wait()
    return 0


@asynccontextmanager
async def running(runtime: Runtime, answers: PipelinePort) -> AsyncIterator[tuple[Edge, LocalSession]]:
    """The bot in action: queue workers, the edge (not yet connected) and the socket for other commands."""
    slack = runtime.settings.slack
    queue = QuestionQueue(runtime.redis, namespace=runtime.settings.store.namespace)
    await warn_of_store(runtime.redis)
    warn_of_qdrant(runtime.settings.index)
    status = _Status(runtime, queue)
    session = LocalSession(runtime)
    async with AsyncExitStack() as stack:
        backend = bot_backend(runtime, queue, answers, status)
        edge = await stack.enter_async_context(open_edge(settings=slack, backend=backend, clock=utc_now))
        status.activity, session.edge = edge.activity, edge
        await stack.enter_async_context(control_socket(session, runtime.folder.socket))
        workers = asyncio.create_task(
            queue.run(edge.handler, workers=slack.workers, on_giving_up=edge.handler.on_giving_up)
        )
        stack.push_async_callback(_end, workers)
        letters = DeadLetters(runtime.redis, namespace=runtime.settings.store.namespace)
        cleanup = asyncio.create_task(PlaceholderCleanup(letters, edge.handler.clean_up).run())
        stack.push_async_callback(cancelled, cleanup)
        schedule = build_schedule(
            runtime.settings, redis=runtime.redis, reindexer=runtime.reindexer, sources=runtime.sources
        )
        stack.push_async_callback(cancelled, asyncio.create_task(schedule.run()))
        yield edge, session


class _Status:
    """What `/kb status` tells."""

    def __init__(self, runtime: Runtime, queue: QuestionQueue) -> None:
        self._runtime = runtime
        self._queue = queue
        self._letters = DeadLetters(runtime.redis, namespace=runtime.settings.store.namespace)
        self.activity: Activity | None = None

    async def status(self) -> BotStatus:
        runtime = self._runtime
        counts = await _or_none(runtime.index.counts)
        depth = await _or_none(self._queue.depth)
        return BotStatus(
            pages=counts.pages if counts else None,
            passages=counts.chunks if counts else None,
            waiting=depth.waiting if depth else None,
            dead_letters=sum((await _or_none(self._letters.reasons) or {}).values()),
            model=runtime.model.name if runtime.model else None,
            reranker=runtime.ranker.available,
            last_event=self.activity.last_event if self.activity else None,
            workers=await _or_none(runtime.page_jobs.workers) or 0,
            sources=await source_states(
                runtime.sources,
                index=runtime.index,
                redis=runtime.redis,
                namespace=runtime.settings.store.namespace,
            ),
            offer=await current_offer(
                runtime.settings.embed, analytics=runtime.analytics, index=runtime.index
            ),
        )


def _say_api(address: str | None) -> None:
    if address is not None:
        console.print(f"HTTP API: {address}, to try it: {address}/api/v1/docs", highlight=False, markup=False)


async def _say_offer(session: LocalSession) -> None:
    if offer := await session.offer():
        _warn(offer)


def _warn(sentence: str) -> None:
    console.print(sentence, highlight=False, markup=False, style="yellow")


async def _or_none(ask: Callable[[], Awaitable[Any]]) -> Any:
    try:
        return await ask()
    except UnavailableError:
        logger.warning("status.unavailable", exc_info=True)
        return None


async def _started(runtime: Runtime, edge: Edge) -> None:
    """Loads the models while Slack is being connected: questions that come meanwhile wait in the queue."""
    await asyncio.gather(runtime.load_models(), _connected(edge))
    # what is loaded stays: to look through it again and again would stop every thread for a tenth of a second
    gc.freeze()


async def _connected(edge: Edge) -> None:
    """Waits for a Slack that is away, as what is asked does. A token that it refuses ends the start."""
    pause_s = FIRST_PAUSE_S
    while True:
        try:
            await edge.connect()
        except SLACK_FAILURES as error:
            code = error_code(error) or type(error).__name__
            if failure_kind(error) == "lasting":
                raise SettingsError(f"Slack refuses the token ({code}); run `footnote doctor`") from error
            if pause_s == FIRST_PAUSE_S:
                _warn(f"Slack cannot be reached ({code}): trying again until it can, see `footnote doctor`")
            logger.warning("slack.not_connected", extra={"cause": code, "seconds": round(pause_s, 1)})
        else:
            return
        await asyncio.sleep(pause_s * random.uniform(0.5, 1))
        pause_s = min(pause_s * 2, LONGEST_PAUSE_S)


@asynccontextmanager
async def _warming(runtime: Runtime) -> AsyncIterator[None]:
    """Loads the models while questions come already: those that need what is still missing prepare it themselves."""
    warming = asyncio.create_task(runtime.warm())
    try:
        yield
    finally:
        await cancelled(warming)


async def _start_playground(slack: Playground, port: int, stack: AsyncExitStack) -> None:
    try:
        await slack.start()
    except OSError as error:
        raise SettingsError(f"port {port} is taken; choose another with --port, or --port 0") from error
    stack.push_async_callback(slack.stop)


def _credentials(slack: Playground) -> dict[str, object]:
    from pydantic import SecretStr

    workspace = slack.workspace
    return {
        "bot_token": SecretStr(workspace.bot_token),
        "app_token": SecretStr(workspace.app_token),
        "api_url": slack.api_url,
    }


def own_data_folder(data: Path, pages: Path) -> Path:
    """Where the index of somebody's own pages lives: apart from the sample's, and the same for the same folder."""
    root = str(pages.expanduser().resolve())
    return data / "playground" / f"{Path(root).name}-{hashlib.sha256(root.encode()).hexdigest()[:8]}"


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    outcome = (await asyncio.gather(task, return_exceptions=True))[0]
    if isinstance(outcome, FootnoteError):
        logger.error("queue.stopped", extra={"cause": repr(outcome)})
