"""One page, top to bottom: parse, chunk, embed, index.

Pages are prepared one by one and embedded many at a time: short texts padded to the length of long ones are most of
what an embedder wastes, and it can only sort by length what it gets in one call.
"""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Protocol
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from ingest.chunking.chunks import MAX_TOKENS, chunker_name, fitting_place, fitting_title
from ingest.faults import as_page_failure
from ingest.front_matter.front_matter import FrontMatter
from ingest.origin import Origin, index_revision, narrowed, page_id
from ingest.page import ParsedPage
from ingest.parsers.notices import read_notices
from ingest.parsers.reader import DirectReader, Reader, Tokens
from ingest.sources.port import RawPage
from kb.index.port import IndexedChunk, IndexManifest
from kb.models import Chunk, Page, PageDates
from kb.pages.places import parts_of
from kb.retrieval.lexical import LexicalEncoder
from kb.runtime.tasks import cancelled
from kb.text.language import detect

EMBEDDED = 256
"""Chunks that are embedded together at most: the rest of a page of thousands waits, as text."""
SMALL_PAGE = 20_000
"""Bytes of a page whose language, title and notices are looked at on the loop, in less than a millisecond."""
_SAMPLE = 4000
"""Characters that tell a page's language."""


class Embedder(Tokens, Protocol):
    """What ingestion needs of `kb.inference.embedder.Embedder`."""

    @property
    def name(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    @property
    def max_tokens(self) -> int: ...

    async def ready(self) -> None: ...

    def count_tokens(self, text: str) -> int:
        """Tokens of a text, comparable with `max_tokens`."""

    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), dimension). Sorts by length within the call."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PreparedPage:
    """A page ready to be embedded. `notes`: what of it, or of its front matter, could not be read."""

    page: Page
    chunks: tuple[Chunk, ...]
    notes: tuple[str, ...] = ()


