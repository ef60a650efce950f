"""Large indexes for `tests.bench.large_index`: real passages, and variants of them that are the same in every run.

    WORK/pages/         the pages that were given, synced by Footnote itself with its own embedder
    WORK/N/plain/       an index of N passages as it is written, without quantization
    WORK/N/vectors.npy  their dense vectors, of length 1, shape (N, dimension)
    WORK/N/ids.txt      their ids, a line each

Passages of the pages come first, then those of the data set, once; the others are variants of the pages'. A variant
has the text, the terms and the page of its passage, under other ids. Its vector is mixed with that of another passage
(up to one half) and with noise of .2 to .5 of its length. One page in a hundred of the variants is for one channel.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bot.cli.composition.runtime import open_runtime
from bot.cli.session.local import LocalSession
from bot.cli.session.requests import IngestRequest
from kb.config.configuration import load_settings
from kb.config.model_settings import EmbedSettings
from kb.config.settings import Settings
from kb.evaluation.corpus import corpus_chunks, corpus_manifest
from kb.evaluation.datasets import read_data_set
from kb.index.embedded.generations import Generations
from kb.index.embedded.shard import Shard
from kb.index.embedded.steps import steps
from kb.index.port import IndexedChunk
from kb.inference.embedder import Embedder
from kb.retrieval.lexical import LexicalEncoder
from tests.bench.large_forms import PLAIN

CHANNEL = "C0BENCH"
ONE_IN = 100
MOST_MIXED = 0.5
LEAST_NOISE, MOST_NOISE = 0.2, 0.5
QUESTIONS, WORDS = 60, 3
"""Questions, and how many words each has at least."""
READ_TOGETHER = 100
"""Pages."""
TOLD = 10_000
"""Passages between two lines on how far it is."""

Pages = Sequence[Sequence[IndexedChunk]]
Vector = NDArray[np.float32]


def settings_of(data: Path, model: str) -> Settings:
    return load_settings(
        environ={}, data=data, rerank={"model": "off"}, model={"provider": "none"}, embed={"model": model}
    )


async def synced(work: Path, folders: Sequence[Path], model: str) -> Pages:
    """The passages of the pages in `folders`, by page; what an earlier run synced is taken as it is."""
    data = work / "pages"
    if not (data / "done").exists():
        settings = settings_of(data, model)
        async with open_runtime(settings, "bench", models=True) as runtime:
            async for step in LocalSession(runtime).ingest(IngestRequest(paths=tuple(folders))):
                if step.phase == "failed":
                    raise RuntimeError(step.error)
        (data / "done").touch()
    return _read(data / "index")


def _read(index: Path) -> Pages:
    generations = Generations(index)
    shard = Shard.load(generations.path(generations.current() or 0))
    pages: dict[str, list[IndexedChunk]] = {}
    names = sorted(shard.inventory())
    for first in range(0, len(names), READ_TOGETHER):
        for one in shard.stored(names[first : first + READ_TOGETHER]):
            pages.setdefault(one.chunk.page.id, []).append(one)
    shard.close(keep=False)
    return [sorted(pages[name], key=lambda one: one.chunk.position) for name in names]


async def embedded(data_set: Path, model: str) -> Pages:
    """The passages of a data set of conversations, by page."""
    embedder, lexical = Embedder(EmbedSettings(model=model)), LexicalEncoder()
    try:
        pages = [chunks for _, chunks in corpus_chunks(read_data_set(data_set))]
        vectors = iter(await embedder.embed_documents([one.embedded_text for page in pages for one in page]))
    finally:
        embedder.close()
    return [
        [
            IndexedChunk(
                chunk=one,
                dense=next(vectors).tolist(),
                lexical=lexical.document(one.embedded_text, one.page.language),
            )
            for one in page
        ]
        for page in pages
    ]


async def make(
    work: Path, folder: Path, count: int, pages: Sequence[Path], data_set: Path | None, model: str
) -> None:
    """The index of `count` passages in `folder`, unless it is there, its vectors, and the questions to ask."""
    plain = folder / PLAIN
    if (plain / "made.json").exists():
        return
    real = await synced(work, pages, model)
    once = await embedded(data_set, model) if data_set is not None else []
    print(
        f"{sum(map(len, real)):,} passages of pages, {sum(map(len, once)):,} of the data set", file=sys.stderr
    )
    shutil.rmtree(folder, ignore_errors=True)
    plain.mkdir(parents=True)
    (folder / "questions.json").write_text(json.dumps(headings(real)), encoding="utf-8")
    started, cpu = time.perf_counter(), time.process_time()
    ids, vectors, taken = _write(plain, count, real, once, Embedder(EmbedSettings(model=model)).name)
    told = {"seconds": time.perf_counter() - started - taken, "cpu_s": time.process_time() - cpu - taken}
    files = [file.stat() for file in plain.rglob("*") if file.is_file()]
    told |= {
        "peak_mb": 0.0,
        "anon_peak_mb": 0.0,
        "disk_mb": sum(one.st_blocks * 512 for one in files) / 2**20,
    }
    np.save(folder / "vectors.npy", vectors)
    (folder / "ids.txt").write_text("\n".join(ids), encoding="utf-8")
    (plain / "made.json").write_text(json.dumps(told), encoding="utf-8")


def headings(pages: Pages) -> list[str]:
    """Of several words, from all over the pages."""
    found = sorted({one.chunk.section[-1] for page in pages for one in page if one.chunk.section})
    several = [one for one in found if len(one.split()) >= WORDS]
    return several[:: max(1, len(several) // QUESTIONS)][:QUESTIONS]


def _write(
    plain: Path, count: int, pages: Pages, once: Pages, embedder: str
) -> tuple[list[str], Vector, float]:
    """Ids and vectors of what was written, and the seconds of a processor that making the variants took."""
    generations = Generations(plain)
    live = generations.reserve()
    dimension = len(pages[0][0].dense)
    shard = Shard.create(generations.path(live), corpus_manifest(embedder=embedder, dimension=dimension))
    vectors = np.zeros((count, dimension), dtype=np.float32)
    ids: list[str] = []
    taken, last = 0.0, time.process_time()
    for page in _pages(count, pages, once):
        vectors[len(ids) : len(ids) + len(page)] = [one.dense for one in page]
        if len(ids) // TOLD != (len(ids) + len(page)) // TOLD:
            print(f"{len(ids) + len(page):,} of {count:,} passages", file=sys.stderr, flush=True)
        ids += [one.chunk.id for one in page]
        taken += time.process_time() - last
        for step in steps({page[0].chunk.page.id: page}):
            step(shard)
        last = time.process_time()
    shard.close()
    generations.commit(live)
    return ids, vectors, taken


def _pages(count: int, pages: Pages, once: Pages) -> Iterator[Sequence[IndexedChunk]]:
    """Of `count` passages together: the last page is cut where it has more than are wanted."""
    left = count
    for page in _without_end(pages, once):
        yield page[:left]
        left -= len(page[:left])
        if not left:
            return


def _without_end(pages: Pages, once: Pages) -> Iterator[Sequence[IndexedChunk]]:
    yield from pages
    yield from once
    flat = np.array([one.dense for page in pages for one in page], dtype=np.float32)
    variant = 0
    while True:
        variant += 1
        first = 0
        for number, page in enumerate(pages):
            rows = np.arange(first, first + len(page))
            first += len(page)
            random = np.random.default_rng((variant, number))
            vectors = mixed(flat[rows], flat[(rows + variant) % len(flat)], random)
            private = (number + 37 * variant) % ONE_IN == 0
            yield [_variant(one, vector, variant, private) for one, vector in zip(page, vectors, strict=True)]


def mixed(vectors: Vector, others: Vector, random: np.random.Generator) -> Vector:
    """Of shape (passages, dimension), each of length 1."""
    share = random.uniform(0, MOST_MIXED, size=(len(vectors), 1))
    noise = random.standard_normal(vectors.shape)
    noise *= random.uniform(LEAST_NOISE, MOST_NOISE, size=(len(vectors), 1)) / np.linalg.norm(
        noise, axis=1, keepdims=True
    )
    both = (1 - share) * vectors + share * others
    both = both / np.linalg.norm(both, axis=1, keepdims=True) + noise
    made: Vector = (both / np.linalg.norm(both, axis=1, keepdims=True)).astype(np.float32)
    return made


def _variant(one: IndexedChunk, vector: Vector, number: int, private: bool) -> IndexedChunk:
    page = replace(one.chunk.page, id=f"{one.chunk.page.id}~{number}")
    if private:
        page = replace(page, audience=(CHANNEL,))
    chunk = replace(one.chunk, id=f"{one.chunk.id}~{number}", page=page)
    return replace(one, chunk=chunk, dense=vector.tolist())
