"""Generations that are large enough to be quantized: by the real engine in a real process, which may be killed, or its parent."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import psutil
import pytest

from kb.calibration import Calibration
from kb.index import quantizing
from kb.index.copies import copy_index, differences
from kb.index.edge import EdgeIndex
from kb.index.port import IndexCounts, IndexedChunk, IndexManifest, QueryVectors, SparseVector, VectorIndex
from kb.index.quantizing import QUANTIZED
from kb.models import Audience
from tests.fakes.folders import copy_folder
from tests.fakes.passages import a_passage

LARGE = 60
PAGES = 90
MANIFEST = IndexManifest(embedder="hash", dimension=16, chunker="v1")
VECTORS = np.random.default_rng(7).standard_normal((3 * PAGES, MANIFEST.dimension))
VECTORS /= np.linalg.norm(VECTORS, axis=1, keepdims=True)

pytestmark = pytest.mark.usefixtures("large")


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantizing, "LARGE", LARGE * MANIFEST.dimension)


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EdgeIndex]:
    opened = EdgeIndex(tmp_path / "index", manifest=MANIFEST)
    yield opened
    await opened.close()


def page(number: int, *, vector: int | None = None) -> dict[str, Sequence[IndexedChunk]]:
    """Page `number`, of one passage, by the vector of that number or of another one."""
    chunk = a_passage(f"{number} days of leave", title=f"Leave {number}", language="en")
    dense = VECTORS[number if vector is None else vector].tolist()
    terms = SparseVector(indices=(number % 7 + 1,), values=(1.0,))
    return {chunk.page.id: [IndexedChunk(chunk=chunk, dense=dense, lexical=terms)]}


async def put(into: VectorIndex | object, count: int) -> None:
    for number in range(count):
        await into.replace_pages(page(number))  # type: ignore[attr-defined]


async def rebuilt(index: EdgeIndex, count: int = PAGES) -> None:
    rebuild = await index.begin_rebuild(MANIFEST)
    await put(rebuild, count)
    await rebuild.swap()


async def found(index: EdgeIndex, vector: int, limit: int = 10) -> dict[str, float]:
    """Titles and cosines of what is nearest to that vector, by the vectors alone."""
    query = QueryVectors(dense=VECTORS[vector].tolist(), lexical=SparseVector(indices=(), values=()))
    candidates = await index.search([query], audience=Audience(), limit=limit)
    return {one.chunk.page.title: one.dense[0] for one in candidates}


def exact(vector: int, rows: Sequence[int], limit: int = 10) -> dict[str, float]:
    """The same by all vectors: `rows[n]` is that of page n."""
    cosines = VECTORS[rows] @ VECTORS[vector]
    return {f"Leave {number}": cosines[number] for number in np.argsort(-cosines)[:limit]}


async def assert_exact(index: EdgeIndex, rows: Sequence[int]) -> None:
    for vector in range(0, len(VECTORS), 5):
        told, wanted = await found(index, vector), exact(vector, rows)
        assert told.keys() == wanted.keys()
        assert [told[title] for title in wanted] == pytest.approx(list(wanted.values()), abs=1e-5)


def live(folder: Path) -> Path:
    return folder / (folder / "CURRENT").read_text().strip()


def is_quantized(folder: Path) -> bool:
    """Whether the live generation is, as the engine itself has it."""
    settings = json.loads((live(folder) / "points" / "edge_config.json").read_text())
    told = settings.get("quantization_config") is not None
    assert told == (live(folder) / QUANTIZED).exists()
    return told


def generations(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_dir())


def quantizers(of: int | None = None) -> Iterator[psutil.Process]:
    for one in psutil.Process(of).children(recursive=True):
        try:
            if "kb.index.quantizer" in one.cmdline():
                yield one
        except psutil.NoSuchProcess:
            continue


@asynccontextmanager
async def held(work: Awaitable[None]) -> AsyncIterator[tuple[asyncio.Task[None], psutil.Process]]:
    """The work under way and its quantizing process, which was stopped and goes on afterwards if it is still there."""
    task = asyncio.ensure_future(work)
    while not (found := list(quantizers())):
        assert not task.done(), "nothing was quantized"
        await asyncio.sleep(0.005)
    (child,) = found
    child.suspend()
    try:
        yield task, child
    finally:
        if child.is_running() and child.status() != psutil.STATUS_ZOMBIE:
            child.resume()
        if not task.done():
            await task


async def test_a_large_rebuild_goes_live_quantized_and_finds_the_same(
    index: EdgeIndex, tmp_path: Path
) -> None:
    await rebuilt(index)
    folder = tmp_path / "index"
    assert is_quantized(folder)
    assert generations(folder) == [live(folder).name]
    assert await index.counts() == IndexCounts(pages=PAGES, chunks=PAGES)
    await assert_exact(index, range(PAGES))


async def test_a_small_one_stays_as_it_is(
    index: EdgeIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quantizing, "sys", None)  # there is no process to be had
    await rebuilt(index, LARGE)
    await index.settle()
    assert not is_quantized(tmp_path / "index")
    await assert_exact(index, range(LARGE))


async def test_writes_to_a_quantized_index_are_found_and_outlast_a_restart(
    index: EdgeIndex, tmp_path: Path
) -> None:
    await rebuilt(index)
    gone = next(iter(page(3)))
    await index.delete_pages([gone])
    await index.replace_pages(page(4, vector=PAGES + 4))
    await index.replace_pages(page(PAGES))
    rows = list(range(PAGES + 1))
    rows[4] = PAGES + 4
    for opened in (index, EdgeIndex(tmp_path / "index")):
        assert await opened.counts() == IndexCounts(pages=PAGES, chunks=PAGES)
        assert "Leave 3" not in await found(opened, 3, limit=PAGES)
        assert (await found(opened, PAGES, limit=1)).keys() == {f"Leave {PAGES}"}
        told = await found(opened, PAGES + 4, limit=1)
        assert told == {"Leave 4": pytest.approx(1.0, abs=1e-5)}
        assert gone not in await opened.revisions()
        await opened.count_words()
        assert opened.words.passages == PAGES
        await opened.close()


async def test_partly_quantized_vectors_are_searched_exactly(index: EdgeIndex) -> None:
    await rebuilt(index)
    for number in range(PAGES, PAGES + LARGE // 2):
        await index.replace_pages(page(number))
    for number in range(0, PAGES, 3):
        await index.replace_pages(page(number, vector=2 * PAGES + number))
    rows = list(range(PAGES + LARGE // 2))
    for number in range(0, PAGES, 3):
        rows[number] = 2 * PAGES + number
    await assert_exact(index, rows)


async def test_a_killed_quantizer_leaves_the_rebuild_to_go_live_as_it_was(
    index: EdgeIndex, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rebuild = await index.begin_rebuild(MANIFEST)
    await put(rebuild, PAGES)
    async with held(rebuild.swap()) as (task, child):
        child.kill()
        await task
    folder = tmp_path / "index"
    assert [record.message for record in caplog.records if record.levelname == "WARNING"] == [
        "index.not_quantized"
    ]
    assert not is_quantized(folder)
    assert generations(folder) == [live(folder).name]
    await assert_exact(index, range(PAGES))
    await index.settle()  # which does not try it again
    assert not is_quantized(folder)
    await rebuilt(index)  # and this does
    assert is_quantized(folder)


async def test_a_bot_killed_meanwhile_has_its_old_generation(index: EdgeIndex, tmp_path: Path) -> None:
    await rebuilt(index, LARGE)
    rebuild = await index.begin_rebuild(MANIFEST)
    await put(rebuild, PAGES)
    async with held(rebuild.swap()):
        copy_folder(tmp_path / "index", tmp_path / "killed")
    folder = tmp_path / "killed"
    assert [name for name in generations(folder) if name.startswith("making")]
    after = EdgeIndex(folder, manifest=MANIFEST)
    assert await after.counts() == IndexCounts(pages=LARGE, chunks=LARGE)
    await assert_exact(after, range(LARGE))
    before = live(folder).name
    await rebuilt(after)
    assert is_quantized(folder)
    assert generations(folder) == sorted([before, live(folder).name])
    await after.close()


async def test_a_real_bot_killed_meanwhile_may_leave_its_child_to_end_in_vain(tmp_path: Path) -> None:
    bot = await asyncio.create_subprocess_exec(sys.executable, "-c", _BOT, str(tmp_path / "index"))
    while not (children := list(quantizers(bot.pid))):
        assert bot.returncode is None, "it ended by itself"
        await asyncio.sleep(0.005)
    bot.send_signal(signal.SIGKILL)
    await bot.wait()
    index = EdgeIndex(tmp_path / "index", manifest=MANIFEST)
    assert await index.counts() == IndexCounts(pages=1, chunks=1)
    await rebuilt(index)
    assert is_quantized(tmp_path / "index")
    assert not psutil.wait_procs(children, timeout=60)[1]
    await assert_exact(index, range(PAGES))
    await rebuilt(index)
    assert not [name for name in generations(tmp_path / "index") if name.startswith("making")]
    await index.close()


_BOT = """
import asyncio, sys
from pathlib import Path
from kb.index import quantizing
from kb.index.edge import EdgeIndex
from tests.kb.index.test_large_generations import LARGE, MANIFEST, PAGES, page, put

