"""Pages, passages and queries for the contract of a vector index, and a writer that is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import numpy as np
import pytest
from qdrant_client import models

from kb.calibration import Calibration
from kb.index.port import (
    IndexedChunk,
    IndexManifest,
    QueryVectors,
    SparseVector,
    VectorIndex,
)
from kb.models import EVERYONE, Audience, Chunk, Page

DIMENSION = 8


MANIFEST = IndexManifest(embedder="tiny", dimension=DIMENSION, chunker="v1")


STRICT = models.StrictModeConfig(
    enabled=True,
    max_query_limit=1000,
    unindexed_filtering_retrieve=False,
    unindexed_filtering_update=False,
    upsert_max_batchsize=500,
)
"""As Qdrant Cloud sets it, and a little stricter."""


TERMS = ["leave", "holiday", "laptop", "price", "shipping", "salary"]


EVERYBODY = Audience()


def a_page(page_id: str, *, audience: tuple[str, ...] = (EVERYONE,), **fields: object) -> Page:
    return Page(
        id=page_id,
        source="handbook",
        path=f"{page_id}.md",
        url=f"https://kb.example/{page_id}",
        audience=audience,
        **{"title": page_id.title(), "language": "en", "revision": "r1", **fields},
    )


def a_chunk(page: Page, position: int, text: str) -> IndexedChunk:
    """Passages about the same terms lie close to each other in the dense space as well."""
    chunk = Chunk(id=f"{page.id}#{position}", page=page, position=position, text=text, url=page.url)
    return IndexedChunk(chunk=chunk, dense=dense(text), lexical=lexical(text))


def dense(text: str) -> list[float]:
    vector = np.full(DIMENSION, 0.05)
    for at, term in enumerate(TERMS):
        vector[at] += text.count(term)
    return list(vector / np.linalg.norm(vector))


def lexical(text: str) -> SparseVector:
    present = [at for at, term in enumerate(TERMS) if term in text]
    return SparseVector(indices=tuple(present), values=tuple(float(text.count(TERMS[at])) for at in present))


def a_query(text: str) -> QueryVectors:
    return QueryVectors(dense=dense(text), lexical=lexical(text))


async def put(index: VectorIndex, page: Page, *texts: str) -> None:
    await index.replace_pages({page.id: [a_chunk(page, at, text) for at, text in enumerate(texts)]})


async def found(index: VectorIndex, text: str, audience: Audience = EVERYBODY, **more: object) -> set[str]:
    hits = await index.search([a_query(text)], audience=audience, **{"limit": 20, **more})
    return {hit.chunk.id for hit in hits}


MakeIndex = Callable[[IndexManifest | None], VectorIndex]


server_in_a_series = pytest.mark.parametrize(
    "make_index", ["edge", pytest.param("server", marks=pytest.mark.series)], indirect=True
)
"""For searches as many as fit beside writes: `test_server_index.py` looks after every so many points instead."""


def write_until_killed(folder: Path, *, after: int) -> Sequence[str]:
    """Runs a writer in a process of its own and kills it, mid-write, once it has reported `after` pages."""
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    reported = []
    with process.stdout:
        for line in process.stdout:
            reported.append(json.loads(line))
            if len(reported) == after:
                process.send_signal(signal.SIGKILL)
                break
        reported += [json.loads(line) for line in process.stdout if line.endswith("\n")]
    process.wait()
    return reported


WRITER = """
import asyncio, json, sys
from pathlib import Path
from kb.index.embedded.index import EdgeIndex
from tests.contract import indexes as suite

async def main():
    index = EdgeIndex(Path(sys.argv[1]), manifest=suite.MANIFEST)
    await suite.put(index, suite.a_page("first"), "leave", "holiday")
    rebuild = await index.begin_rebuild(suite.MANIFEST)
    for at in range(100_000):
        page = suite.a_page(f"page-{at}")
        await suite.put(rebuild, page, "leave")
        await suite.put(index, page, "leave", "leave price")
        print(json.dumps(page.id), flush=True)

asyncio.run(main())
"""


LEADS = Audience(channels=frozenset({"#leads"}))


async def near(
    index: VectorIndex, audience: Audience = EVERYBODY, **spots: Collection[int]
) -> dict[str, list[str]]:
    """Page id -> the texts that came, by position."""
    chunks = await index.neighbours(spots, audience=audience)
    texts: dict[str, list[str]] = {}
    for chunk in sorted(chunks, key=lambda one: one.position):
        texts.setdefault(chunk.page.id, []).append(chunk.text)
    return texts


def measured(passages: int = 3, **parts: object) -> Calibration:
    return Calibration(passages=passages, **parts)
