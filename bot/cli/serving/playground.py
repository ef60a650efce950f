"""`footnote playground`: the bot in a local Slack in the browser."""

from __future__ import annotations

import asyncio
import hashlib
import time
import webbrowser
from contextlib import AsyncExitStack
from pathlib import Path

from pydantic import SecretStr

from bot.cli.administration.index import follow, must_exist, show_report
from bot.cli.composition.runtime import Runtime, open_runtime
from bot.cli.serving.api import serving_api
from bot.cli.serving.pages import PageViewer
from bot.cli.serving.serve import console, running, say_api, say_offer, started, warming, warn
from bot.cli.serving.stopping import stop_requested
from bot.cli.session.requests import IngestRequest
from bot.playground import Playground, sample_workspace
from bot.playground.guide import Guide, Suggestion, suggestions
from bot.playground.history import History
from bot.playground.links import LinkedAnswers
from kb.config.settings import Settings
from kb.errors import SettingsError, UnavailableError
from kb.index.port import IndexCounts
from kb.models import Audience, Chunk

MOST_PASSAGES = 5_000
"""Questions are made of these at most: more pages make no better ones."""


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
    began = time.monotonic()
    async with AsyncExitStack() as stack:
        runtime = await stack.enter_async_context(open_runtime(settings, "playground", models=False))
        viewer = PageViewer(runtime.sources.folders, runtime.reader)
        history = History(runtime.folder.path, tell=warn)
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
        await started(runtime, edge)
        api = await stack.enter_async_context(serving_api(runtime, session, loaded=lambda: True))
        runtime.folder.announce("playground", playground=slack.url)
        console.print(f"Footnote is ready after {time.monotonic() - began:.1f} s.")
        say_api(api)
        await say_offer(session)
        console.print(f"\n  Playground: [bold]{slack.url}[/bold]   (Ctrl+C stops it)\n")
        if open_browser:
            await asyncio.to_thread(webbrowser.open, slack.url)
        async with warming(runtime):
            await stop_requested().wait()
    return 0


class PlaygroundGuide:
    """The newcomer's guide on the page, made from the running knowledge base.

    The questions are made anew when the index has other counts than before.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._made_of: IndexCounts | None = None
        self._questions: tuple[Suggestion, ...] = ()
        self._making = asyncio.Lock()

    async def __call__(self) -> Guide:
        model = self._runtime.model.name if self._runtime.model else None
        try:
            counts = await self._runtime.index.counts()
            async with self._making:
                if counts != self._made_of:
                    self._questions = await asyncio.to_thread(suggestions, await self._open_to_all())
                    self._made_of = counts
        except UnavailableError:
            return Guide(model=model)
        return Guide(model=model, pages=counts.pages, questions=self._questions)

    async def _open_to_all(self) -> list[Chunk]:
        """Returns passages that everybody may read: a suggestion must not reveal a restricted page."""
        found: list[Chunk] = []
        async for batch in self._runtime.index.passages(audience=Audience()):
            found.extend(batch)
            if len(found) >= MOST_PASSAGES:
                break
        return found


async def _start_playground(slack: Playground, port: int, stack: AsyncExitStack) -> None:
    try:
        await slack.start()
    except OSError as error:
        raise SettingsError(f"port {port} is taken; choose another with --port, or --port 0") from error
    stack.push_async_callback(slack.stop)


def _credentials(slack: Playground) -> dict[str, object]:
    workspace = slack.workspace
    return {
        "bot_token": SecretStr(workspace.bot_token),
        "app_token": SecretStr(workspace.app_token),
        "api_url": slack.api_url,
    }


def own_data_folder(data: Path, pages: Path) -> Path:
    """Returns the data folder of the index over one's own `pages`, apart from the sample's and stable."""
    root = str(pages.expanduser().resolve())
    return data / "playground" / f"{Path(root).name}-{hashlib.sha256(root.encode()).hexdigest()[:8]}"
