"""A data set's passages in an index, embedded once: the folder is named by everything that its vectors depend on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from kb.config.model_settings import EmbedSettings
from kb.evaluation.datasets import CorpusPassage, DataSet
from kb.index.port import IndexedChunk, IndexManifest, VectorIndex
from kb.inference.embedder import Embedder
from kb.models import Chunk, Page
from kb.pages.places import place_of
from kb.retrieval.lexical import LexicalEncoder
from kb.text.language import detect

FORM = "passages-1"
"""Raise it whenever a data set's passage becomes a different chunk: caches are then rebuilt."""
BATCH = 256
"""Passages embedded in one call, which sorts them by length."""

OnProgress = Callable[[int, int], None]
"""Called with the passages done and all of them."""


def cache_name(data: DataSet, embed: EmbedSettings, *, embedder: str) -> str:
    """Names a folder: the data set's name, readable, and a hash of its passages, the embedder and the form of a chunk.

    The places that the pages' names tell belong to the form.

    `embedder`: the name that the embedder goes by, which tells its precision as well.
    """
    places = sorted({place_of(passage.page, passage.title) for passage in data.passages} - {""})
    parts = (data.corpus_hash, embedder, embed.query_prompt, embed.document_prompt, FORM, *places)
    digest = hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:16]
    return f"{data.name}-{digest}"


def corpus_manifest(*, embedder: str, dimension: int) -> IndexManifest:
    return IndexManifest(embedder=embedder, dimension=dimension, chunker=FORM)


def corpus_chunks(data: DataSet) -> Iterator[tuple[str, list[Chunk]]]:
    """Yields page id and chunks of every page. A page's language is detected as when it is ingested."""
    for name, passages in data.pages():
        language = detect("\n".join(passage.text for passage in passages[:4]))
        yield name, [_chunk(passage, position, language) for position, passage in enumerate(passages)]


async def fill(
    index: VectorIndex,
    data: DataSet,
    *,
    embedder: Embedder,
    lexical: LexicalEncoder,
    on_progress: OnProgress | None = None,
) -> int:
    """Writes the pages that the index lacks and returns how many passages that were; a killed run is continued.

    Raises:
        IndexUnavailableError, IndexMismatchError, EmbedderUnavailableError
    """
    indexed = await index.revisions()
    missing = [(page, chunks) for page, chunks in corpus_chunks(data) if page not in indexed]
    total = sum(len(chunks) for _, chunks in missing)
    done = 0
    for pages in _batches(missing):
        chunks = [chunk for _, of_page in pages for chunk in of_page]
        vectors = iter(await embedder.embed_documents([chunk.embedded_text for chunk in chunks]))
        await index.replace_pages(
            {page: [_indexed(chunk, next(vectors), lexical) for chunk in of_page] for page, of_page in pages}
        )
        done += len(chunks)
        if on_progress is not None:
            on_progress(done, total)
    return total


def _batches(pages: Sequence[tuple[str, list[Chunk]]]) -> Iterator[list[tuple[str, list[Chunk]]]]:
    batch: list[tuple[str, list[Chunk]]] = []
    size = 0
    for page in pages:
        batch.append(page)
        size += len(page[1])
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _chunk(passage: CorpusPassage, position: int, language: str) -> Chunk:
    page = Page(
        id=passage.page,
        source="evaluation",
        path=passage.page,
        title=passage.title,
        url=passage.url,
        place=place_of(passage.page, passage.title),
        language=language,
        revision=FORM,
    )
    return Chunk(id=passage.id, page=page, position=position, text=_without_title(passage), url=passage.url)


def _without_title(passage: CorpusPassage) -> str:
    """Drops a title at the beginning: `Chunk.embedded_text` puts it in front, and would say it twice."""
    text = passage.text.removeprefix(passage.title).lstrip()
    return text or passage.text


def _indexed(chunk: Chunk, vector: NDArray[np.float32], lexical: LexicalEncoder) -> IndexedChunk:
    return IndexedChunk(
        chunk=chunk,
        dense=vector.tolist(),
        lexical=lexical.document(chunk.embedded_text, chunk.page.language),
    )
