"""Dense vectors by a sentence-transformers model, off the event loop, questions first.

Importing this module is cheap: the model and what runs it come with `load`. Documents go to the model batch by batch.
What a sync embeds has threads of its own that give way to those of the questions (`Embedder.background`); where torch
runs the model, which uses every core by itself, all share one thread and a question waits for one batch at most.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kb.inference.encoders import Encoder, TextKind, Vectors, load_encoder
from kb.inference.lanes import Lane
from kb.inference.onnx.converted import Weights
from kb.settings import EmbedSettings

logger = logging.getLogger(__name__)

CACHED_QUERIES = 512
"""Query vectors kept: the original wording is embedded while its rewrite is still being written."""
MARK_OF_INT8 = " int8"
"""Behind the model's name: its vectors are other vectors."""


class Embedder:
    """`ready` (or the first call) loads the model; see `kb.inference.encoders.load_encoder` for how long that takes.

    `like`: the name that an index's embedder had. Where the settings leave the precision open, it is kept to.

    Every method raises `EmbedderUnavailableError` when the model cannot be loaded or fails.
    """

    def __init__(self, settings: EmbedSettings, *, like: str | None = None) -> None:
        self._settings = settings
        self._like = _weights_of(like, settings.model)
        self._loading = self._questions = self._documents = Lane("footnote-embed")
        self._encoder: Encoder | None = None
        self._cache: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    @property
    def name(self) -> str:
        """Of the model and of its precision: what vectors are compared by. Loads the model if need be."""
        return self._settings.model + (MARK_OF_INT8 if self.weights == "int8" else "")

    @property
    def backend(self) -> str:
        """What runs the model: "onnx" or "torch". Loads it if need be."""
        return self._model().backend

    @property
    def weights(self) -> Weights:
        """As exact as the vectors are. Loads the model if need be."""
        return self._model().weights

    @property
    def dimension(self) -> int:
        """Numbers of a vector. Loads the model if need be."""
        return self._model().dimension

    @property
    def max_tokens(self) -> int:
        """Tokens of a text that the model reads; what is longer is cut off. Loads the model if need be."""
        return self._model().max_tokens

    @property
    def background(self) -> BackgroundEmbedder:
        """The same for work that nobody waits for."""
        return BackgroundEmbedder(self)

    def count_tokens(self, text: str) -> int:
        """Tokens of a text by the model's own tokenizer, without the marks that it adds. Loads the model if need be."""
        return self._model().count_tokens(text)

    async def ready(self) -> None:
        """Loads the model, once, without holding up the event loop."""
        if self._encoder is None:
            await self._loading.run(lambda _: self._load_here(), None)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        missing = [text for text in dict.fromkeys(texts) if text not in self._cache]
        found = dict(self._cache)
        if missing:
            await self.ready()
            vectors = await self._questions.run(partial(self._encode, "query"), missing)
            found.update(zip(missing, vectors, strict=True))
        for text in texts:
            self._cache[text] = found[text]
            self._cache.move_to_end(text)
        while len(self._cache) > CACHED_QUERIES:
            self._cache.popitem(last=False)
        return _stacked([found[text] for text in texts])

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """For a question that is being answered."""
        await self.ready()
        return await self._embed_all("document", texts, self._questions)

    async def embed_in_background(self, texts: Sequence[str]) -> Vectors:
        await self.ready()
        return await self._embed_all("document", texts, self._documents)

    async def embed_queries_in_background(self, texts: Sequence[str]) -> Vectors:
        """Many, for measuring: none of them is remembered."""
        await self.ready()
        return await self._embed_all("query", texts, self._documents)

    async def _embed_all(self, kind: TextKind, texts: Sequence[str], lane: Lane) -> Vectors:
        """Batches of texts of like length: padding costs as much as words. The longest go first, so that the threads end
        at about the same time.
        """
        by_length = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        batches = list(self._batches(by_length, texts))[::-1]
        encoded = await lane.map(lambda batch: self._encode(kind, [texts[at] for at in batch]), batches)
        vectors: dict[int, NDArray[np.float32]] = {}
        for batch, rows in zip(batches, encoded, strict=True):
            vectors.update(zip(batch, rows, strict=True))
        return _stacked([vectors[at] for at in range(len(texts))])

    def _batches(self, by_length: Sequence[int], texts: Sequence[str]) -> Iterator[list[int]]:
        room, most = self._model().room, self._settings.batch_size
        batch: list[int] = []
        for at in by_length:
            if batch and (len(batch) == most or (len(batch) + 1) * len(texts[at]) > room):
                yield batch
                batch = []
            batch.append(at)
        if batch:
            yield batch

    def load(self) -> None:
        """Loads the model, once, and blocks meanwhile."""
        self._model()

    def _model(self) -> Encoder:
        return self._encoder or self._loading.submit(self._load_here).result()

    def _load_here(self) -> Encoder:
        """In the lane's only thread: nobody loads it twice, and torch keeps its number of threads by thread."""
        if self._encoder is None:
            started = time.perf_counter()
            encoder = load_encoder(self._settings, like=self._like)
            if encoder.backend == "onnx":
                self._questions = Lane("footnote-embed", encoder.at_once)
                self._documents = Lane("footnote-embed-sync", encoder.at_once, yields=True)
            self._encoder = encoder
            taken = round(time.perf_counter() - started, 1)
            told = {"model": self._settings.model, "backend": encoder.backend, "weights": encoder.weights}
            logger.info("embedder.ready", extra={**told, "seconds": taken})
        return self._encoder

    def close(self) -> None:
        for lane in (self._loading, self._questions, self._documents):
            lane.close()

    def _encode(self, kind: TextKind, texts: Sequence[str]) -> Vectors:
        return self._model().encode(kind, texts)


class BackgroundEmbedder:
    """An `Embedder` whose documents give way to the questions of others."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    @property
    def max_tokens(self) -> int:
        return self._embedder.max_tokens

    def count_tokens(self, text: str) -> int:
        return self._embedder.count_tokens(text)

    async def ready(self) -> None:
        await self._embedder.ready()

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return await self._embedder.embed_in_background(texts)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return await self._embedder.embed_queries_in_background(texts)


def _weights_of(name: str | None, model: str) -> Weights | None:
    """The weights of the embedder of that name; None where it is another model."""
    named: dict[str, Weights] = {model: "fp32", model + MARK_OF_INT8: "int8"}
    return named.get(name) if name is not None else None


def _stacked(vectors: Sequence[NDArray[np.float32]]) -> Vectors:
    return np.stack(vectors) if vectors else np.empty((0, 0), dtype=np.float32)
