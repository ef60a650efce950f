"""What an answer asks of the embedding model, and the same asked of the bare model.

The seam is the encoder to which `Embedder` hands texts, behind its caches: what is recorded there is what the
model really did, batch by batch. Batches run at the same time where the model lets them, in the bare calls too.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Sequence
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


Note = Callable[[ModelCall, tuple[float, float]], None]
"""Takes a call, and when it began and ended, in seconds."""


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
        self._models = tuple(_RecordingModel(model, self._note) for model in self._models)

    def start(self) -> None:
        self.recorded = Recorded()

    def _note(self, call: ModelCall, span: tuple[float, float]) -> None:
        self.recorded.spans.append(span)
        self.recorded.calls.append(call)

    async def bare_ms(self, calls: Sequence[ModelCall]) -> float:
        """Milliseconds of the same calls on the models alone: one kind after the other, those of a kind together."""
        started = time.perf_counter()
        for _, together in itertools.groupby(calls, key=lambda call: call.kind):
            running = [
                call.model.executor(background=False).submit(
                    partial(call.model.encoder().encode, call.kind, call.texts)
                )
                for call in together
            ]
            await asyncio.gather(*map(asyncio.wrap_future, running))
        return (time.perf_counter() - started) * 1000


class _RecordingModel:
    """A model whose encoder notes each batch; otherwise the model itself."""

    def __init__(self, model: EmbeddingModel, note: Note) -> None:
        self._model = model
        self._note = note

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def encoder(self) -> Any:
        return _RecordingEncoder(self._model, self._note)


class _RecordingEncoder:
    def __init__(self, model: EmbeddingModel, note: Note) -> None:
        self._model = model
        self._note = note

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model.encoder(), name)

    def encode(self, kind: Any, texts: Sequence[str]) -> Vectors:
        began = time.perf_counter()
        vectors = self._model.encoder().encode(kind, texts)
        call = ModelCall(model=self._model, kind=kind, texts=tuple(texts))
        self._note(call, (began, time.perf_counter()))
        return vectors
