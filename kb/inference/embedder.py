"""Dense vectors by one sentence-transformers model or several, off the event loop, questions first.

Importing this module is cheap: the models and what runs them come with `load`. Documents go to a model batch by batch.
What a sync embeds has threads of its own that give way to those of the questions (`Embedder.background`). Where torch
runs a model, which uses every core by itself, all share one thread and a question waits for one batch at most.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import accumulate
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kb.config.model_settings import EmbedSettings
from kb.inference.counting import CountedModel, greatest
from kb.inference.embedding_model import EmbeddingModel
from kb.inference.encoders import Encoder, TextKind, Vectors, preferred
from kb.inference.executor import Executor, usable_cores
from kb.inference.onnx.converted import Weights

CACHED_QUERIES = 512
"""Query vectors kept: the original wording is embedded while its rewrite is still being written."""
MARK_OF_INT8 = " int8"
"""Suffix of the model's name: its vectors are other vectors."""
AND = " + "
"""Between the names of several models."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Space:
    """What one model makes of a text. `part`: its numbers within the embedder's vector; they have length 1."""

    model: str
    part: slice


class Embedder:
    """Embeds with one model or several: a vector is theirs one behind the other, so of length sqrt(models).

    `ready` (or the first call) loads them, side by side; see `kb.inference.encoders.load_encoder` for how
    long that takes.

    `like`: the name that an index's embedder had. Where the settings leave the precision open, it is kept to.

    Every method raises `EmbedderUnavailableError` when a model cannot be loaded or fails.
    """

    def __init__(self, settings: EmbedSettings, *, like: str | None = None) -> None:
        at_once = settings.threads or usable_cores()
        self._questions = Executor("footnote-embed", at_once)
        self._documents = Executor("footnote-embed-sync", at_once, yields=True)
        weights = _weights_of(like, settings.models)
        self._models = tuple(
            EmbeddingModel(
                name, settings, like=weights.get(name), questions=self._questions, documents=self._documents
            )
            for name in settings.models
        )
        self._cache: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self.in_background = False

    @property
    def name(self) -> str:
        """The name of the models and of their precision: what vectors are compared by. Loads the models if need be."""
        return AND.join(
            model.name + (MARK_OF_INT8 if encoder.weights == "int8" else "")
            for model, encoder in zip(self._models, self._encoders(), strict=True)
        )

    @property
    def backend(self) -> str:
        """What runs the models: "onnx" or "torch", each if they differ. Loads them if need be."""
        return AND.join(dict.fromkeys(encoder.backend for encoder in self._encoders()))

    @property
    def spaces(self) -> tuple[Space, ...]:
        """The models' parts of a vector, in their order. Loads the models if need be."""
        ends = accumulate(encoder.dimension for encoder in self._encoders())
        return tuple(
            Space(model=model.name, part=slice(end - encoder.dimension, end))
            for model, encoder, end in zip(self._models, self._encoders(), ends, strict=True)
        )

    @property
    def dimension(self) -> int:
        """Numbers of a vector. Loads the models if need be."""
        return sum(encoder.dimension for encoder in self._encoders())

    @property
    def max_tokens(self) -> int:
        """Tokens of a text that every model reads; what is longer is cut off. Loads the models if need be."""
        return min(encoder.max_tokens for encoder in self._encoders())

    @property
    def background(self) -> Self:
        """The same embedder at low priority, for work that nobody waits for. It remembers no queries."""
        background = copy(self)
        background.in_background = True
        return background

    def count_tokens(self, text: str) -> int:
        """Counts by the models' own tokenizers, without the marks that they add. Loads the models if need be.

        Of several models the greatest count counts, each in proportion to what its model reads: a text of at
        most `max_tokens` is cut by none of them. That is nearly always the tightest model's own count; but a
        model of one language may take a line of another script for a single unknown word.
        """
        return greatest([(encoder.count_tokens(text), encoder.max_tokens) for encoder in self._encoders()])

    @property
    def counted_models(self) -> tuple[CountedModel, ...] | None:
        """What `count_tokens` counts by, for another process; None where a
        model is run by torch. Loads the models if need be.
        """
        counted = [
            CountedModel(folder=encoder.tokenizer, max_tokens=encoder.max_tokens)
            for encoder in self._encoders()
            if encoder.tokenizer is not None
        ]
        return tuple(counted) if len(counted) == len(self._models) else None

    async def ready(self) -> None:
        """Loads the models, once, without holding up the event loop."""
        await asyncio.gather(*(model.ready() for model in self._models if not model.loaded))

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        if self.in_background:
            return await self._embed_all("query", texts)
        missing = [text for text in dict.fromkeys(texts) if text not in self._cache]
        found = dict(self._cache)
        if missing:
            await self.ready()
            parts = await asyncio.gather(*[self._embed_at_once(model, missing) for model in self._models])
            # A row alone would keep its whole batch in memory.
            found.update((text, row.copy()) for text, row in zip(missing, _joined(parts), strict=True))
        for text in texts:
            self._cache[text] = found[text]
            self._cache.move_to_end(text)
        while len(self._cache) > CACHED_QUERIES:
            self._cache.popitem(last=False)
        return _stacked([found[text] for text in texts])

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return await self._embed_all("document", texts)

    async def _embed_all(self, kind: TextKind, texts: Sequence[str]) -> Vectors:
        await self.ready()
        return _joined(await asyncio.gather(*[self._embed_by(model, kind, texts) for model in self._models]))

    async def _embed_by(self, model: EmbeddingModel, kind: TextKind, texts: Sequence[str]) -> Vectors:
        encoder, batches = model.encoder(), model.batches(texts)
        encoded = await model.executor(background=self.in_background).map(
            lambda batch: encoder.encode(kind, [texts[index] for index in batch]), batches
        )
        vectors: dict[int, NDArray[np.float32]] = {}
        for batch, rows in zip(batches, encoded, strict=True):
            vectors.update(zip(batch, rows, strict=True))
        return _stacked([vectors[index] for index in range(len(texts))])

    def _embed_at_once(self, model: EmbeddingModel, queries: Sequence[str]) -> Awaitable[Vectors]:
        """Starts embedding the queries side by side where a call takes one core, so that three wordings on two cores
        cost as two: each is its own batch.

        They are begun here and now, not at the loop's next turn, which may go to other work of the same question.
        """
        encoder = model.encoder()
        batches = [[query] for query in queries] if encoder.backend == "onnx" else [queries]
        encoding = model.executor(background=False).map(lambda texts: encoder.encode("query", texts), batches)

        async def joined() -> Vectors:
            return np.concatenate(await encoding)

        return joined()

    def load(self) -> None:
        """Loads the models, once, and blocks meanwhile."""
        self._encoders()

    def _encoders(self) -> list[Encoder]:
        for model in self._models:
            if not model.loaded:
                model.loading()
        return [model.encoder() for model in self._models]

    def close(self) -> None:
        for model in self._models:
            model.close()
        for executor in (self._questions, self._documents):
            executor.close()


