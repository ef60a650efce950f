"""The same passages by torch and by ONNX Runtime, in turns."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from kb.embed import Embedder
from kb.settings import EmbedSettings

PASSAGES = 96
TURNS = 3
QUERIES = 15
WAYS = {
    "torch fp32": EmbedSettings(backend="torch"),
    "onnx fp32": EmbedSettings(backend="onnx", precision="fp32"),
    "onnx int8": EmbedSettings(backend="onnx", precision="int8"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Speed:
    """`cosine`: of the passages' vectors with torch's, the mean. `query_ms`: p50 of a short question."""

    passages_per_s: float
    cosine: float
    query_ms: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Speeds:
    of: dict[str, Speed]

    def ratio(self, name: str) -> float:
        return self.of[name].passages_per_s / self.of["torch fp32"].passages_per_s


async def compare(passages: Sequence[str]) -> Speeds:
    """The medians of all turns over passages from everywhere in `passages`."""
    count = min(PASSAGES, len(passages))
    texts = [passages[at * len(passages) // count] for at in range(count)]
    embedders = {name: Embedder(settings) for name, settings in WAYS.items()}
    seconds: dict[str, list[float]] = {name: [] for name in WAYS}
    queries: dict[str, list[float]] = {name: [] for name in WAYS}
    vectors = {}
    for name, embedder in embedders.items():
        await embedder.embed_documents(texts[:2])  # loads it
        if name != f"{embedder.backend} {embedder.weights}":
            raise RuntimeError(f"{name} cannot be had here: {embedder.backend} {embedder.weights}")
    for turn in range(TURNS):
        for name, embedder in embedders.items():
            started = time.perf_counter()
            vectors[name] = await embedder.embed_documents(texts)
            seconds[name].append(time.perf_counter() - started)
            for number in range(QUERIES):
                started = time.perf_counter()
                await embedder.embed_queries([f"how many days of leave do I get in year {turn}{number}?"])
                queries[name].append((time.perf_counter() - started) * 1000)
    for embedder in embedders.values():
        embedder.close()
    return Speeds(
        of={
            name: Speed(
                passages_per_s=len(texts) / median(seconds[name]),
                cosine=float(np.mean(np.sum(vectors[name] * vectors["torch fp32"], axis=1))),
                query_ms=median(queries[name]),
            )
            for name in WAYS
        }
    )
