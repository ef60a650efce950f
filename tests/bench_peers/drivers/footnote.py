"""Footnote by its own parts: the embedded index, and the pipeline up to
the passages. No reranker, no model, no thread.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bot.cli.composition.pipeline import build_pipeline, freshness_policy
from bot.cli.composition.runtime import utc_now
from kb.config.configuration import load_settings
from kb.config.model_settings import EmbedSettings
from kb.config.settings import Settings
from kb.evaluation import datasets
from kb.evaluation.corpus import corpus_manifest, fill
from kb.index.embedded.index import EdgeIndex
from kb.inference.embedder import Embedder
from kb.models import Question
from kb.pipeline import Pipeline
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.rerank import Reranker
from kb.retrieval.vocabulary import Vocabulary
from kb.text.language import warm_up
from tests.bench_peers.driver import ENCODER, KEPT, Meter, Passage, main
from tests.bench_peers.vectors import KnownVectors


class MeteredEmbedder(Embedder):
    def __init__(self, settings: EmbedSettings, meter: Meter) -> None:
        super().__init__(settings)
        self._meter = meter
        self._vectors = KnownVectors()

    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        with self._meter.counting():
            vectors = self._vectors.of(texts)
            if vectors is None:
                vectors = await super().embed_documents(texts)
                self._vectors.keep(texts, vectors)
        return vectors

    async def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        with self._meter.counting():
            return await super().embed_queries(texts)


class Footnote:
    def __init__(self, folder: Path, meter: Meter) -> None:
        self._folder = folder
        self._settings = _settings(folder)
        self._embedder = MeteredEmbedder(self._settings.embed, meter)
        self._lexical = LexicalEncoder()
        self._pipeline: Pipeline | None = None

    @property
    def about(self) -> Mapping[str, str]:
        return {
            "version": version("footnote"),
            "store": "Qdrant Edge on disk",
            "search": "vectors and BM25, scores blended",
            "encoder": "ONNX Runtime"
            if self._embedder.backend == "onnx"
            else "sentence-transformers (torch)",
            "kept": "all, durable page by page",
        }

    async def load(self) -> None:
        await self._embedder.ready()
        await asyncio.to_thread(warm_up)

    async def index(self, passages: Sequence[Passage]) -> None:
        index = await self._index()
        data = datasets.DataSet(
            name="peers",
            passages=tuple(
                datasets.CorpusPassage(id=one.id, page=one.page, title=one.title, text=one.text, url=one.url)
                for one in passages
            ),
            conversations=(),
        )
        await fill(index, data, embedder=self._embedder, lexical=self._lexical)
        await index.settle()
        await index.close()

    async def open(self) -> None:
        index = await self._index()
        vocabulary = Vocabulary(index)
        await asyncio.gather(self.load(), vocabulary.start())
        self._pipeline = build_pipeline(
            self._settings,
            index=index,
            embedder=self._embedder,
            ranker=Reranker(self._settings.rerank),
            model=None,
            lexical=self._lexical,
            vocabulary=vocabulary,
            freshness=freshness_policy(self._settings, utc_now),
            clock=utc_now,
        )

    async def ask(self, question: str) -> Sequence[str]:
        assert self._pipeline is not None
        found = await self._pipeline.find(Question(id="peers", text=question))
        return [hit.chunk.id for hit in found.hits[:KEPT]]

    async def _index(self) -> EdgeIndex:
        await self._embedder.ready()
        manifest = corpus_manifest(embedder=self._embedder.name, dimension=self._embedder.dimension)
        return EdgeIndex(self._folder / "index", manifest=manifest)


def _settings(folder: Path) -> Settings:
    return load_settings(
        environ={},
        data=folder,
        rerank={"model": "off"},
        model={"provider": "none"},
        embed={
            "model": "all-MiniLM-L6-v2",
            "backend": "torch" if os.environ[ENCODER] == "torch" else "auto",
        },
    )


if __name__ == "__main__":
    main(Footnote)
