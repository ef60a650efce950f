"""Two bots on one Redis and one Qdrant server are replaced one after the
other while people ask, as a Deployment does it: each of them gets one answer.

A new bot is started, /ready is waited for, an old one gets SIGTERM amid its work.
Slack is the playground, by Socket Mode; with FOOTNOTE_ROLLING=socket,http also by
signed HTTP events, through what a Service is: a door to the bots that are ready.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from bot.edge.slack_app import PATH
from bot.playground import SlackLimits, sample_workspace
from tests.fakes.playground import Playground
from tests.fakes.ports import free_port
from tests.fakes.qdrant_server import QdrantServer
from tests.fakes.redis_server import a_server
from tests.fakes.serving import FOOTNOTE, START_S, Serve, environment, slack_of
from tests.fakes.waiting import until

from .test_bot_kills import Asker, drafts, marks

WAYS = os.environ.get("FOOTNOTE_ROLLING", "socket").split(",")
LIMITS = SlackLimits(rate_limited=False)
"""Slack's own redeliveries: at once, after a minute, after five."""
LATE_S = 400.0
AT_A_TIME, BURST = 3, 10
"""Questions that wait for an answer, and those that come at the moment of a
stop: more than two bots work on at a time, so that some run and some wait.
"""


class Service:
    """Where Slack's events are POSTed: each goes to one of `ready`, the ports of the bots that may be asked."""

    def __init__(self) -> None:
        self.ready: list[int] = []
        self._chance = random.Random(7)

    @asynccontextmanager
    async def open(self, port: int) -> AsyncIterator[None]:
        app = web.Application()
        app.router.add_post(PATH, self._forward)
        runner = web.AppRunner(app, access_log=None)
        async with aiohttp.ClientSession() as self._http:
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", port).start()
            try:
                yield
            finally:
                await runner.cleanup()

    async def _forward(self, request: web.Request) -> web.Response:
        if not self.ready:
            raise web.HTTPServiceUnavailable
        url = f"http://127.0.0.1:{self._chance.choice(self.ready)}{PATH}"
        headers = {name: value for name, value in request.headers.items() if name.lower() != "host"}
        try:
            async with self._http.post(url, data=await request.read(), headers=headers) as answer:
                return web.Response(
                    status=answer.status, body=await answer.read(), content_type=answer.content_type
                )
        except aiohttp.ClientError as error:
            raise web.HTTPBadGateway from error


class Bot:
    """One pod. `events`: the port that it hears Slack at over HTTP."""

    def __init__(self, folder: Path, variables: dict[str, str]) -> None:
        self._api, self.events = free_port(), free_port()
        ports = {"FOOTNOTE_API__PORT": str(self._api), "FOOTNOTE_SLACK__PORT": str(self.events)}
        self.serve = Serve(folder, variables | ports)

    async def start(self) -> None:
        await self.serve.launch()
        await until(self._is_ready, seconds=3 * START_S, pause=0.2)

    async def _is_ready(self) -> bool:
        assert self.serve.running, self.serve.log
        with suppress(aiohttp.ClientConnectionError):
            async with (
                aiohttp.ClientSession() as http,
                http.get(f"http://127.0.0.1:{self._api}/ready") as said,
            ):
                return said.status == 200
        return False


class Watch:
    """When each question was answered: the longest wait is what an update costs."""

    def __init__(self, slack: Playground, asker: Asker) -> None:
        self._slack, self._asker = slack, asker
        self.first_seen: dict[str, float] = {}
        self.waits: dict[str, float] = {}

    async def run(self) -> None:
        """People ask on as they are answered, so that waits tell of the update and not of a slow machine."""
        while True:
            self.look()
            self._asker.allowed = len(self.waits) + AT_A_TIME
            await asyncio.sleep(0.1)

    def look(self) -> bool:
        """Whether all are answered."""
        now = time.monotonic()
        for question in self._asker.asked:
            since = self.first_seen.setdefault(question[2], now)
            if question[2] not in self.waits and "answered" in self.states(question):
                self.waits[question[2]] = now - since
        return len(self.waits) == len(self._asker.asked)

    def states(self, question: tuple[str, str, str]) -> list[str]:
        return [mark.state for mark in marks(self._slack, *question)]


