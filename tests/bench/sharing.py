"""`python -m tests.bench.sharing`: what workers are worth to a sync, without a model.

pages through one worker and through two -> a sync alone and with a worker beside -> two syncs side by side, each alone

What is shared is reading, detecting the language, chunking and counting words; the way over Redis is what
it costs. A sync keeps listing its sources and writing the index to itself. Two syncs side by side tell
what the machine's second core is worth: more than that nobody can have of it. All are measured in turns.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from rich.console import Console

from ingest.distributed.page_queue import PageJobQueue
from ingest.distributed.serialization import PageJob, encode_manifest, manifest_key_of
from ingest.origin import Origin
from ingest.pipeline import PagePipeline
from ingest.sources.folder import FolderSource
from kb.config.settings import SourceSettings
from kb.index.embedded.index import EdgeIndex
from kb.retrieval.lexical import LexicalEncoder
from kb.store.valkey import EmbeddedValkey, connect_redis
from kb.text.language import warm_up
from tests.bench.pages import copy_sample
from tests.fakes.embedder import HashEmbedder
from tests.fakes.syncing import a_sync
from tests.fakes.waiting import until

COPIES = 20
ROUNDS = 3
ROOT = Path(__file__).parents[2]
console = Console()


@dataclass(kw_only=True)
class Rounds:
    """Seconds, one a round. `twice`: passages that somebody made although another did."""

    one_worker: list[float] = field(default_factory=list)
    two_workers: list[float] = field(default_factory=list)
    alone: list[float] = field(default_factory=list)
    shared: list[float] = field(default_factory=list)
    side_by_side: list[float] = field(default_factory=list)
    twice: int = 0


async def main() -> None:
    rounds = Rounds()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pages = copy_sample(COPIES, folder / "pages")
        valkey = EmbeddedValkey(folder / "valkey")
        await valkey.start()
        try:
            for number in range(ROUNDS):
                chunks = await _round(rounds, pages, folder / str(number), valkey.url)
        finally:
            await valkey.stop()
    one, two = median(rounds.one_worker), median(rounds.two_workers)
    alone, shared = median(rounds.alone), median(rounds.shared)
    for line in (
        f"{chunks} passages, no model; a second",
        f"  one worker {chunks / one:.0f}, two workers {chunks / two:.0f}: {one / two:.2f} x",
        f"  a sync alone {chunks / alone:.0f}, with a worker beside {chunks / shared:.0f}: {alone / shared:.2f} x",
        f"  two syncs side by side: {2 * alone / median(rounds.side_by_side):.2f} x of one",
        f"  passages done twice: {rounds.twice}",
    ):
        console.print(line, highlight=False)


async def _round(rounds: Rounds, pages: Path, folder: Path, url: str) -> int:
    (seconds, chunks), *_ = await _apart(pages, folder / "alone", 1)
    rounds.alone.append(seconds)
    both = await _apart(pages, folder / "both", 2)
    rounds.side_by_side.append(max(seconds for seconds, _ in both))
    seconds, made = await _shared(pages, folder / "shared", url)
    rounds.shared.append(seconds)
    rounds.twice += made - chunks
    for count, taken in ((1, rounds.one_worker), (2, rounds.two_workers)):
        seconds, made = await _drained(pages, url, count)
        taken.append(seconds)
        rounds.twice += made - chunks
    return chunks


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


async def _synced(pages: Path, folder: Path, queue: PageJobQueue | None = None) -> tuple[float, int]:
    """Seconds of a first sync, and the passages that this process embedded."""
    embedder = HashEmbedder()
    index = EdgeIndex(folder)
    await asyncio.to_thread(warm_up)
    started = time.perf_counter()
    await a_sync(pages, index, queue, embedder=embedder).run()
    seconds = time.perf_counter() - started
    await index.close()
    return seconds, sum(map(len, embedder.calls))


async def _shared(pages: Path, folder: Path, url: str) -> tuple[float, int]:
    """A sync with a worker that is ready before: seconds, and the passages that both embedded."""
    async with _queue(url) as queue:
        await _synced(_one_page(folder), folder / "first", queue)  # tells the worker what is wanted
        async with _workers(queue, url, 1) as told:
            seconds, ours = await _synced(pages, folder / "index", queue)
    return seconds, ours + sum(did["chunks"] for did in told)


async def _drained(pages: Path, url: str, count: int) -> tuple[float, int]:
    """So many workers, with all pages in their queue at once: seconds to
    the last outcome, and the passages they made.
    """
    pipeline = PagePipeline(embedder=HashEmbedder(), lexical=LexicalEncoder())
    manifest_key, run = manifest_key_of(pipeline.manifest), uuid.uuid4().hex
    source = FolderSource(SourceSettings(name="kb", path=pages, git_dates=False))
    jobs = [
        PageJob(id=ref.path, run=run, origin=Origin.of(source), raw=await source.fetch(ref))
        async for ref in source.discover()
    ]
    async with _queue(url) as queue, connect_redis(url) as redis:

        async def all_are_done() -> bool:
            return await redis.llen(f"bench:pages:done:{run}") == len(jobs)

        await queue.want(encode_manifest(pipeline.manifest), manifest_key)
        async with _workers(queue, url, count) as told:
            started = time.perf_counter()
            await queue.publish(jobs, manifest_key)
            await until(all_are_done, seconds=600, pause=0.05)
            seconds = time.perf_counter() - started
        await queue.finish(run)
    return seconds, sum(did["chunks"] for did in told)


@asynccontextmanager
async def _queue(url: str) -> AsyncIterator[PageJobQueue]:
    async with connect_redis(url) as redis:
        queue = PageJobQueue(redis, namespace="bench")
        yield queue
        await queue.close()


@asynccontextmanager
async def _workers(queue: PageJobQueue, url: str, count: int) -> AsyncIterator[list[dict[str, int]]]:
    """Ready when the block begins; what each did is in the list when it has ended."""
    command = (sys.executable, str(ROOT / "tests" / "fakes" / "page_worker.py"), url, "bench", "--fast")
    processes = [
        await asyncio.create_subprocess_exec(
            *command, stdout=asyncio.subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(ROOT)}
        )
        for _ in range(count)
    ]

    async def are_ready() -> bool:
        return await queue.workers() == count

    await until(are_ready, seconds=60)
    did: list[dict[str, int]] = []
    yield did
    for process in processes:
        process.terminate()
        output, _ = await process.communicate()
        did.append(json.loads(output.splitlines()[-1]))


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