def embedder_for(name: str, settings: EmbedSettings) -> EmbedSettings:
    """Returns settings for the embedder of this name, as an index's manifest keeps it; all else as in `settings`.

    Prompts are kept where the model is the same. Give `name` as `like` as well: precisions that no single setting says
    together are left to it.
    """
    weights = _named(name)
    uniform = set(weights.values())
    precision = "auto" if len(uniform) > 1 else uniform.pop()
    same = tuple(weights) == settings.models
    return EmbedSettings(
        model="+".join(weights),
        query_prompt=settings.query_prompt if same else "",
        document_prompt=settings.document_prompt if same else "",
        backend=settings.backend,
        precision=None if all(kind == preferred(model) for model, kind in weights.items()) else precision,
        batch_size=settings.batch_size,
        threads=settings.threads,
    )


def _weights_of(name: str | None, models: Sequence[str]) -> dict[str, Weights]:
    """Returns the weights of the embedder of that name, by model; empty where it has other models."""
    named = _named(name) if name is not None else {}
    return named if tuple(named) == tuple(models) else {}


def _named(name: str) -> dict[str, Weights]:
    """Reads the models of an embedder's name, in their order, with their weights."""
    return {
        model.removesuffix(MARK_OF_INT8): "int8" if model.endswith(MARK_OF_INT8) else "fp32"
        for model in name.split(AND)
    }


def _joined(parts: Sequence[Vectors]) -> Vectors:
    return parts[0] if len(parts) == 1 else np.hstack(parts)


def _stacked(vectors: Sequence[NDArray[np.float32]]) -> Vectors:
    return np.stack(vectors) if vectors else np.empty((0, 0), dtype=np.float32)
