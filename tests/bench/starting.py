"""Starts of the installed command in a process of its own: time to ready, memory at rest, its first answer."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from bot.cli.composition.runtime import Runtime
from bot.cli.session.remote import RemoteSession
from bot.cli.session.requests import AskRequest
from kb.store.data_folder import DataFolder
from tests.fakes.serving import environment
from tests.fakes.waiting import until

FOOTNOTE = Path(sys.executable).with_name("footnote")
START_S = 600.0
"""The first start indexes; a large folder on a busy machine takes minutes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """Seconds from the start of the process to ready, and of them on the
    CPU; its memory in MB; the first answer's ms.
    """

    ready_s: float
    cpu_s: float
    rest_mb: float
    answered_mb: float
    first_answer_ms: float | None


async def start(data: Path, pages: Path | None, question: str | None) -> Start:
    """One start of the playground on `data`, one question over its socket where there is one, and a stop."""
    what = [str(pages)] if pages else ["--sample"]
    log = data.parent / "start.log"
    began = time.monotonic()
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *(FOOTNOTE, "playground", *what, "--port", "0", "--no-browser", "--data", data),
            env=environment(),
            stdout=output,
            stderr=output,
        )
    try:
        await until(lambda: _ready(process, log), seconds=START_S, pause=0.02)
        ready_s = time.monotonic() - began
        cpu_s, rest_mb = usage(process.pid)
        first_answer_ms = await _answered_ms(data, question) if question else None
        return Start(
            ready_s=ready_s,
            cpu_s=cpu_s,
            rest_mb=rest_mb,
            answered_mb=usage(process.pid)[1],
            first_answer_ms=first_answer_ms,
        )
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
            await process.wait()


@dataclass(frozen=True, kw_only=True, slots=True)
class WordsKnown:
    """Milliseconds: `opened_ms` until the index is open, its file of
    words read; `known_ms` from there until they are asked for.
    """

    opened_ms: float
    known_ms: float
    passages: int


async def words_known(runtime: Runtime) -> WordsKnown:
    """How long a start waits for how common words are on the pages.
    Nothing has been asked of the runtime's index before.
    """
    began = time.perf_counter()
    await runtime.index.counts()
    opened = time.perf_counter()
    await runtime.vocabulary.start()
    known = time.perf_counter()
    return WordsKnown(
        opened_ms=(opened - began) * 1000,
        known_ms=(known - opened) * 1000,
        passages=runtime.index.words.passages,
    )


async def _answered_ms(data: Path, question: str) -> float:
    reply = await RemoteSession(DataFolder(data).socket).ask(AskRequest(question=question))
    return float(reply.answer["timings_ms"]["total"])


def _ready(process: asyncio.subprocess.Process, log: Path) -> bool:
    said = log.read_text(encoding="utf-8", errors="replace")
    if process.returncode is not None:
        raise RuntimeError(f"footnote playground ended:\n{said}")
    return "Playground: http" in said


def usage(pid: int) -> tuple[float, float]:
    """CPU seconds and resident MB of a process, by `ps`: the same on Linux and macOS."""
    told = subprocess.run(
        ["ps", "-o", "time=,rss=", "-p", str(pid)], capture_output=True, text=True, check=True
    ).stdout.split()
    days, _, clock = told[0].rpartition("-")
    seconds = 0.0
    for part in clock.split(":"):
        seconds = seconds * 60 + float(part)
    return seconds + 86400 * int(days or 0), int(told[1]) / 1024
