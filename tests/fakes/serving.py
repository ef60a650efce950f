"""`footnote serve` as operators run it: the installed command, in a process of its own, with its log in a file."""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.fakes.folders import copy_folder
from tests.fakes.playground import Playground
from tests.fakes.waiting import until

FOOTNOTE = Path(sys.executable).with_name("footnote")
START_S = 120.0
"""A start takes some 13 s on two free cores, most of it torch; a busy machine several times that."""

_OURS = ("FOOTNOTE_", "SLACK_", "ANTHROPIC_", "OLLAMA_", "QDRANT_", "REDIS_")


def environment(**changes: str) -> dict[str, str]:
    """This process's environment without a developer's own Footnote: extractive, no reranker, no hub."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    return kept | {"HF_HUB_OFFLINE": "1", "FOOTNOTE_RERANK__MODEL": "off"} | changes


def slack_of(slack: Playground) -> dict[str, str]:
    """The settings with which a bot meets this Slack."""
    return {
        "SLACK_BOT_TOKEN": slack.workspace.bot_token,
        "SLACK_APP_TOKEN": slack.workspace.app_token,
        "SLACK_API_URL": slack.api_url,
    }


def sample_data(root: Path, name: str) -> Path:
    """A data folder of its own under `root`, in which `footnote ingest
    --sample` was run (once for all workers of a test run).
    """
    everybodys = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root
    sample = everybodys / "footnote-sample"
    with (everybodys / "footnote-sample.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not sample.exists():
            _ingest_sample(everybodys / "footnote-sample.begun").rename(sample)
    return copy_folder(sample, root / name)


def _ingest_sample(data: Path) -> Path:
    shutil.rmtree(data, ignore_errors=True)  # what another worker left halfway
    subprocess.run(
        [FOOTNOTE, "ingest", "--sample", "--json", "--data", data],
        cwd=data.parent,
        env=environment(),
        stdout=subprocess.PIPE,
        check=True,
        timeout=600,
    )
    return data


class Serve:
    """The bot's process. It may be started again after it was stopped or killed."""

    def __init__(self, data: Path, variables: Mapping[str, str]) -> None:
        self.data = data
        self.variables = variables
        self._environment = environment(FOOTNOTE_DATA=str(data), **variables)
        self._log = data.with_suffix(".log")
        self._process: asyncio.subprocess.Process | None = None
        self._begins_at = 0

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.returncode is None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def log(self) -> str:
        """What every start has printed."""
        return self._log.read_text(encoding="utf-8", errors="replace") if self._log.exists() else ""

    async def launch(self) -> None:
        """Starts it and does not wait."""
        assert not self.running
        self._begins_at = len(self.log)
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                FOOTNOTE, "serve", cwd=self.data.parent, env=self._environment, stdout=log, stderr=log
            )

    async def ready(self) -> None:
        """Waits until it says that it is ready."""

        def says_so() -> bool:
            assert self.running, f"footnote serve ended:\n{self.log[self._begins_at :]}"
            return "Footnote is ready" in self.log[self._begins_at :]

        await until(says_so, seconds=START_S, pause=0.05)

    async def start(self) -> None:
        await self.launch()
        await self.ready()

    async def kill(self) -> None:
        """kill -9."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> None:
        """SIGTERM: it drains and goes."""
        await self._end(signal.SIGTERM)

    async def _end(self, number: signal.Signals) -> None:
        if self._process is not None and self.running:
            self._process.send_signal(number)
            await self._process.wait()
