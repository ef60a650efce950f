"""What an answer asks of the embedding model, and the same asked of the bare model.

The seam is where `Embedder` hands texts to what runs the model, behind its caches: what is recorded there is what the
model really did, batch by batch. Batches run at the same time where the model lets them, in the bare calls too.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from kb.config.model_settings import EmbedSettings
from kb.inference.embedder import Embedder
from kb.inference.embedding_model import EmbeddingModel
from kb.inference.encoders import Vectors


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelCall:
    """One batch of one model. `kind` is "query" or "document"."""

    model: EmbeddingModel
    kind: Any
    texts: tuple[str, ...]


@dataclass(kw_only=True)
class Recorded:
    """The calls of one answer, and when each began and ended, in seconds."""

    calls: list[ModelCall] = field(default_factory=list)
    spans: list[tuple[float, float]] = field(default_factory=list)

    @property
    def texts(self) -> int:
        return sum(len(call.texts) for call in self.calls)

    @property
    def model_ms(self) -> float:
        """Milliseconds in which the model was at work, in one thread or in several."""
        total, reached = 0.0, 0.0
        for began, ended in sorted(self.spans):
            total += max(0.0, ended - max(began, reached))
            reached = max(reached, ended)
        return total * 1000


class RecordingEmbedder(Embedder):
    """The embedder itself; it also notes what it asks of the model."""

    def __init__(self, settings: EmbedSettings) -> None:
        super().__init__(settings)
        self.recorded = Recorded()

    def start(self) -> None:
        self.recorded = Recorded()

    def _encode(self, model: EmbeddingModel, kind: Any, texts: Sequence[str]) -> Vectors:
        began = time.perf_counter()
        vectors = super()._encode(model, kind, texts)
        self.recorded.spans.append((began, time.perf_counter()))
        self.recorded.calls.append(ModelCall(model=model, kind=kind, texts=tuple(texts)))
        return vectors

    async def bare_ms(self, calls: Sequence[ModelCall]) -> float:
        """Milliseconds of the same calls on the models alone: one kind after the other, those of a kind together."""
        started = time.perf_counter()
        for _, together in itertools.groupby(calls, key=lambda call: call.kind):
            running = [
                one.model.executor(background=False).submit(
                    partial(one.model.encoder().encode, one.kind, one.texts)
                )
                for one in together
            ]
            await asyncio.gather(*map(asyncio.wrap_future, running))
        return (time.perf_counter() - started) * 1000
