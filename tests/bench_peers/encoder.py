"""The model as the peers run it, each behind its own library's class for an embedding model.

By ONNX Runtime it is Footnote's own conversion and Footnote's own way of running it: batches of like
length, a thread a core. By sentence-transformers it is what the libraries' own integrations call.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tests.bench_peers.driver import ENCODER, MODEL, Meter
from tests.bench_peers.vectors import KnownVectors

DIMENSION = 384
BATCH = 256
"""Passages that a library is told to embed in one call, where it can be told: as many as Footnote does."""


class Encoder(Protocol):
    name: str

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (texts, `DIMENSION`); rows have length 1."""


def load_encoder(meter: Meter) -> Encoder:
    folder = Path(os.environ[MODEL])
    return Known(SentenceTransformers(folder) if os.environ[ENCODER] == "torch" else Onnx(folder), meter)


class Known:
    """Counts embedding, and leaves out the passages whose vectors are kept."""

    def __init__(self, encoder: Encoder, meter: Meter) -> None:
        self.name = encoder.name
        self._encoder = encoder
        self._meter = meter
        self._vectors = KnownVectors()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        with self._meter.counting():
            vectors = self._vectors.of(texts)
            if vectors is None:
                vectors = self._encoder.encode(texts)
                if len(texts) > 1:  # no question
                    self._vectors.keep(texts, vectors)
        return vectors


class Onnx:
    name = "ONNX Runtime"
    room, most = 500, 32
    """Characters and texts of a batch, as `kb.inference` has them."""

    def __init__(self, folder: Path) -> None:
        from kb.inference.executor import usable_cores
        from kb.inference.onnx.converted import read_card
        from kb.inference.onnx.running import OnnxModel

        card = read_card(folder)
        if card is None:
            raise SystemExit(f"{folder} holds no converted model")
        self._model = OnnxModel(folder, card, "fp32")
        self._pool = ThreadPoolExecutor(usable_cores())

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.empty((len(texts), DIMENSION), dtype=np.float32)
        batches = list(self._batches(texts))
        encoded = self._pool.map(lambda batch: self._model.run([texts[at] for at in batch]), batches)
        for batch, rows in zip(batches, encoded, strict=True):
            vectors[batch] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return vectors

    def _batches(self, texts: Sequence[str]) -> Iterator[list[int]]:
        """Places in `texts`, the longest first."""
        batch: list[int] = []
        for at in sorted(range(len(texts)), key=lambda at: -len(texts[at])):
            if batch and (len(batch) == self.most or (len(batch) + 1) * len(texts[batch[0]]) > self.room):
                yield batch
                batch = []
            batch.append(at)
        if batch:
            yield batch


class SentenceTransformers:
    name = "sentence-transformers (torch)"

    def __init__(self, folder: Path) -> None:
        from sentence_transformers import SentenceTransformer

        self._model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = self._model.encode(
            list(texts), normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)