@pytest.mark.slow
@pytest.mark.series
@pytest.mark.series
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("way", WAYS)
async def test_an_update_of_two_bots_loses_no_question_and_answers_none_twice(
    way: str, tmp_path: Path, record_property: Any
) -> None:
    service, door, qdrant = Service(), free_port(), QdrantServer()
    events_url = f"http://127.0.0.1:{door}{PATH}" if way == "http" else None
    with a_server("valkey", tmp_path) as redis:
        async with (
            Playground(sample_workspace(), limits=LIMITS, events_url=events_url) as slack,
            service.open(door),
            _serving(qdrant),
        ):
            variables = _variables(slack, way) | {
                "REDIS_URL": f"unix://{redis.socket}",
                "QDRANT_URL": qdrant.url,
            }
            await _ingest(tmp_path / "ingest", variables)
            bots = [Bot(tmp_path / name, variables) for name in ("one", "two", "three", "four")]
            try:
                figures = await _updated(slack, service, bots)
            finally:
                await asyncio.gather(*(bot.serve.kill() for bot in bots))
    figures |= {"way": way, "load": round(os.getloadavg()[0], 1)}
    record_property("update", figures)
    print(figures)
    assert figures["replies"] == {("answered",): figures["questions"]}
    assert figures["drafts left"] == 0
    assert figures["drained"] > 0, "no bot was stopped amid its work: the test is too tame"


async def _updated(slack: Playground, service: Service, bots: list[Bot]) -> dict[str, Any]:
    """Both of the first two bots are replaced by the others, one at a time. Figures of it."""
    old, new = bots[:2], bots[2:]
    await asyncio.gather(*(bot.start() for bot in old))
    service.ready = [bot.events for bot in old]
    asker = Asker(slack, random.Random(3))
    asker.allowed = AT_A_TIME
    watch = Watch(slack, asker)
    tasks = [asyncio.create_task(asker.ask_on()), asyncio.create_task(watch.run())]
    stops: list[float] = []
    try:
        for leaving, coming in zip(old, new, strict=True):
            await coming.start()
            service.ready = [*service.ready, coming.events]
            for _ in range(BURST):
                await asker.ask()
            service.ready = [port for port in service.ready if port != leaving.events]
            began = time.monotonic()
            await leaving.serve.stop()
            stops.append(round(time.monotonic() - began, 1))
        tasks[0].cancel()
        await until(watch.look, seconds=LATE_S, pause=0.1)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    await asyncio.sleep(3)  # a second answer would come now
    waits = sorted(watch.waits.values())
    return {
        "questions": len(asker.asked),
        "replies": dict(Counter(tuple(watch.states(question)) for question in asker.asked)),
        "drafts left": drafts(slack, asker.threads),
        "redelivered": sum(one.attempt > 0 for one in slack.deliveries),
        "drained": sum("queue.draining" in bot.serve.log for bot in old),
        "stops s": stops,
        "wait s": {"median": round(waits[len(waits) // 2], 1), "longest": round(waits[-1], 1)},
    }


def _variables(slack: Playground, way: str) -> dict[str, str]:
    given = slack_of(slack) | {"FOOTNOTE_EMBED__MODEL": "all-MiniLM-L6-v2"}
    if way == "http":
        del given["SLACK_APP_TOKEN"]
        given["SLACK_SIGNING_SECRET"] = slack.workspace.signing_secret
    return given


@asynccontextmanager
async def _serving(qdrant: QdrantServer) -> AsyncIterator[None]:
    await qdrant.start()
    try:
        yield
    finally:
        await qdrant.stop()


async def _ingest(folder: Path, variables: dict[str, str]) -> None:
    process = await asyncio.create_subprocess_exec(
        *(FOOTNOTE, "ingest", "--sample", "--data", folder),
        cwd=folder.parent,
        env=environment(**variables),
        stdout=asyncio.subprocess.DEVNULL,
    )
    assert await process.wait() == 0
