"""The same passages by torch and by ONNX Runtime, and by all-MiniLM-L6-v2, multilingual-e5-small and both, in turns."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from kb.config.model_settings import EmbedSettings
from kb.inference.e5.file import packaged_file
from kb.inference.embedder import Embedder

PASSAGES = 96
TURNS = 3
QUERIES = 15
MINILM, E5 = "all-MiniLM-L6-v2", "multilingual-e5-small"
ALONE, JOINED = "onnx fp32", "multilingual"


@dataclass(frozen=True, kw_only=True, slots=True)
class Way:
    """`embedder`: what it must call itself, lest another be measured. `exact`: the way whose vectors are right."""

    settings: EmbedSettings
    embedder: str
    exact: str | None


def ways() -> dict[str, Way]:
    found = {
        "torch fp32": Way(
            settings=EmbedSettings(model=MINILM, backend="torch"),
            embedder=f"torch {MINILM}",
            exact="torch fp32",
        ),
        ALONE: Way(settings=EmbedSettings(model=MINILM), embedder=f"onnx {MINILM}", exact="torch fp32"),
        "onnx int8": Way(
            settings=EmbedSettings(model=MINILM, precision="int8"),
            embedder=f"onnx {MINILM} int8",
            exact="torch fp32",
        ),
    }
    if packaged_file() is None:
        return found
    exact, fast = EmbedSettings(model=E5, precision="fp32"), EmbedSettings(model=E5)
    return found | {
        "e5 fp32": Way(settings=exact, embedder=f"onnx {E5}", exact="e5 fp32"),
        "e5 int8": Way(settings=fast, embedder=f"onnx {E5} int8", exact="e5 fp32"),
        JOINED: Way(settings=EmbedSettings(model=JOINED), embedder=f"onnx {MINILM} + {E5} int8", exact=None),
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class Speed:
    """`cosine`: of the passages' vectors with the exact ones, the mean. `query_ms`: p50 of a short question."""

    passages_per_s: float
    cosine: float | None
    query_ms: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Speeds:
    of: dict[str, Speed]

    def ratio(self, name: str, to: str = "torch fp32") -> float:
        return self.of[name].passages_per_s / self.of[to].passages_per_s


async def compare(passages: Sequence[str]) -> Speeds:
    """The medians of all turns over passages from everywhere in `passages`."""
    count = min(PASSAGES, len(passages))
    texts = [passages[at * len(passages) // count] for at in range(count)]
    compared = ways()
    embedders = {name: Embedder(way.settings) for name, way in compared.items()}
    seconds: dict[str, list[float]] = {name: [] for name in compared}
    queries: dict[str, list[float]] = {name: [] for name in compared}
    vectors = {}
    for name, embedder in embedders.items():
        await embedder.embed_documents(texts[:2])  # loads it
        if f"{embedder.backend} {embedder.name}" != compared[name].embedder:
            raise RuntimeError(f"{name} cannot be had here: {embedder.backend} {embedder.name}")
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
                cosine=None
                if way.exact is None
                else float(np.mean(np.sum(vectors[name] * vectors[way.exact], axis=1))),
                query_ms=median(queries[name]),
            )
            for name, way in compared.items()
        }
    )
