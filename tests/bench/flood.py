"""`python -m tests.bench.flood [--rate 500] [--seconds 60]`: events from
threads that exist and that do not, at the real bot.

`footnote serve` in its own process over signed HTTP, the playground with Slack's rate limits as its Slack.
What is told: how
many events were acknowledged and how soon, the bot's memory before and after, the calls of conversations.replies.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import hmac
import json
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bot.edge.slack_app import PATH
from bot.playground import SlackLimits, sample_workspace
from tests.bench.figures import percentile
from tests.bench.starting import usage
from tests.fakes.playground import Playground
from tests.fakes.ports import free_port
from tests.fakes.serving import Serve, sample_data, slack_of

SLACK_WAITS_S = 3.0
EXISTING = 200
"""Threads of the playground without the bot."""
QUESTION = "How many days of holiday do I get?"


@dataclass(frozen=True, kw_only=True, slots=True)
class Flood:
    """Milliseconds, MB. `late`: acknowledged after Slack's three seconds. `statuses`: of the answers, 0 for none.

    `cpu_ms`: the bot's own, an event; it does not depend on what else the machine does.
    """

    events: int
    events_a_second: float
    cpu_ms: float
    statuses: dict[int, int]
    late: int
    median_ms: float
    p95_ms: float
    p99_ms: float
    longest_ms: float
    memory_before_mb: float
    memory_after_mb: float
    looks: int
    answered_during_s: float | None


async def flood(root: Path, *, rate: int, seconds: float) -> Flood:
    port = free_port()
    workspace = sample_workspace()
    url = f"http://127.0.0.1:{port}{PATH}"
    async with Playground(workspace, events_url=url, limits=SlackLimits()) as slack:
        variables = slack_of(slack) | {
            "SLACK_APP_TOKEN": "",
            "SLACK_SIGNING_SECRET": workspace.signing_secret,
            "FOOTNOTE_SLACK__PORT": str(port),
        }
        bot = Serve(sample_data(root, "data"), {name: value for name, value in variables.items() if value})
        await bot.start()
        try:
            return await _at(bot, slack, port, rate=rate, seconds=seconds)
        finally:
            await bot.stop()


async def _at(bot: Serve, slack: Playground, port: int, *, rate: int, seconds: float) -> Flood:
    cpu_s, before = usage(bot.pid)
    roots = [slack._state.next_ts() for _ in range(EXISTING)]
    room = slack._room("#general")
    for root in roots:
        slack._state.add(room, {"type": "message", "ts": root, "user": "U0ALICE", "text": "We had a talk."})
    looks = _looks(slack)
    asked = asyncio.create_task(_answered_s(slack, after_s=seconds / 2))
    took: list[float] = []
    statuses: Counter[int] = Counter()
    began = time.monotonic()
    lines = _Lines(port, slack.workspace.signing_secret)
    async with asyncio.TaskGroup() as group:
        for n in range(int(rate * seconds)):
            await asyncio.sleep(max(0.0, began + n / rate - time.monotonic()))
            root = roots[n % EXISTING] if n % 2 else f"16{n:08}.000001"
            body = _event(slack, root, n)
            group.create_task(_send(lines, body, took, statuses))
    spent = time.monotonic() - began
    lines.close()
    cpu_s = usage(bot.pid)[0] - cpu_s
    took.sort()
    return Flood(
        events=len(took),
        events_a_second=len(took) / spent,
        cpu_ms=cpu_s * 1000 / len(took),
        statuses=dict(statuses),
        late=sum(one > SLACK_WAITS_S * 1000 for one in took),
        median_ms=percentile(took, 50),
        p95_ms=percentile(took, 95),
        p99_ms=percentile(took, 99),
        longest_ms=took[-1],
        memory_before_mb=before,
        memory_after_mb=usage(bot.pid)[1],
        looks=_looks(slack) - looks,
        answered_during_s=await asked,
    )


async def _answered_s(slack: Playground, *, after_s: float) -> float | None:
    """Seconds until a mention in the middle of it all is answered; None: not within a minute."""
    await asyncio.sleep(after_s)
    began = time.monotonic()
    ts = await slack.say("alice", "#general", f"@footnote {QUESTION}")
    try:
        await slack.wait_for(
            lambda: any(one.get("bot_id") for one in slack.messages("#general", ts)), timeout=60
        )
    except TimeoutError:
        return None
    return time.monotonic() - began


class _Lines:
    """Connections that are kept open, each with one request at a time: a
    client that costs less than what it measures.
    """

    def __init__(self, port: int, secret: str) -> None:
        self._port = port
        self._secret = secret.encode()
        self._free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def send(self, body: bytes) -> int:
        """The status; 0: no answer in half a minute."""
        try:
            async with asyncio.timeout(30):
                line = (
                    self._free.pop() if self._free else await asyncio.open_connection("127.0.0.1", self._port)
                )
                line[1].write(self._request(body))
                head = (await line[0].readuntil(b"\r\n\r\n")).lower()
                await line[0].readexactly(int(head.partition(b"content-length:")[2].partition(b"\r")[0]))
        except (OSError, EOFError, TimeoutError):
            return 0
        self._free.append(line)
        return int(head.split(b" ", 2)[1])

    def close(self) -> None:
        for _, writer in self._free:
            writer.close()

    def _request(self, body: bytes) -> bytes:
        at = str(int(time.time()))
        signature = hmac.new(self._secret, f"v0:{at}:".encode() + body, hashlib.sha256).hexdigest()
        head = (
            f"POST {PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"X-Slack-Request-Timestamp: {at}\r\nX-Slack-Signature: v0={signature}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body


async def _send(lines: _Lines, body: bytes, took: list[float], statuses: Counter[int]) -> None:
    began = time.perf_counter()
    statuses[await lines.send(body)] += 1
    took.append((time.perf_counter() - began) * 1000)


def _event(slack: Playground, root: str, n: int) -> bytes:
    workspace = slack.workspace
    ts = slack._state.next_ts()
    event: dict[str, Any] = {
        "type": "message", "channel": slack._room("#general").id, "channel_type": "channel", "user": "U0BRAM",
        "text": QUESTION, "ts": ts, "event_ts": ts, "thread_ts": root,
    }  # fmt: skip
    whole = {
        "type": "event_callback", "team_id": workspace.team_id, "api_app_id": workspace.app_id, "event": event,
        "event_id": f"Ev{n}", "event_time": 1, "authorizations": [],
    }  # fmt: skip
    return json.dumps(whole).encode()


def _looks(slack: Playground) -> int:
    return sum(call.method == "conversations.replies" for call in slack.calls)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.flood")
    parser.add_argument("--rate", type=int, default=500, help="events a second (500)")
    parser.add_argument("--seconds", type=float, default=60.0, help="for how long (60)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="footnote-flood-") as folder:
        told = asyncio.run(flood(Path(folder), rate=options.rate, seconds=options.seconds))
    print(json.dumps(asdict(told), indent=2))


if __name__ == "__main__":
    main()