async def main():
    quantizing.LARGE = LARGE * MANIFEST.dimension
    index = EdgeIndex(Path(sys.argv[1]), manifest=MANIFEST)
    await index.replace_pages(page(0))
    await index.settle()
    rebuild = await index.begin_rebuild(MANIFEST)
    await put(rebuild, PAGES)
    await rebuild.swap()

asyncio.run(main())
"""


async def test_a_cancelled_rebuild_takes_its_quantizer_with_it(index: EdgeIndex, tmp_path: Path) -> None:
    await rebuilt(index, LARGE)
    rebuild = await index.begin_rebuild(MANIFEST)
    await put(rebuild, PAGES)
    async with held(rebuild.swap()) as (task, child):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not child.is_running()
    await rebuild.discard()
    assert generations(tmp_path / "index") == [live(tmp_path / "index").name]
    assert await index.counts() == IndexCounts(pages=LARGE, chunks=LARGE)


async def test_an_index_that_grows_large_is_quantized_after_the_sync_and_keeps_its_way_back(
    index: EdgeIndex, tmp_path: Path
) -> None:
    await rebuilt(index, 5)
    await rebuilt(index, 1)
    for number in range(PAGES):
        await index.replace_pages(page(number))
    await index.calibrate(Calibration(passages=PAGES))
    await index.settle()
    folder = tmp_path / "index"
    assert is_quantized(folder)
    quantized = live(folder)
    await assert_exact(index, range(PAGES))
    assert await index.calibration() == Calibration(passages=PAGES)
    await index.settle()  # nothing came since
    assert live(folder) == quantized
    previous = await index.open_previous()
    assert previous is not None
    assert await previous.counts() == IndexCounts(pages=5, chunks=5)
    await previous.discard()
    for number in range(PAGES, PAGES + LARGE + 1):
        await index.replace_pages(page(number))
    await index.settle()
    assert live(folder) != quantized
    assert is_quantized(folder)


async def test_what_is_written_while_the_live_one_is_quantized_is_not_lost(
    index: EdgeIndex, tmp_path: Path
) -> None:
    for number in range(PAGES):
        await index.replace_pages(page(number))
    async with held(index.settle()):
        await index.delete_pages([*page(0)])
        assert len(await found(index, 1)) == 10
    assert not is_quantized(tmp_path / "index")
    assert await index.counts() == IndexCounts(pages=PAGES - 1, chunks=PAGES - 1)
    await index.settle()
    assert is_quantized(tmp_path / "index")
    assert await index.counts() == IndexCounts(pages=PAGES - 1, chunks=PAGES - 1)


async def test_the_way_back_is_taken_as_it_is(index: EdgeIndex, tmp_path: Path) -> None:
    await rebuilt(index, LARGE)
    for number in range(PAGES):
        await index.replace_pages(page(number))
    rebuild = await index.begin_rebuild(MANIFEST)
    await put(rebuild, 1)
    await rebuild.swap()
    previous = await index.open_previous()
    assert previous is not None
    await previous.swap()
    assert not is_quantized(tmp_path / "index")
    assert await index.counts() == IndexCounts(pages=PAGES, chunks=PAGES)


async def test_a_copy_of_a_large_index_is_quantized_and_the_same(index: EdgeIndex, tmp_path: Path) -> None:
    await rebuilt(index, 2)
    await rebuilt(index)
    copy = EdgeIndex(tmp_path / "copy")
    await copy_index(index, copy, label="x", tell=lambda _: None)
    assert is_quantized(tmp_path / "copy")
    pages = list(await index.revisions())
    assert differences(await index.stored(pages), await copy.stored(pages)) == []
    assert await copy.others(["x:live", "x:previous"]) == generations(tmp_path / "copy")
    previous = await copy.open_previous()
    assert previous is not None
    assert await previous.counts() == IndexCounts(pages=2, chunks=2)
    await previous.discard()
    await copy.close()


async def test_a_disk_without_room_for_a_copy(
    index: EdgeIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rebuild = await index.begin_rebuild(MANIFEST)
    await put(rebuild, PAGES)
    monkeypatch.setattr(quantizing, "ROOM_TO_WRITE", 1 << 60)
    await rebuild.swap()
    assert not is_quantized(tmp_path / "index")
    await assert_exact(index, range(PAGES))


async def test_words_are_known_after_a_restart_without_counting_anew(
    index: EdgeIndex, tmp_path: Path
) -> None:
    await rebuilt(index)
    await index.close()
    again = EdgeIndex(tmp_path / "index")
    assert await again.manifest() == MANIFEST
    assert again.words.passages == PAGES
    await again.close()
