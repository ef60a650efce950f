"""One embedding model of an embedder: when it is loaded, what it takes at once, and in which threads it runs."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future

from kb.config.model_settings import EmbedSettings
from kb.inference.encoders import Encoder, load_encoder
from kb.inference.executor import Executor
from kb.inference.onnx.converted import Weights

logger = logging.getLogger(__name__)


class EmbeddingModel:
    """`questions`, `documents`: the threads of the embedder, which what ONNX Runtime runs shares with its other models.

    Methods raise `EmbedderUnavailableError` when the model cannot be loaded.
    """

    def __init__(
        self,
        name: str,
        settings: EmbedSettings,
        *,
        like: Weights | None,
        questions: Executor,
        documents: Executor,
    ) -> None:
        self.name = name
        self._settings = settings
        self._like = like
        self._loading = Executor("footnote-embed-load")
        self._executors = {False: questions, True: documents}
        self._encoder: Encoder | None = None

    @property
    def loaded(self) -> bool:
        return self._encoder is not None

    async def ready(self) -> None:
        if self._encoder is None:
            await self._loading.run(lambda _: self._load_here(), None)

    def loading(self) -> Future[Encoder]:
        """Begins it if need be."""
        return self._loading.submit(self._load_here)

    def encoder(self) -> Encoder:
        """Loads it if need be, and blocks meanwhile."""
        return self._encoder or self.loading().result()

    def executor(self, *, background: bool) -> Executor:
        """Returns where the model runs; torch uses every core, so all its callers share the thread that loaded it."""
        return self._executors[background] if self.encoder().backend == "onnx" else self._loading

    def batches(self, texts: Sequence[str]) -> list[list[int]]:
        """Batches texts of like length, by their places in `texts`: padding costs as much
        as words. The longest go first, so that the threads end at about the same time.
        """
        by_length = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        return list(self._batches(by_length, texts))[::-1]

    def _batches(self, by_length: Sequence[int], texts: Sequence[str]) -> Iterator[list[int]]:
        room, most = self.encoder().room, self._settings.batch_size
        batch: list[int] = []
        for index in by_length:
            if batch and (len(batch) == most or (len(batch) + 1) * len(texts[index]) > room):
                yield batch
                batch = []
            batch.append(index)
        if batch:
            yield batch

    def _load_here(self) -> Encoder:
        """Loads the model once, in the executor's only thread: torch keeps its number of threads by thread."""
        if self._encoder is None:
            started = time.perf_counter()
            encoder = load_encoder(self.name, self._settings, like=self._like)
            self._encoder = encoder
            taken = round(time.perf_counter() - started, 1)
            fields = {"model": self.name, "backend": encoder.backend, "weights": encoder.weights}
            logger.info("embedder.ready", extra={**fields, "seconds": taken})
        return self._encoder

    def close(self) -> None:
        self._loading.close()
