"""A replica of the Slack edge to be killed: `python -m tests.fakes.edge_replica SOCKET NAMESPACE API_URL`.

The real edge and queue on a Redis and a Slack that outlive it; a stub
answers in the pipeline's place, and takes its time.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bot.edge.slack_app import open_edge
from bot.listening.channel_settings import ChannelSettings, ChannelSettingsStore
from bot.playground import sample_workspace
from bot.questions.cited_answers import CitedAnswers
from bot.queue.queue import QuestionQueue
from bot.reindexing.progress_notes import ProgressNotes
from bot.slack.errors import SLACK_FAILURES
from bot.stats.analytics import Analytics
from kb.config.slack_settings import SlackSettings
from kb.conversation.conversations import RedisConversations
from kb.store.valkey import connect_redis
from tests.fakes.office import Knowledge, Office, backend_of
from tests.fakes.playground import Playground
from tests.fakes.waiting import until

ROOT = Path(__file__).parents[2]


class SlowKnowledge(Knowledge):
    async def answer(self, *given: Any, **named: Any) -> Any:
        await asyncio.sleep(random.uniform(0, 0.3))
        return await super().answer(*given, **named)


class Replica:
    """The process, from outside. Its log is kept over its lives."""

    def __init__(self, socket: str, slack: Playground, namespace: str) -> None:
        self._arguments = [socket, namespace, slack.api_url]
        self._slack = slack
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self.log = ""

    async def start(self) -> None:
        """Starts it, and waits until it says that it works: Slack may be away then."""
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.fakes.edge_replica", *self._arguments,
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=os.environ | {"PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        begins_at = len(self.log)
        self._reading = asyncio.create_task(self._read(self._process))
        await until(lambda: "working" in self.log[begins_at:], seconds=60, pause=0.05)

    async def kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()
        if self._reading is not None:
            await self._reading

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        while line := await process.stdout.readline():
            self.log += line.decode(errors="replace")
        if await process.wait() > 0:  # it was not killed
            print(self.log[-3000:], file=sys.stderr)


def clock() -> datetime:
    return datetime.now(UTC)


async def main(socket: str, namespace: str, api_url: str) -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stdout)
    workspace = sample_workspace()
    settings = SlackSettings.model_validate(
        {
            "bot_token": workspace.bot_token,
            "app_token": workspace.app_token,
            "api_url": api_url,
            "stream": "off",
        }
    )
    async with connect_redis(socket) as redis:
        queue: Any = QuestionQueue(redis, namespace=namespace, longest_wait_s=20.0)
        office = Office(
            slack=None,  # type: ignore[arg-type]
            settings=settings,
            queue=queue,
            conversations=RedisConversations(redis, namespace=namespace, keep=timedelta(days=1)),
            analytics=Analytics(redis, namespace, clock=clock),
            redis=redis,
            notes=ProgressNotes(redis, namespace=namespace),
            channel_settings=ChannelSettingsStore(redis, namespace=namespace, defaults=ChannelSettings()),
            cited=CitedAnswers(redis, namespace=namespace),
            knowledge=SlowKnowledge(),
            namespace=namespace,
        )
        async with open_edge(settings=settings, backend=backend_of(office), clock=clock) as edge:
            working = asyncio.create_task(
                queue.run(edge.handler, workers=4, on_giving_up=edge.handler.on_giving_up)
            )
            print("working", flush=True)
            while True:
                try:
                    await edge.connect()
                    break
                except SLACK_FAILURES:
                    await asyncio.sleep(0.5)
            await working


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
