"""LangChain: FAISS and BM25, fused by EnsembleRetriever with equal weights, as its documentation shows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from langchain_classic.retrievers import EnsembleRetriever
from langchain_community.retrievers import BM25Retriever
from langchain_community.vectorstores import FAISS
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from tests.bench_peers.driver import LEG, Meter, Passage, main
from tests.bench_peers.encoder import Encoder, load_encoder


class SharedEmbeddings(Embeddings):
    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._encoder.encode(texts).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


class LangChain:
    def __init__(self, folder: Path, meter: Meter) -> None:
        self._folder = folder
        self._meter = meter
        self._encoder: Encoder | None = None
        self._retriever: EnsembleRetriever | None = None

    @property
    def about(self) -> Mapping[str, str]:
        return {
            "version": version("langchain-core"),
            "store": "FAISS (flat) and its docstore, saved to disk",
            "search": "FAISS and BM25Retriever (rank_bm25, words in lower case), EnsembleRetriever with equal weights",
            "encoder": self._loaded.name,
            "kept": "vectors and texts, written at the end; BM25 counts anew at each start",
        }

    @property
    def _loaded(self) -> Encoder:
        if self._encoder is None:
            self._encoder = load_encoder(self._meter)
        return self._encoder

    async def load(self) -> None:
        self._loaded.encode(["warm"])

    async def index(self, passages: Sequence[Passage]) -> None:
        documents = [Document(id=one.id, page_content=one.content) for one in passages]
        store = FAISS.from_documents(documents, SharedEmbeddings(self._loaded))
        store.save_local(str(self._folder / "faiss"))

    async def open(self) -> None:
        store = FAISS.load_local(
            str(self._folder / "faiss"), SharedEmbeddings(self._loaded), allow_dangerous_deserialization=True
        )
        documents = store.get_by_ids(list(store.index_to_docstore_id.values()))
        words = BM25Retriever.from_documents(documents, k=LEG, preprocess_func=_words)
        self._retriever = EnsembleRetriever(
            retrievers=[words, store.as_retriever(search_kwargs={"k": LEG})], weights=[0.5, 0.5], id_key=None
        )

    async def ask(self, question: str) -> Sequence[str]:
        assert self._retriever is not None
        return [str(document.id) for document in self._retriever.invoke(question)]


def _words(text: str) -> list[str]:
    """Its default splits at spaces and keeps commas and capitals: "Leave," would not be "leave"."""
    return re.findall(r"\w+", text.lower())


if __name__ == "__main__":
    main(LangChain)