class PagePipeline:
    """`reader`: what opens files that strangers made should be a `ReaderPool`."""

    def __init__(
        self,
        *,
        embedder: Embedder,
        lexical: LexicalEncoder,
        reader: Reader | None = None,
    ) -> None:
        self._reader = reader or DirectReader()
        self._embedder = embedder
        self._lexical = lexical
        self._is_warm = False
        """Whether a page was looked at: the first one waits for what tells languages, for a second."""

    async def ready(self) -> None:
        """Loads the embedder, which everything else here may block on otherwise."""
        await self._embedder.ready()

    async def warm(self) -> None:
        """Starts what the first page would wait for."""
        await self._reader.warm(self._embedder)

    @asynccontextmanager
    async def warming(self) -> AsyncIterator[None]:
        """Starts the readers beside the block, which comes before the first page is read."""
        warming = asyncio.create_task(self.warm())
        try:
            yield
        finally:
            await cancelled(warming)

    @property
    def manifest(self) -> IndexManifest:
        """What an index filled by this pipeline is made with."""
        return IndexManifest(
            embedder=self._embedder.name,
            dimension=self._embedder.dimension,
            chunker=chunker_name(self._max_tokens),
        )

    @property
    def _max_tokens(self) -> int:
        return min(MAX_TOKENS, self._embedder.max_tokens)

    async def read(self, raw: RawPage, origin: Origin) -> ParsedPage:
        """Parses a page, which needs no embedder.

        Raises:
            PageError: the page cannot be read, with a reason that a person understands.
        """
        with as_page_failure(origin.name, raw.path):
            return await self._reader.read(
                raw.content, path=raw.file_name or raw.path, media_type=raw.media_type
            )

    async def prepare(self, raw: RawPage, origin: Origin, parsed: ParsedPage | None = None) -> PreparedPage:
        """Parses and chunks a page, off the event loop. What it says of other pages is `linked`'s to resolve.

        `parsed`: what `read` made of it, where that is known.

        Raises:
            PageError: the page cannot be indexed, with a reason that a person understands.
        """
        parsed = parsed or await self.read(raw, origin)
        with as_page_failure(origin.name, raw.path):
            if self._is_warm and len(raw.content) <= SMALL_PAGE:
                page = self._page(raw, parsed, origin)
            else:
                page = await asyncio.to_thread(self._page, raw, parsed, origin)
                self._is_warm = True
            chunks = await self._reader.cut(page, parsed, tokens=self._embedder, max_tokens=self._max_tokens)
            return PreparedPage(page=page, chunks=tuple(chunks), notes=(*raw.notes, *parsed.front.notes))

    def _page(self, raw: RawPage, parsed: ParsedPage, origin: Origin) -> Page:
        front = parsed.front
        notices = read_notices(parsed.title, parsed.sections)
        language = front.language or detect(_sample(parsed))
        count, room = self._embedder.count_tokens, self._max_tokens
        title = fitting_title(parsed.title, count_tokens=count, max_tokens=room)
        place = parts_of(_where(raw, parsed.title), parsed.title, language)
        return Page(
            id=page_id(origin.name, raw.path),
            source=origin.name,
            path=raw.path,
            title=title,
            url=raw.url,
            place=fitting_place(place, count_tokens=count, max_tokens=room),
            language=language,
            revision=index_revision(raw.revision, origin.audience),
            owner=front.owner or raw.owner,
            audience=narrowed(origin, raw, front.audience),
            dates=_dates(front, raw),
            superseded_by=front.superseded_by or notices.superseded_by,
            retired=front.retired,
            replaces=(*front.replaces, *notices.replaces),
            version=front.version or notices.version,
        )

    async def embed(self, pages: Sequence[PreparedPage]) -> list[list[IndexedChunk]]:
        """The pages' chunks with their vectors, in the pages' order."""
        chunks = [chunk for page in pages for chunk in page.chunks]
        indexed: list[IndexedChunk] = []
        for first in range(0, len(chunks), EMBEDDED):
            some = chunks[first : first + EMBEDDED]
            texts = [chunk.embedded_text for chunk in some]
            vectors = await self._embedder.embed_documents(texts)
            indexed += await asyncio.to_thread(self._indexed, some, texts, vectors)
        following = iter(indexed)
        return [[next(following) for _ in page.chunks] for page in pages]

    def _indexed(
        self, chunks: Sequence[Chunk], texts: Sequence[str], vectors: NDArray[np.float32]
    ) -> list[IndexedChunk]:
        """Vectors as machine numbers: as Python's a page of thousands of chunks would take eight times the memory."""
        return [
            IndexedChunk(
                chunk=chunk,
                dense=array("f", dense.astype(np.float32).tobytes()),
                lexical=self._lexical.document(text, chunk.page.language),
            )
            for chunk, text, dense in zip(chunks, texts, vectors, strict=True)
        ]


def _where(raw: RawPage, title: str) -> str:
    """Where the page stands, as a path. A slash or a question mark in a title parts nothing."""
    names = (*raw.parents, title) if raw.parents else ()
    return "/".join(quote(name.replace("/", " ")) for name in names) or raw.path


def _dates(front: FrontMatter, raw: RawPage) -> PageDates:
    """An explicit "updated" counts first, then the later of the source's last edit and a plain `date`.

    That a page arrived in its source on a day says less than its own date does.
    """
    source = None if raw.arrived and front.written else raw.edited
    known = [day for day in (source, front.written) if day is not None]
    return replace(front.dates, edited=front.dates.edited or max(known, default=None))


def _sample(parsed: ParsedPage) -> str:
    sample = ""
    for text in _prose(parsed):
        sample += f"{text}\n"
        if len(sample) > _SAMPLE:
            break
    return sample[:_SAMPLE]


def _prose(parsed: ParsedPage) -> Iterator[str]:
    yield parsed.title
    for section in parsed.sections:
        for block in section.blocks:
            if block.kind != "code":
                yield block.text
