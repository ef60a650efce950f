"""`python -m tests.bench.soak [--minutes 60] [--rate 2] [--json FILE]`: hours of ordinary work, to see what grows.

`footnote serve` in its own process with its own Valkey and index, the playground in this one as its Slack.
People ask in many
threads, correct and delete; pages change, and are synced by schedule and by command. Twice a
minute memory, handles, threads and keys are noted (printed as they come), at the end beginning,
middle and end. Exit 1: a question was lost or answered twice, or something grows without an end.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from kb.store.valkey import connect_redis
from tests.bench.soak_crowd import LIMITS, WRONG_ENDS, Crowd, Wiki, workspace
from tests.bench.soak_samples import Observer, Sample, faults, growth, thirds
from tests.fakes.playground import Playground
from tests.fakes.ports import free_port
from tests.fakes.serving import Serve, sample_data, slack_of
from tests.fakes.waiting import until

LATE_S = 10.0
SYNC_S = 90.0
"""Between two changes of the pages, with a reindex by command each second time; the schedule goes on by itself."""
FULL_EACH = 12
"""Changes until the whole index is built anew beside the old one."""
AROUND_S = 20.0
PATIENCE_S = 300.0
"""For the last answers."""
ROWS: Sequence[tuple[str, str]] = (
    ("rss_mb", "MB of the bot"), ("uss_mb", "MB of its own alone"), ("others", "processes beside it"),
    ("others_mb", "MB of those"), ("files", "open files"), ("others_files", "open files of those"),
    ("threads", "threads"), ("valkey_mb", "MB in Valkey"), ("keys", "keys"), ("forever", "keys without an end"),
    ("waiting", "questions waiting"), ("p50_ms", "answer, p50 ms"), ("p95_ms", "answer, p95 ms"), ("lag_max_s", "the loop's longest lag, s"), ("load", "load"),
)  # fmt: skip


async def soak(root: Path, options: argparse.Namespace) -> dict[str, Any]:
    chance = random.Random(options.seed)
    wiki = Wiki(folder=root / "wiki", chance=chance)
    wiki.begin()
    data = await asyncio.to_thread(sample_data, root, "data")
    (root / "footnote.toml").write_text(
        f'[[sources]]\nname = "wiki"\npath = "{wiki.folder}"\nsync_every = "1m"\ngit_dates = false\n',
        encoding="utf-8",
    )
    async with Playground(workspace(), limits=LIMITS) as slack:
        port = free_port()
        bot = Serve(data, slack_of(slack) | {"FOOTNOTE_API__PORT": str(port)})
        await bot.start()
        try:
            async with connect_redis(str(data / "valkey" / "valkey.sock")) as redis:
                observer = Observer(bot, port, redis)
                return await _watched(observer, Crowd(slack=slack, chance=chance), wiki, options) | {
                    "warnings": _warnings(bot.log)
                }
        finally:
            await bot.stop()


async def _watched(
    observer: Observer, crowd: Crowd, wiki: Wiki, options: argparse.Namespace
) -> dict[str, Any]:
    ends = time.monotonic() + options.minutes * 60
    before = await observer.families()
    at_work = [
        asyncio.create_task(one)
        for one in (_ask(crowd, options.rate), _turn_pages(crowd, wiki), _look_around(crowd))
    ]
    while (left := ends - time.monotonic()) > 0:
        done, _ = await asyncio.wait(
            at_work, timeout=min(options.every, left), return_when=asyncio.FIRST_EXCEPTION
        )
        for one in done:
            one.result()  # what the people themselves stumbled over ends the run
        await _look(observer, crowd)
    for one in at_work:
        one.cancel()
    await asyncio.wait(at_work)
    with contextlib.suppress(TimeoutError):  # what is lost is told below
        await until(lambda: crowd.waiting == 0, seconds=PATIENCE_S, pause=0.5)
    await asyncio.sleep(3)  # a second answer would come now
    await _look(observer, crowd)
    return {
        "samples": [asdict(one) for one in observer.samples],
        "outcome": crowd.outcome(),
        "deeds": dict(crowd.deeds) | {"changes of pages": wiki.turns},
        "growth an hour": growth(observer.samples),
        "keys before": dict(before),
        "keys after": dict(await observer.families()),
        "faults": _lost(crowd.outcome()) + faults(observer.samples),
    }  # fmt: skip


async def _ask(crowd: Crowd, rate: float) -> None:
    began = time.monotonic()
    for number in range(1_000_000_000):
        await asyncio.sleep(max(0.0, began + number / rate - time.monotonic()))
        await crowd.ask()
        await crowd.stir()


async def _turn_pages(crowd: Crowd, wiki: Wiki) -> None:
    while True:
        full = wiki.turns % FULL_EACH == FULL_EACH - 1
        if wiki.turns % 2 or full:
            await crowd.slack.command("dana", "C0R000", "/kb", "reindex --full" if full else "reindex wiki")
        await asyncio.sleep(SYNC_S)
        await asyncio.to_thread(wiki.turn)


async def _look_around(crowd: Crowd) -> None:
    while True:
        await asyncio.sleep(AROUND_S)
        await crowd.look_around()


async def _look(observer: Observer, crowd: Crowd) -> None:
    taken = crowd.taken_since_last_look()
    sample = await observer.look(
        asked=len(crowd.asked), waiting=crowd.waiting, taken=taken, late=sum(one > LATE_S for one in taken)
    )
    print(
        json.dumps({name: _short(value) for name, value in asdict(sample).items()}),
        file=sys.stderr,
        flush=True,
    )


def _short(value: Any) -> Any:
    return round(value, 1) if isinstance(value, float) else value


def _lost(outcome: dict[str, int]) -> list[str]:
    return [f"{name}: {outcome[name]}" for name in WRONG_ENDS if outcome[name]]


def _warnings(log: str) -> list[str]:
    """The last of what the log complains about."""
    return [line for line in log.splitlines() if " WARNING " in line or " ERROR " in line][-50:]


def show(told: dict[str, Any]) -> None:
    samples = [Sample(**one) for one in told["samples"]]
    parts = thirds(samples)
    table = Table(
        "", "first third", "second", "last", "an hour adds", title=f"{samples[-1].at_s / 60:.0f} minutes"
    )
    for name, words in ROWS:
        figures = [[v for v in (getattr(one, name) for one in part) if v is not None] for part in parts]
        added = told["growth an hour"].get(name)
        table.add_row(
            words,
            *(f"{median(one):.0f}" if one else "-" for one in figures),
            f"{added:+.1f}" if added is not None else "",
        )
    console = Console(width=None if sys.stdout.isatty() else 130)
    console.print(table)
    console.print(told["outcome"], told["deeds"])
    for fault in told["faults"] or ["nothing was lost, nothing grows"]:
        console.print(fault)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.soak", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--minutes", type=float, default=60.0, help="for how long (60)")
    parser.add_argument("--rate", type=float, default=2.0, help="questions a second (2)")
    parser.add_argument("--every", type=float, default=30.0, help="seconds between two looks (30)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="footnote-soak-") as folder:
        told = asyncio.run(soak(Path(folder), options))
    if options.json is not None:
        options.json.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    show(told)
    return 1 if told["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
