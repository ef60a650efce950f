"""`python -m tests.bench.sharing`: a sync alone, and with one worker beside it, without a model.

What is shared is reading, detecting the language, chunking and counting words; the way over Redis is what it costs. Two syncs
side by side, each alone, tell what the machine's second core is worth: more than that nobody can have of it. All are measured
in turns.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from rich.console import Console

from ingest.crew.coordinator import Crew
from ingest.crew.lane import PageLane
from kb.index.edge import EdgeIndex
from kb.text.language import warm_up
from kb.valkey import EmbeddedValkey, connect_redis
from tests.bench.pages import copy_sample
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
        pages = copy_sample(COPIES, folder / "pages")
        valkey = EmbeddedValkey(folder / "valkey")
        await valkey.start()
        alone: list[float] = []
        side_by_side: list[float] = []
        shared: list[float] = []
        chunks = twice = 0
        try:
            for number in range(ROUNDS):
                (seconds, chunks), *_ = await _apart(pages, folder / f"{number}-alone", 1)
                alone.append(seconds)
                both = await _apart(pages, folder / f"{number}-both", 2)
                side_by_side.append(max(seconds for seconds, _ in both))
                seconds, embedded = await _shared(pages, folder / f"{number}-shared", valkey.url)
                shared.append(seconds)
                twice += embedded - chunks
        finally:
            await valkey.stop()
    one, two, ceiling = median(alone), median(shared), median(side_by_side)
    console.print(
        f"{chunks} passages, no model: {chunks / one:.0f} a second alone, {chunks / two:.0f} with a worker beside: "
        f"{one / two:.2f} x; two syncs side by side do {2 * one / ceiling:.2f} x; passages done twice: {twice}",
        soft_wrap=True,
    )


async def _apart(pages: Path, folder: Path, syncs: int) -> list[tuple[float, int]]:
    """Syncs at the same time, each in a process of its own into an index of its own: seconds and passages of each."""
    processes = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.bench.sharing", str(pages), str(folder / str(number))),
            stdout=asyncio.subprocess.PIPE,
            cwd=ROOT,
        )
        for number in range(syncs)
    ]
    told = [await process.communicate() for process in processes]
    return [tuple(json.loads(output)) for output, _ in told]


async def _synced(pages: Path, folder: Path, lane: PageLane | None = None) -> tuple[float, int]:
    """Seconds of a first sync, and the passages that this process embedded."""
    embedder = HashEmbedder()
    index = EdgeIndex(folder)
    await asyncio.to_thread(warm_up)
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


def _one_page(folder: Path) -> Path:
    pages = folder / "one"
    pages.mkdir(parents=True)
    (pages / "a.md").write_text("# A page\n\nText.\n", encoding="utf-8")
    return pages


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(asyncio.run(_synced(Path(sys.argv[1]), Path(sys.argv[2])))))
    else:
        asyncio.run(main())
