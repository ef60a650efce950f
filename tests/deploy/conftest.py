"""One real bot that is watched: its traces go to a collector, its log is JSON, its figures are on TCP."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

import pytest
import pytest_asyncio

from bot.playground import SlackLimits, sample_workspace
from tests.fakes.collector import Collector
from tests.fakes.messages_server import MessagesServer
from tests.fakes.playground import Playground
from tests.fakes.ports import free_port
from tests.fakes.serving import Serve, environment, slack_of
from tests.fakes.waiting import until
from tests.fakes.warm_command import WarmCommand

QUESTION = "How does paid holiday work here?"
LATE_S = 120.0
"""An answer on a busy machine, or its pages embedded anew."""


@dataclass(frozen=True, kw_only=True)
class Watched:
    """`asked`: the question's ts, whose answer stands below it. `metrics`: host and port."""

    bot: Serve
    slack: Playground
    model: MessagesServer
    collector: Collector
    metrics: str
    asked: str

    @property
    def answer(self) -> str:
        return str(answers(self.slack, self.asked)[0]["text"])


def answers(slack: Playground, ts: str) -> list[dict[str, object]]:
    """What was said in answer; "Searching…" bears no buttons."""
    said = slack.messages("#general", ts)[1:]
    return [dict(one) for one in said if any(block["type"] == "actions" for block in one.get("blocks", ()))]


def ingested(home: Path) -> Path:
    """A data folder with the sample's pages about people: all of them are embedded again, and nobody looks at the others."""
    with as_file(files("ingest") / "sample" / "handbook" / "people") as people:
        shutil.copytree(people, home / "handbook" / "people")
    code, _, errors = WarmCommand(home).run(
        ["ingest", str(home / "handbook"), "--json", "--data", str(home / "data")],
        folder=home,
        variables=environment(),
        timeout=LATE_S,
    )
    assert code == 0, errors
    return home / "data"


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def watched(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Watched]:
    data = await asyncio.to_thread(ingested, tmp_path_factory.mktemp("watched"))
    port = free_port()
    async with (
        Playground(sample_workspace(), limits=SlackLimits(rate_limited=False)) as slack,
        MessagesServer() as model,
        Collector() as collector,
    ):
        variables = {
            "ANTHROPIC_API_KEY": model.key,
            "ANTHROPIC_BASE_URL": model.url,
            "FOOTNOTE_API__PORT": str(port),
            "FOOTNOTE_TELEMETRY__TRACES": collector.url,
            "FOOTNOTE_TELEMETRY__LOGS": "json",
            "OTEL_BSP_SCHEDULE_DELAY": "200",
            # which an operator may have set for something else
            "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE": "content",
        }
        bot = Serve(data, slack_of(slack) | variables)
        try:
            await bot.start()
            asked = await slack.say("alice", "#general", f"@footnote {QUESTION}")
            await slack.wait_for(lambda: answers(slack, asked), timeout=LATE_S)
            await slack.command("dana", "#general", "/kb", "reindex --full")
            await until(lambda: collector.named("question") and collector.named("sync"), seconds=LATE_S)
            yield Watched(
                bot=bot,
                slack=slack,
                model=model,
                collector=collector,
                metrics=f"127.0.0.1:{port}",
                asked=asked,
            )
        finally:
            await bot.stop()
