"""Haystack: its in-memory store, kept as it keeps it, and the hybrid
pipeline of its tutorial: vectors, BM25, fused by ranks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from haystack import Document, Pipeline, component
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from tests.bench_peers.driver import KEPT, LEG, Meter, Passage, main
from tests.bench_peers.encoder import Encoder, load_encoder


@component
class SharedTextEmbedder:
    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, list[float]]:
        return {"embedding": self._encoder.encode([text])[0].tolist()}


class Haystack:
    def __init__(self, folder: Path, meter: Meter) -> None:
        self._folder = folder
        self._meter = meter
        self._encoder: Encoder | None = None
        self._pipeline: Pipeline | None = None

    @property
    def about(self) -> Mapping[str, str]:
        return {
            "version": version("haystack-ai"),
            "store": "InMemoryDocumentStore, a JSON file",
            "search": "InMemoryEmbeddingRetriever and InMemoryBM25Retriever, DocumentJoiner: reciprocal_rank_fusion",
            "encoder": self._loaded.name,
            "kept": "all, written at the end",
        }

    @property
    def _loaded(self) -> Encoder:
        if self._encoder is None:
            self._encoder = load_encoder(self._meter)
        return self._encoder

    @property
    def _file(self) -> str:
        return str(self._folder / "store.json")

    async def load(self) -> None:
        self._loaded.encode(["warm"])

    async def index(self, passages: Sequence[Passage]) -> None:
        vectors = self._loaded.encode([one.content for one in passages]).tolist()
        documents = [Document(id=one.id, content=one.content) for one in passages]
        store = InMemoryDocumentStore()  # its dot product: vectors have length 1
        store.write_documents(
            [replace(one, embedding=vector) for one, vector in zip(documents, vectors, strict=True)]
        )
        store.save_to_disk(self._file)

    async def open(self) -> None:
        store = InMemoryDocumentStore.load_from_disk(self._file)
        pipeline = Pipeline()
        pipeline.add_component("embedder", SharedTextEmbedder(self._loaded))
        pipeline.add_component("meaning", InMemoryEmbeddingRetriever(store, top_k=LEG))
        pipeline.add_component("words", InMemoryBM25Retriever(store, top_k=LEG))
        pipeline.add_component("joiner", DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=KEPT))
        pipeline.connect("embedder.embedding", "meaning.query_embedding")
        pipeline.connect("meaning", "joiner")
        pipeline.connect("words", "joiner")
        self._pipeline = pipeline

    async def ask(self, question: str) -> Sequence[str]:
        assert self._pipeline is not None
        told = self._pipeline.run({"embedder": {"text": question}, "words": {"query": question}})
        return [document.id for document in told["joiner"]["documents"]]


if __name__ == "__main__":
    main(Haystack)
