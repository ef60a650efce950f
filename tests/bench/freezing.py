"""`python -m tests.bench.freezing [NAME ...] [--strict]`: questions while the worst pages are read.

a bot in a process of its own -> idle: a question every 200 ms -> the
same while it reads one of the pages -> the next bot

Each page is below the limit of 5 MB and hard on something else. A question's time
while it is read is told as a ratio to the time of the same questions just before,
in the same process; how late the loop was is the bot's own, from its metrics.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import psutil
from rich.console import Console
from rich.table import Table

from bot.cli.session.remote import RemoteSession
from bot.cli.session.requests import AskRequest, IngestRequest
from bot.playground import SlackLimits, sample_workspace
from kb.store.data_folder import DataFolder
from tests.bench.exposed import Lateness, lateness
from tests.bench.figures import percentile
from tests.bench.questions import sample_questions
from tests.bench.worst_pages import WORST, write_worst
from tests.fakes.playground import Playground
from tests.fakes.ports import free_port
from tests.fakes.serving import Serve, sample_data, slack_of

EVERY_S = 0.2
IDLE_S = 10.0
BUSY_S = 30.0
"""Reading and cutting, and the beginning of the embedding, which goes on for minutes as it began."""
RATIO = 2.0
"""A question's p95 meanwhile over idle, at most."""
LATE_S = 0.05
MB = 1 << 20
PORT = "FOOTNOTE_API__PORT"


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """Milliseconds of questions, how late the loop was while the page was
    read, MB of the bot before and at its peak.
    """

    name: str
    idle: list[float]
    busy: list[float]
    late: Lateness
    before_mb: float
    peak_mb: float

    @property
    def ratio(self) -> float:
        return percentile(self.busy, 95) / percentile(self.idle, 95)


async def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.freezing", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(WORST)}")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a ratio is above its target")
    options = parser.parse_args()
    measured = []
    with tempfile.TemporaryDirectory(prefix="footnote-bench-") as folder:
        for name in options.names or WORST:
            print(f"{name} ...", file=sys.stderr, flush=True)
            measured.append(await _measured(name, Path(folder)))
    _show(measured)
    return 1 if options.strict and any(one.ratio > RATIO for one in measured) else 0


async def _measured(name: str, folder: Path) -> Measured:
    pages = write_worst(name, folder / "pages" / WORST[name][0].replace(".", "-")).parent
    async with _bot(folder, pages.name) as bot:
        session = RemoteSession(DataFolder(bot.data).socket)
        await _warmed(session)
        idle = await _asked(session, IDLE_S)
        process = psutil.Process(bot.pid)
        before = process.memory_info().rss / MB
        port = int(bot.variables[PORT])
        late_before = await lateness(port)
        reading = asyncio.create_task(_read(session, pages))
        watching = asyncio.create_task(_peak(process, reading))
        busy = await _asked(session, BUSY_S, until=reading)
        late = (await lateness(port)).since(late_before)
        reading.cancel()
        return Measured(
            name=name, idle=idle, busy=busy, late=late, before_mb=before, peak_mb=max(before, await watching)
        )


@asynccontextmanager
async def _bot(folder: Path, name: str) -> AsyncIterator[Serve]:
    async with Playground(sample_workspace(), limits=SlackLimits(rate_limited=False)) as slack:
        data = await asyncio.to_thread(sample_data, folder, f"data-{name}")
        bot = Serve(data, slack_of(slack) | {PORT: str(free_port())})
        await bot.start()
        try:
            yield bot
        finally:
            await bot.stop()


async def _asked(
    session: RemoteSession, seconds: float, *, until: asyncio.Task[None] | None = None
) -> list[float]:
    """Milliseconds of each question. The next one does not wait for the one before."""
    questions = sample_questions()
    taken: list[float] = []

    async def ask(number: int) -> None:
        began = time.perf_counter()
        await session.ask(AskRequest(question=f"{questions[number % len(questions)]}?"))
        taken.append((time.perf_counter() - began) * 1000)

    asking = []
    ends = time.perf_counter() + seconds
    while time.perf_counter() < ends and not (until and until.done()):
        asking.append(asyncio.create_task(ask(len(asking))))
        await asyncio.sleep(EVERY_S)
    await asyncio.gather(*asking)
    return taken


async def _warmed(session: RemoteSession) -> None:
    """Asks each question once: a bot embeds the sentences of a page when it is first asked about it."""
    for question in sample_questions():
        await session.ask(AskRequest(question=f"{question}?"))


async def _read(session: RemoteSession, pages: Path) -> None:
    with contextlib.suppress(aiohttp.ClientError):  # the bot is stopped long before it is done
        async for _ in session.ingest(IngestRequest(paths=(pages,))):
            pass


async def _peak(process: psutil.Process, reading: asyncio.Task[None]) -> float:
    peak = 0.0
    while not reading.done():
        peak = max(peak, process.memory_info().rss / MB)
        await asyncio.sleep(EVERY_S)
    return peak


def _show(measured: list[Measured]) -> None:
    title = f"a question's milliseconds, load {os.getloadavg()[0]:.1f}"
    table = Table(
        "",
        "idle p95",
        "p95",
        "ratio",
        "",
        "loop late: at most ms",
        f"times over {LATE_S * 1000:.0f} ms",
        "MB before, peak",
        title=title,
    )
    for one in measured:
        table.add_row(
            one.name,
            f"{percentile(one.idle, 95):.0f}",
            f"{percentile(one.busy, 95):.0f}",
            f"{one.ratio:.2f}",
            "met" if one.ratio <= RATIO else "missed",
            f"{one.late.at_most_s * 1000:.0f}",
            f"{one.late.times_above(LATE_S)} of {sum(one.late.counts.values())}",
            f"{one.before_mb:.0f}, {one.peak_mb:.0f}",
        )
    Console(width=None if sys.stdout.isatty() else 130).print(table)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
