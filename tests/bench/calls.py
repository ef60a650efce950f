"""What an answer asks of the embedding model, and the same asked of the bare model.

The seam is where `Embedder` hands texts to sentence-transformers, behind its caches: what is recorded there is what the
model really did, batch by batch.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kb.embed import Embedder, Vectors
from kb.settings import EmbedSettings


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelCall:
    """One batch. `kind` is "query" or "document"."""

    kind: Any
    texts: tuple[str, ...]


@dataclass(kw_only=True)
class Recorded:
    """The calls of one answer, and the milliseconds that they took in the model's thread."""

    calls: list[ModelCall] = field(default_factory=list)
    model_ms: float = 0.0

    @property
    def texts(self) -> int:
        return sum(len(call.texts) for call in self.calls)


class RecordingEmbedder(Embedder):
    """The embedder itself; it also notes what it asks of the model."""

    def __init__(self, settings: EmbedSettings) -> None:
        super().__init__(settings)
        self.recorded = Recorded()

    def start(self) -> None:
        self.recorded = Recorded()

    def _encode(self, kind: Any, texts: Sequence[str]) -> Vectors:
        started = time.perf_counter()
        vectors = super()._encode(kind, texts)
        self.recorded.model_ms += (time.perf_counter() - started) * 1000
        self.recorded.calls.append(ModelCall(kind=kind, texts=tuple(texts)))
        return vectors

    async def bare_ms(self, calls: Sequence[ModelCall]) -> float:
        """Milliseconds of the same calls on the SentenceTransformer alone, in the same thread, one after the other."""
        return float(await asyncio.wrap_future(self._thread.submit(self._replay, calls)))

    def _replay(self, calls: Sequence[ModelCall]) -> float:
        model, size = self._load_here().model, self._settings.batch_size
        started = time.perf_counter()
        for call in calls:
            encode = model.encode_query if call.kind == "query" else model.encode_document
            encode(
                list(call.texts),
                batch_size=size,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        return (time.perf_counter() - started) * 1000
