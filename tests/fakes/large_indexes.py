"""Indexes of a few pages that count as large, what is in them by their vectors, and the process that quantizes them."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import psutil
import pytest

from kb.index.embedded import quantizing
from kb.index.embedded.index import EdgeIndex
from kb.index.embedded.quantizing import QUANTIZED
from kb.index.port import IndexedChunk, IndexManifest, QueryVectors, SparseVector
from kb.models import Audience
from tests.fakes.passages import a_passage

LARGE, PAGES = 60, 90
MANIFEST = IndexManifest(embedder="hash", dimension=16, chunker="v1")
VECTORS = np.random.default_rng(7).standard_normal((3 * PAGES, MANIFEST.dimension))
VECTORS /= np.linalg.norm(VECTORS, axis=1, keepdims=True)

_start = asyncio.create_subprocess_exec


class Written(Protocol):
    async def replace_pages(self, pages: Mapping[str, Sequence[IndexedChunk]]) -> None: ...


def count_as_large() -> None:
    """More than `LARGE` passages do, in this process."""
    quantizing.LARGE = LARGE * MANIFEST.dimension


async def start_stopped(*command: Any, **how: Any) -> asyncio.subprocess.Process:
    """In the place of `asyncio.create_subprocess_exec`: the process waits for SIGCONT."""
    process = await _start(*command, **how)
    process.send_signal(signal.SIGSTOP)
    return process


def ended(process: psutil.Process) -> bool:
    """Also where nobody has asked for its exit code yet."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def ends(process: psutil.Process, within_s: float = 120.0) -> bool:
    """Waits for it, also where it is nobody's child any more."""
    until = time.monotonic() + within_s
    while not ended(process) and time.monotonic() < until:
        time.sleep(0.05)
    return ended(process)


@asynccontextmanager
async def held(work: Awaitable[None]) -> AsyncIterator[tuple[asyncio.Task[None], psutil.Process]]:
    """The work under way and its quantizing process, which is stopped and goes on afterwards if it is still there."""
    children: asyncio.Queue[psutil.Process] = asyncio.Queue()

    async def start(*command: Any, **how: Any) -> asyncio.subprocess.Process:
        process = await start_stopped(*command, **how)
        children.put_nowait(psutil.Process(process.pid))
        return process

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio, "create_subprocess_exec", start)
        task = asyncio.ensure_future(work)
        started = asyncio.ensure_future(children.get())
        await asyncio.wait([task, started], return_when=asyncio.FIRST_COMPLETED)
        assert started.done(), "nothing was quantized"
    child = started.result()
    try:
        yield task, child
    finally:
        if not ended(child):
            child.resume()
        if not task.done():
            await task


def page(number: int, *, vector: int | None = None) -> dict[str, Sequence[IndexedChunk]]:
    """Page `number`, of one passage, by the vector of that number or of another one."""
    chunk = a_passage(f"{number} days of leave", title=f"Leave {number}", language="en")
    dense = VECTORS[number if vector is None else vector].tolist()
    terms = SparseVector(indices=(number % 7 + 1,), values=(1.0,))
    return {chunk.page.id: [IndexedChunk(chunk=chunk, dense=dense, lexical=terms)]}


async def put(into: Written, count: int) -> None:
    await into.replace_pages(
        {name: chunks for number in range(count) for name, chunks in page(number).items()}
    )


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
