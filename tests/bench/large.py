"""`python -m tests.bench.large DATA PAGES`: syncs a large folder in a process of its own, whose memory is watched."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from bot.cli.composition.runtime import open_runtime
from bot.cli.composition.sources import sample_folder
from bot.cli.session.local import LocalSession
from bot.cli.session.requests import IngestRequest
from kb.config.configuration import load_settings
from tests.bench.pages import write_pages

LOOK_S = 0.5
"""Between two looks at the memory."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Large:
    """`peak_mb`: the most that the process, its readers and its store had in memory together; `readers_mb` of that
    is not the process itself."""

    pages: int
    passages: int
    seconds: float
    peak_mb: float
    readers_mb: float


def peak_of(count: int, pages: Path | None, folder: Path) -> Large:
    """Writes `count` short pages of real text and syncs them."""
    written = folder / "pages"
    write_pages(count, pages or sample_folder(), written)
    print(f"syncing {count} pages ...", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "tests.bench.large", str(folder / "data"), str(written)]
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        total, own = _watched(process)
        output = process.stdout.read() if process.stdout else ""
    if process.returncode != 0:
        raise RuntimeError(f"the sync of {count} pages failed")
    told = json.loads(output)
    return Large(
        pages=told["pages"],
        passages=told["passages"],
        seconds=time.perf_counter() - started,
        peak_mb=total,
        readers_mb=total - own,
    )


def _watched(process: subprocess.Popen[str]) -> tuple[float, float]:
    """MB of the whole tree of processes at its peak, and of its root then."""
    peak, own, root = 0.0, 0.0, psutil.Process(process.pid)
    while process.poll() is None:
        sizes = []
        for one in (root, *root.children(recursive=True)):
            try:
                sizes.append(one.memory_info().rss / 2**20)
            except psutil.NoSuchProcess:
                continue
        if sizes and sum(sizes) > peak:
            peak, own = sum(sizes), sizes[0]
        time.sleep(LOOK_S)
    return peak, own


async def _sync(data: Path, pages: Path) -> dict[str, int]:
    settings = load_settings(environ={}, data=data, rerank={"model": "off"}, model={"provider": "none"})
    async with open_runtime(settings, "bench", models=True) as runtime:
        async for step in LocalSession(runtime).ingest(IngestRequest(paths=(pages,))):
            if step.phase == "failed":
                raise RuntimeError(step.error)
        counts = await runtime.index.counts()
    return {"pages": counts.pages, "passages": counts.chunks}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_sync(Path(sys.argv[1]), Path(sys.argv[2])))))
