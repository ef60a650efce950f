"""`python -m tests.bench.sharing`: a sync alone, and with one worker beside it, without a model.

What is shared is reading, detecting the language, chunking and counting words; the way over Redis is what it costs. Pages are
copies of the sample handbook's, each its own. Both are measured in turns; two cores are needed for the figure to mean anything.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from importlib.resources import as_file, files
from pathlib import Path
from statistics import median

from rich.console import Console

from ingest.crew.coordinator import Crew
from ingest.crew.lane import PageLane
from kb.index.edge import EdgeIndex
from kb.valkey import EmbeddedValkey, connect_redis
from tests.fakes.embedder import HashEmbedder
from tests.fakes.syncing import a_sync
from tests.fakes.waiting import until

COPIES = 20
ROUNDS = 3
ROOT = Path(__file__).parents[2]
console = Console()


async def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pages = _pages(folder / "pages")
        valkey = EmbeddedValkey(folder / "valkey")
        await valkey.start()
        alone: list[float] = []
        shared: list[float] = []
        chunks = twice = 0
        try:
            for number in range(ROUNDS):
                seconds, chunks = await _synced(pages, folder / f"{number}-alone")
                alone.append(seconds)
                seconds, embedded = await _shared(pages, folder / f"{number}-shared", valkey.url)
                shared.append(seconds)
                twice += embedded - chunks
        finally:
            await valkey.stop()
    one, two = median(alone), median(shared)
    console.print(
        f"{chunks} passages, no model: {chunks / one:.0f} a second alone, {chunks / two:.0f} with a worker beside: "
        f"{one / two:.2f} x; passages done twice: {twice}"
    )


async def _synced(pages: Path, folder: Path, lane: PageLane | None = None) -> tuple[float, int]:
    """Seconds of a first sync, and the passages that this process embedded."""
    embedder = HashEmbedder()
    index = EdgeIndex(folder)
    started = time.perf_counter()
    await a_sync(pages, index, Crew(lane), embedder=embedder).run()
    seconds = time.perf_counter() - started
    await index.close()
    return seconds, sum(map(len, embedder.calls))


async def _shared(pages: Path, folder: Path, url: str) -> tuple[float, int]:
    """The same with a worker that is ready before: seconds, and the passages that both embedded."""
    async with connect_redis(url) as redis:
        lane = PageLane(redis, namespace="bench")
        worker = await _worker(url)

        async def is_ready() -> bool:
            return await lane.helpers() > 0

        await _synced(_one_page(folder), folder / "first", lane)  # tells the worker what is wanted
        await until(is_ready, seconds=60)
        seconds, ours = await _synced(pages, folder / "index", lane)
        worker.terminate()
        told, _ = await worker.communicate()
        await lane.close()
    return seconds, ours + json.loads(told.splitlines()[-1])["chunks"]


async def _worker(url: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        str(ROOT / "tests" / "fakes" / "page_worker.py"),
        url,
        "bench",
        "--fast",
        stdout=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )


def _pages(folder: Path) -> Path:
    with as_file(files("ingest") / "sample" / "handbook") as handbook:
        for copy in range(COPIES):
            for page in handbook.rglob("*.md"):
                to = folder / str(copy) / page.relative_to(handbook)
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes(page.read_bytes())
    return folder


def _one_page(folder: Path) -> Path:
    pages = folder / "one"
    pages.mkdir(parents=True)
    (pages / "a.md").write_text("# A page\n\nText.\n", encoding="utf-8")
    return pages


if __name__ == "__main__":
    asyncio.run(main())
