"""The whole bot dies by kill -9 at random moments while people ask: each of them gets one answer, and keeps it.

The bot is the real `footnote serve` with its own Valkey and index in a data folder; Slack is the playground, in this
process, so that it survives. Once it quotes, once a slow model writes and most kills fall into the middle of a stream.
FOOTNOTE_KILLS sets how often the bot is killed, FOOTNOTE_KILL_SEEDS with which luck.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import re
import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.playground import SlackLimits, sample_workspace
from bot.slack.events import AnswerMetadata, Message, answer_metadata
from kb.store.valkey import connect_redis
from tests.fakes.messages_server import MessagesServer, Say, answer_by_itself
from tests.fakes.playground import Playground
from tests.fakes.serving import Serve, sample_data, slack_of

KILLS = int(os.environ.get("FOOTNOTE_KILLS", "4"))
SEEDS = [int(seed) for seed in os.environ.get("FOOTNOTE_KILL_SEEDS", "1").split(",")]
QUESTIONS_A_LIFE = 12
LATE_S = 240.0
"""A start on a busy machine, and the lease of whoever died last."""

LIMITS = SlackLimits(
    rate_limited=False, ack_timeout_s=3.0, retry_delays_s=(0.0, *[1.0] * 600), streams_told=False
)
"""Slack's three redeliveries span six minutes, in which a bot comes back; here it dies many times in as long, so an
event is sent again every second instead."""

OPENERS = (
    "How many days of holiday do I get?",
    "What is the warranty on garden tools?",
    "Do we ship to Canada?",
    "How do I report a lost laptop?",
    "Hoeveel reiskosten krijg ik per kilometer?",
    "Can I return houtmulch after I opened the bag?",
    "Who is on call this week?",
    "How much parental leave do I get?",
)
FOLLOW_UPS = ("and when do they expire?", "what does that cost?", "who decides about that?", "why?")


class Asker:
    """Several people who ask on, in channels, threads and a direct message."""

    def __init__(self, slack: Playground, chance: random.Random) -> None:
        self._slack = slack
        self._chance = chance
        self._threads: list[tuple[str, str]] = []
        self.allowed = QUESTIONS_A_LIFE
        self.asked: list[tuple[str, str, str]] = []
        """Channel, thread and ts of every question."""

    @property
    def threads(self) -> set[tuple[str, str]]:
        return {(channel, thread_ts) for channel, thread_ts, _ in self.asked}

    async def ask_on(self) -> None:
        """Asks at random moments, but no more than `allowed` questions: a
        life of the bot has to see the end of them.
        """
        while True:
            if len(self.asked) < self.allowed:
                await self.ask()
            await asyncio.sleep(self._chance.uniform(0.1, 1.2))

    async def ask(self) -> None:
        if self._threads and self._chance.random() < 0.35:
            channel, thread_ts = self._chance.choice(self._threads)
            ts = await self._slack.say("alice", channel, self._chance.choice(FOLLOW_UPS), thread_ts)
            self.asked.append((channel, thread_ts, ts))
            return
        channel = self._chance.choice(("#general", "#garden-shop", "#people-leads", self._slack.dm("alice")))
        mention = "" if channel.startswith("D") else "@footnote "
        ts = await self._slack.say("alice", channel, mention + self._chance.choice(OPENERS))
        self._threads.append((channel, ts))
        self.asked.append((channel, ts, ts))


STREAMS = ("chat.startStream", "chat.appendStream", "chat.stopStream")
SPEAKING = ("chat.postMessage", "chat.update", *STREAMS)


def write_slowly(body: Mapping[str, Any]) -> Say:
    """A model that writes for some seconds: what the first passages begin with."""
    if "format" in (body.get("output_config") or {}):
        return answer_by_itself(body)
    told = re.findall(r"^\[(\d+)\] [^\n]*\n([^\n|#>-][^\n]*)", _asked(body), re.MULTILINE)
    return Say(*[f"{text} [{number}]\n\n" for number, text in told[:5]], pause_s=0.12)


def _asked(body: Mapping[str, Any]) -> str:
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else "\n\n".join(one.get("text", "") for one in content)


class Luck:
    """When the bot dies, and how Slack behaves while it lives. `streams`: most often while it streams."""

    def __init__(self, slack: Playground, chance: random.Random, *, streams: bool) -> None:
        self._slack = slack
        self._chance = chance
        self._kinds = ("starting", "any time", *("streaming" if streams else "speaking",) * 3)
        self._streams = streams
        self.cut = 0
        """Kills that left a stream unfinished."""

    def make_slack_slow(self, *, last: bool = False) -> None:
        """Slack takes its time before or after it does the work, so that a kill can fall on either side.

        In some lives of the bot there is no status to set, and it posts a placeholder and streams nothing; not in
        the last two: the one before the last kill, and the one that gets most of the questions to answer.
        """
        faults = self._slack.faults
        faults.clear()
        if self._chance.random() < (0.2 if self._streams else 0.5) and not (last and self._streams):
            faults.add("assistant.threads.setStatus", error="unknown_method", times=100_000)
        for method in (*SPEAKING, "conversations.replies"):
            for _ in range(200):
                faults.add(method, delay=self._chance.uniform(0, 0.4), after=self._chance.random() < 0.5)

    async def wait_for_the_moment(
        self, bot: Serve, threads: Collection[tuple[str, str]], *, last: bool
    ) -> None:
        """While it starts, at any time after, or just after it called Slack to speak.

        The last kill falls on a stream where none has yet.
        """
        if last and self._streams and not self.cut:
            await bot.ready()
            with contextlib.suppress(TimeoutError):
                await self._slack.wait_for(lambda: drafts(self._slack, threads) > 0, timeout=60)
            return
        kind = self._chance.choice(self._kinds)
        if kind == "starting":
            await asyncio.sleep(self._chance.uniform(0, 12))
            return
        await bot.ready()
        if kind == "any time":
            await asyncio.sleep(self._chance.uniform(0, 4))
            return
        awaited = STREAMS[:2] if kind == "streaming" else ("chat.postMessage", "chat.update")
        said = self._spoken(awaited) + self._chance.randrange(1, 6)
        with contextlib.suppress(TimeoutError):  # nothing left to say: then at this moment
            await self._slack.wait_for(lambda: self._spoken(awaited) >= said, timeout=30)
        await asyncio.sleep(self._chance.uniform(0, 0.4))

    def _spoken(self, methods: Collection[str]) -> int:
        return sum(call.method in methods for call in self._slack.calls)


def marks(slack: Playground, channel: str, thread_ts: str, ts: str) -> list[AnswerMetadata]:
    """What our messages in a thread say about one question."""
    said = [Message.model_validate(one) for one in slack.messages(channel, thread_ts)]
    found = [answer_metadata(one.metadata) for one in said if one.bot_id]
    return [mark for mark in found if mark is not None and mark.question_ts == ts]


def drafts(slack: Playground, threads: Collection[tuple[str, str]]) -> int:
    """Our messages that are streamed still, or bear no mark: what a cut stream leaves."""
    said = [one for channel, thread_ts in threads for one in slack.messages(channel, thread_ts)]
    ours = [one for one in said if one.get("bot_id")]
    return sum(one.get("streaming_state") == "in_progress" or not one.get("metadata") for one in ours)


async def leases(data: Path) -> int:
    async with connect_redis(str(data / "valkey" / "valkey.sock")) as redis:
        return int(await redis.get("{footnote}:queue:fence") or 0)


@pytest.fixture
async def slack() -> AsyncIterator[Playground]:
    async with Playground(sample_workspace(), limits=LIMITS) as slack:
        yield slack


@pytest.fixture(params=["quotes", "a model"])
async def bot(
    request: pytest.FixtureRequest, slack: Playground, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Serve]:
    name = f"kills-{secrets.token_hex(3)}"  # each seed has its own
    data = await asyncio.to_thread(sample_data, tmp_path_factory.getbasetemp(), name)
    async with MessagesServer(answering=write_slowly) as model:
        variables = {"ANTHROPIC_API_KEY": model.key, "ANTHROPIC_BASE_URL": model.url}
        heuristic = {"FOOTNOTE_REWRITE__MODE": "heuristic"}
        bot = Serve(data, slack_of(slack) | (variables | heuristic if request.param == "a model" else {}))
        yield bot
        await bot.kill()
        assert model.refusals == []


@pytest.mark.slow
@pytest.mark.timeout(300 + 60 * KILLS)
@pytest.mark.parametrize("seed", SEEDS)
async def test_every_question_is_answered_once_while_the_bot_is_killed_again_and_again(
    slack: Playground, bot: Serve, seed: int, record_property: Any
) -> None:
    chance = random.Random(seed)
    streams = "ANTHROPIC_API_KEY" in bot.variables
    asker, luck = Asker(slack, chance), Luck(slack, chance, streams=streams)
    began = time.monotonic()
    luck.make_slack_slow()
    await bot.start()
    asking = asyncio.create_task(asker.ask_on())
    for kill in range(1, KILLS + 1):
        await luck.wait_for_the_moment(bot, asker.threads, last=kill == KILLS)
        await bot.kill()
        luck.cut += drafts(slack, asker.threads)
        luck.make_slack_slow(last=kill >= KILLS - 1)
        asker.allowed += QUESTIONS_A_LIFE
        await bot.launch()
    await bot.ready()
    asking.cancel()
    await asyncio.wait({asking})

    def states() -> list[list[str]]:
        return [[mark.state for mark in marks(slack, *question)] for question in asker.asked]

    try:
        await slack.wait_for(lambda: all("answered" in one for one in states()), timeout=LATE_S)
    finally:
        told = Counter(tuple(one) for one in states())
        figures = {
            "seed": seed,
            "kills": KILLS,
            "questions": len(asker.asked),
            "replies": dict(told),
            "redelivered": sum(one.attempt > 0 for one in slack.deliveries),
            "leases": await leases(bot.data),
            "spoken": dict(
                Counter(call.method for call in slack.calls if call.method in SPEAKING and call.ok)
            ),
            "streams cut": luck.cut,
            "answered before": bot.log.count("question.answered_before"),
            "seconds": round(time.monotonic() - began),
        }
        record_property("kills", figures)
        print(figures)
    await asyncio.sleep(3)  # a second answer would come now
    assert Counter(tuple(one) for one in states()) == {("answered",): len(asker.asked)}
    assert drafts(slack, asker.threads) == 0
    assert not streams or luck.cut > 0, "no kill hit a stream: the test is too tame"
    assert figures["leases"] > len(asker.asked), "no kill hit a running question: the test is too tame"
