"""haiku.rag: LanceDB in a folder, its hybrid search, and pages that come ready cut (`import_documents`).

It offers no class for an embedder of one's own: the wrapper that it
makes of its settings is replaced by one of the same kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from importlib.metadata import version
from itertools import groupby
from pathlib import Path

from docling_core.types.doc import DocItemLabel, DoclingDocument
from haiku.rag.client import HaikuRAG
from haiku.rag.client.documents import DocumentImport
from haiku.rag.config import AppConfig
from haiku.rag.embeddings import EmbedderWrapper
from haiku.rag.store import engine
from haiku.rag.store.models.chunk import Chunk

from tests.bench_peers.driver import KEPT, LEG, Meter, Passage, main
from tests.bench_peers.encoder import BATCH, DIMENSION, Encoder, load_encoder

PASSAGE = "passage"
"""Its id, in the metadata of a chunk: haiku.rag gives ids of its own."""


class SharedEmbedder(EmbedderWrapper):
    def __init__(self, encoder: Encoder) -> None:
        super().__init__(embedder=None, vector_dim=DIMENSION)
        self._encoder = encoder

    async def _embed_query(self, text: str) -> list[float]:
        return (await self._embed_documents([text]))[0]

    async def _embed_documents(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._encoder.encode(texts).tolist()
        return vectors


class HaikuRag:
    def __init__(self, folder: Path, meter: Meter) -> None:
        self._folder = folder
        self._meter = meter
        self._encoder: Encoder | None = None
        self._client: HaikuRAG | None = None
        self._stack = AsyncExitStack()
        engine.get_embedder = lambda config=None: SharedEmbedder(self._loaded)

    @property
    def about(self) -> Mapping[str, str]:
        return {
            "version": version("haiku.rag-slim"),
            "store": "LanceDB on disk",
            "search": "its own default, hybrid: vectors (exact) and LanceDB's BM25, RRFReranker",
            "encoder": self._loaded.name,
            "kept": "all, durable import by import",
        }

    @property
    def _loaded(self) -> Encoder:
        if self._encoder is None:
            self._encoder = load_encoder(self._meter)
        return self._encoder

    def _open(self, *, create: bool) -> HaikuRAG:
        config = AppConfig()
        config.embeddings.model.provider = "sentence-transformers"
        config.embeddings.model.name = "all-MiniLM-L6-v2"
        config.embeddings.model.vector_dim = DIMENSION
        config.embeddings.batch_size = BATCH
        return HaikuRAG(self._folder / "haiku.lancedb", config=config, create=create)

    async def load(self) -> None:
        self._loaded.encode(["warm"])

    async def index(self, passages: Sequence[Passage]) -> None:
        async with self._open(create=True) as client:
            await client.import_documents(
                [_document(page, list(of_page)) for page, of_page in groupby(passages, lambda one: one.page)]
            )

    async def open(self) -> None:
        self._loaded.encode(["warm"])
        self._client = await self._stack.enter_async_context(self._open(create=False))

    async def ask(self, question: str) -> Sequence[str]:
        assert self._client is not None
        found = await self._client.search(question, limit=LEG, include_images=False)
        return [result.chunk_meta[PASSAGE] for result in found[:KEPT]]


def _document(page: str, passages: Sequence[Passage]) -> DocumentImport:
    document = DoclingDocument(name=page)
    for one in passages:
        document.add_text(label=DocItemLabel.TEXT, text=one.text)
    chunks = [
        Chunk(content=one.content, order=at, metadata={PASSAGE: one.id}) for at, one in enumerate(passages)
    ]
    return DocumentImport(docling_document=document, chunks=chunks, title=passages[0].title or page, uri=page)


if __name__ == "__main__":
    main(HaikuRag)
