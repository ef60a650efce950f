"""LlamaIndex: its default store, kept as it keeps it, and its BM25
retriever, fused by ranks without a language model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from llama_index.core import StorageContext, VectorStoreIndex, load_index_from_storage
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import TextNode
from llama_index.retrievers.bm25 import BM25Retriever
from pydantic import PrivateAttr

from tests.bench_peers.driver import KEPT, LEG, Meter, Passage, main
from tests.bench_peers.encoder import BATCH, Encoder, load_encoder


class SharedEmbedding(BaseEmbedding):
    _encoder: Encoder = PrivateAttr()

    def __init__(self, encoder: Encoder, **options: Any) -> None:
        super().__init__(model_name="all-MiniLM-L6-v2", embed_batch_size=BATCH, **options)
        self._encoder = encoder

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embeddings([query])[0]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._encoder.encode(texts).tolist()
        return vectors

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


class LlamaIndex:
    def __init__(self, folder: Path, meter: Meter) -> None:
        self._folder = folder
        self._meter = meter
        self._encoder: Encoder | None = None
        self._retriever: QueryFusionRetriever | None = None

    @property
    def about(self) -> Mapping[str, str]:
        return {
            "version": version("llama-index-core"),
            "store": "SimpleVectorStore and docstore, JSON files",
            "search": "VectorIndexRetriever and BM25Retriever (bm25s), QueryFusionRetriever: reciprocal_rerank",
            "encoder": self._loaded.name,
            "kept": "all, written at the end",
        }

    @property
    def _loaded(self) -> Encoder:
        if self._encoder is None:
            self._encoder = load_encoder(self._meter)
        return self._encoder

    async def load(self) -> None:
        self._loaded.encode(["warm"])

    async def index(self, passages: Sequence[Passage]) -> None:
        nodes = [TextNode(id_=one.id, text=one.content) for one in passages]
        index = VectorStoreIndex(
            nodes, embed_model=SharedEmbedding(self._loaded), insert_batch_size=len(nodes)
        )
        words = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=LEG, language="english")
        index.storage_context.persist(str(self._folder / "index"))
        words.persist(str(self._folder / "words"))

    async def open(self) -> None:
        storage = StorageContext.from_defaults(persist_dir=str(self._folder / "index"))
        index = load_index_from_storage(storage, embed_model=SharedEmbedding(self._loaded))
        self._retriever = QueryFusionRetriever(
            [
                index.as_retriever(similarity_top_k=LEG),
                BM25Retriever.from_persist_dir(str(self._folder / "words")),
            ],
            llm=MockLLM(),
            similarity_top_k=KEPT,
            num_queries=1,
            mode="reciprocal_rerank",
            use_async=False,
        )

    async def ask(self, question: str) -> Sequence[str]:
        assert self._retriever is not None
        return [found.node.node_id for found in self._retriever.retrieve(question)]


if __name__ == "__main__":
    main(LlamaIndex)
