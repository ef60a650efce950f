"""`python -m tests.bench.outages [--seconds 3 30 300] [--questions 300 --kills 40]`: questions while Slack is away.

Series: for each kind of outage an office of its own, all at once: every call fails for so many seconds while
people ask in threads old and new. Kills: two replicas on one Redis are killed again and again while Slack
fails at random. Both tell how many questions were answered once, twice, with an apology or not at all, and
whether each thread kept its order. The bot is the real edge and queue with the pauses of production; a stub
answers in the pipeline's place.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.playground import SlackLimits, sample_workspace
from bot.queue.dead_letters import DeadLetters
from kb.store.valkey import connect_redis
from tests.fakes.edge_replica import Replica
from tests.fakes.office import open_office
from tests.fakes.playground import Playground
from tests.fakes.redis_server import a_server
from tests.fakes.slack_outages import OUTAGES

LIMITS = SlackLimits(
    rate_limited=False, ack_timeout_s=3.0, retry_delays_s=(0.0, *[1.0] * 900), streams_told=False
)
"""Slack sends an event again for minutes; here a replica dies as often in as many seconds."""
LATE_S = 420.0
"""How long the last question may take after the outage: the longest pause, and some more."""


@dataclass
class Asked:
    """`threads`: thread -> the ts of its questions, in order."""

    slack: Playground
    threads: dict[str, list[str]] = field(default_factory=dict)

    async def ask(self, chance: random.Random, *, new: float = 0.4) -> None:
        number = sum(map(len, self.threads.values()))
        text = f"@footnote What is the rule number {number}?"
        if self.threads and chance.random() >= new:
            root = chance.choice(list(self.threads))
            self.threads[root].append(await self.slack.say("alice", "#general", text, root))
        else:
            ts = await self.slack.say("alice", "#general", text)
            self.threads[ts] = [ts]

    def replies(self, root: str) -> list[dict[str, Any]]:
        return [
            one["metadata"]["event_payload"] | {"at": one["ts"]}
            for one in self.slack.messages("#general", root)
            if one.get("bot_id") and one.get("metadata")
        ]

    def is_over(self) -> bool:
        """Whether each question has some end."""
        return all(
            {one["question_ts"] for one in self.replies(root) if one["state"] in ("answered", "failed")}
            >= set(questions)
            for root, questions in self.threads.items()
        )

    def figures(self) -> dict[str, Any]:
        once = twice = apologies = lost = disordered = left = 0
        for root, questions in self.threads.items():
            replies = self.replies(root)
            answered = [one["question_ts"] for one in replies if one["state"] == "answered"]
            left += sum(one["state"] == "searching" for one in replies)
            disordered += list(dict.fromkeys(answered)) != [ts for ts in questions if ts in answered]
            for ts in questions:
                times = answered.count(ts)
                said = sum(one["question_ts"] == ts and one["state"] == "failed" for one in replies)
                once, twice = once + (times == 1), twice + (times > 1)
                apologies += times == 0 and said > 0
                lost += times == 0 and said == 0
        questions = sum(map(len, self.threads.values()))
        return {
            "questions": questions, "once": once, "twice": twice, "apologies": apologies, "lost": lost,
            "threads out of order": disordered, "placeholders left": left,
        }  # fmt: skip


async def series(socket: str, seconds: float, kind: str, fault: Mapping[str, Any]) -> dict[str, Any]:
    chance = random.Random(kind)
    async with connect_redis(socket) as redis, open_office(redis, LIMITS, retry_s=1.0) as office:
        asked = Asked(office.slack)
        for _ in range(2):
            await asked.ask(chance, new=1.0)
        await _over(asked, 60)
        office.slack.faults.add("*", **fault, times=1_000_000_000)
        for _ in range(8):
            await asked.ask(chance)
            await asyncio.sleep(seconds / 8)
        office.slack.faults.clear()
        back = time.monotonic()
        await _over(asked, LATE_S)
        took = time.monotonic() - back
        await asyncio.sleep(2)  # a second answer would come now
        return {"kind": kind, "away s": seconds, **asked.figures(), "last answer after s": round(took, 1)} | (
            {"dead letters": len(await DeadLetters(office.redis, namespace=office.namespace).all())}
        )


async def kills(socket: str, questions: int, times: int, seed: int) -> dict[str, Any]:
    chance = random.Random(seed)
    async with Playground(sample_workspace(), limits=LIMITS) as slack:
        asked = Asked(slack)
        replicas = [Replica(socket, slack, f"kills-{seed}") for _ in range(2)]
        await asyncio.gather(*(replica.start() for replica in replicas))
        failing = asyncio.create_task(_fail_at_random(slack, chance))
        began, killed = time.monotonic(), 0
        killing = asyncio.create_task(_kill_again_and_again(replicas, chance, times))
        for _ in range(questions):
            await asked.ask(chance, new=0.25)
            await asyncio.sleep(chance.uniform(0, 0.6))
        killed = await killing
        failing.cancel()
        await asyncio.wait({failing})
        slack.faults.clear()
        await _over(asked, LATE_S)
        await asyncio.sleep(5)
        await asyncio.gather(*(replica.kill() for replica in replicas))
        waits = sum(replica.log.count("question.waits") for replica in replicas)
        return {
            "kills": killed, "faulty calls": sum(not call.ok for call in slack.calls), "waits": waits, **asked.figures(),
            "seconds": round(time.monotonic() - began),
        }  # fmt: skip


async def _kill_again_and_again(replicas: Sequence[Replica], chance: random.Random, times: int) -> int:
    for _ in range(times):
        await asyncio.sleep(chance.uniform(0.2, 3))
        victim = chance.choice(replicas)
        await victim.kill()
        await victim.start()
    return times


async def _fail_at_random(slack: Playground, chance: random.Random) -> None:
    """Now one method, now all of them; before or after the work was done; for a moment or some seconds."""
    methods = (
        "*",
        "*",
        "chat.postMessage",
        "conversations.replies",
        "assistant.threads.setStatus",
        "users.info",
    )
    while True:
        fault = chance.choice(list(OUTAGES.values()))
        undone = fault.get("status") == 429 or "retry_after" in fault
        after = not undone and chance.random() < 0.5
        slack.faults.add(chance.choice(methods), **fault, after=after, times=chance.choice((1, 3, 1_000_000)))
        await asyncio.sleep(chance.uniform(0.1, 4))
        slack.faults.clear()
        await asyncio.sleep(chance.uniform(0.1, 2))


async def _over(asked: Asked, seconds: float) -> None:
    try:
        await asked.slack.wait_for(asked.is_over, timeout=seconds)
    except TimeoutError:
        print("not all in time", file=sys.stderr)


async def _measured(options: argparse.Namespace) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, a_server("valkey", Path(folder)) as server:
        for seconds in options.seconds:
            kinds = {kind: OUTAGES[kind] for kind in options.kinds or OUTAGES}
            for row in await asyncio.gather(
                *(series(server.socket, seconds, kind, fault) for kind, fault in kinds.items())
            ):
                told.append(row)
                print(json.dumps(row), flush=True)
        if options.kills:
            row = await kills(server.socket, options.questions, options.kills, options.seed)
            told.append(row)
            print(json.dumps(row), flush=True)
    return told


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.outages", description=__doc__.partition("\n")[0]
    )
    parser.add_argument(
        "--seconds", type=float, nargs="*", default=[], help="how long Slack is away, each in turn"
    )
    parser.add_argument("--kinds", nargs="*", help=f"of {', '.join(OUTAGES)} (all)")
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    told = asyncio.run(_measured(parser.parse_args()))
    bad = ("twice", "lost", "threads out of order", "placeholders left", "apologies")
    return 1 if any(row[name] for row in told for name in bad) else 0


if __name__ == "__main__":
    sys.exit(main())
