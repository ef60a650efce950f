"""One page, top to bottom: parse, chunk, resolve its links to other pages, embed.

Pages are prepared one by one and embedded many at a time: an embedder wastes most of its time on padding short texts
to the length of long ones, and it can sort by length only what it gets in one call.
"""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import islice
from posixpath import join, normpath
from typing import Protocol
from urllib.parse import quote, unquote

import numpy as np
from numpy.typing import NDArray

from ingest.chunking.chunks import MAX_TOKENS, chunker_name, fitting_place, fitting_title
from ingest.faults import as_page_failure
from ingest.front_matter.front_matter import FrontMatter
from ingest.origin import Origin, effective_audience, index_revision, page_id
from ingest.page import ParsedPage
from ingest.parsers.markup.markdown import SUFFIXES
from ingest.parsers.notices import read_notices
from ingest.parsers.reader import DirectReader, Reader, TokenCounter
from ingest.sources.port import RawPage, Source
from kb.addresses import split_address
from kb.index.port import IndexedChunk, IndexManifest
from kb.models import Chunk, Page, PageDates
from kb.pages.places import parts_of
from kb.retrieval.lexical import LexicalEncoder
from kb.runtime.tasks import cancelled
from kb.text.language import detect

EMBEDDED = 256
"""Maximum number of chunks per call of the embedder. The rest of a page of thousands waits as text."""
SMALL_PAGE = 20_000
"""Maximum bytes of a page whose language, title and notices are read on the event loop, in less than a millisecond."""
_SAMPLE = 4000
"""Characters from which a page's language is detected."""


class Embedder(TokenCounter, Protocol):
    """What ingestion needs of `kb.inference.embedder.Embedder`."""

    @property
    def name(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    @property
    def max_tokens(self) -> int: ...

    async def ready(self) -> None: ...

    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Computes unit vectors, shape (len(texts), dimension). Sorts by length within the call."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PreparedPage:
    """A page ready to be embedded. `notes`: the parts of it, or of its front matter, that could not be read."""

    page: Page
    chunks: tuple[Chunk, ...]
    notes: tuple[str, ...] = ()


class PagePipeline:
    """Prepares and embeds pages. `reader`: a `ReaderPool` where files come from strangers."""

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
        """Whether a page was prepared: the first one loads the language detector, which takes a second."""

    async def ready(self) -> None:
        """Loads the embedder, on which every other method may block otherwise."""
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
        """The models and the chunker of an index that this pipeline fills."""
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
        """Parses and chunks a page, off the event loop. `with_page_addresses` resolves the pages that it names.

        Args:
            parsed: the result of `read`, where that is known already.

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
            chunks = await self._reader.cut(page, parsed, counter=self._embedder, max_tokens=self._max_tokens)
            return PreparedPage(page=page, chunks=tuple(chunks), notes=(*raw.notes, *parsed.front.notes))

    def _page(self, raw: RawPage, parsed: ParsedPage, origin: Origin) -> Page:
        front = parsed.front
        notices = read_notices(parsed.title, parsed.sections)
        language = front.language or detect(_sample(parsed))
        count, max_tokens = self._embedder.count_tokens, self._max_tokens
        title = fitting_title(parsed.title, count_tokens=count, max_tokens=max_tokens)
        place = parts_of(_location(raw, parsed.title), parsed.title, language)
        return Page(
            id=page_id(origin.name, raw.path),
            source=origin.name,
            path=raw.path,
            title=title,
            url=raw.url,
            place=fitting_place(place, count_tokens=count, max_tokens=max_tokens),
            language=language,
            revision=index_revision(raw.revision, origin.audience),
            owner=front.owner or raw.owner,
            audience=effective_audience(origin, raw, front.audience),
            dates=_dates(front, raw),
            superseded_by=front.superseded_by or notices.superseded_by,
            retired=front.retired,
            replaces=(*front.replaces, *notices.replaces),
            version=front.version or notices.version,
        )

    async def embed(self, pages: Sequence[PreparedPage]) -> list[list[IndexedChunk]]:
        """Adds vectors to the pages' chunks, in the pages' order."""
        chunks = [chunk for page in pages for chunk in page.chunks]
        indexed: list[IndexedChunk] = []
        for first in range(0, len(chunks), EMBEDDED):
            batch = chunks[first : first + EMBEDDED]
            texts = [chunk.embedded_text for chunk in batch]
            vectors = await self._embedder.embed_documents(texts)
            indexed += await asyncio.to_thread(self._indexed, batch, texts, vectors)
        remaining = iter(indexed)
        return [list(islice(remaining, len(page.chunks))) for page in pages]

    def _indexed(
        self, chunks: Sequence[Chunk], texts: Sequence[str], vectors: NDArray[np.float32]
    ) -> list[IndexedChunk]:
        """Keeps vectors as machine numbers: Python's floats take eight times the memory."""
        return [
            IndexedChunk(
                chunk=chunk,
                dense=array("f", dense.astype(np.float32).tobytes()),
                lexical=self._lexical.document(text, chunk.page.language),
            )
            for chunk, text, dense in zip(chunks, texts, vectors, strict=True)
        ]


def _location(raw: RawPage, title: str) -> str:
    """Returns the page's location as a path. A slash or a question mark in a title separates nothing."""
    names = (*raw.parents, title) if raw.parents else ()
    return "/".join(quote(name.replace("/", " ")) for name in names) or raw.path


def _dates(front: FrontMatter, raw: RawPage) -> PageDates:
    """Prefers an explicit "updated", then the later of the source's last edit and a plain `date`.

    The day on which a page arrived in its source says less than its own date.
    """
    source = None if raw.arrived and front.written else raw.edited
    days = [day for day in (source, front.written) if day is not None]
    return replace(front.dates, edited=front.dates.edited or max(days, default=None))


def _sample(parsed: ParsedPage) -> str:
    """Returns the first characters of the page's title and of its text other than code."""
    sample = f"{parsed.title}\n"
    for block in (block for section in parsed.sections for block in section.blocks):
        if len(sample) > _SAMPLE:
            break
        if block.kind != "code":
            sample += f"{block.text}\n"
    return sample[:_SAMPLE]


def with_page_addresses(prepared: PreparedPage, source: Source, listed: Collection[str]) -> PreparedPage:
    """Replaces the paths by which a page names others by their addresses. `listed`: the paths that the source lists."""
    page = prepared.page
    if not page.superseded_by and not page.replaces:
        return prepared

    def address(written: str) -> str:
        return _address(written, page.path, source, listed)

    linked = replace(
        page,
        superseded_by=page.superseded_by and address(page.superseded_by),
        replaces=tuple(dict.fromkeys(map(address, page.replaces))),
    )
    chunks = tuple(replace(chunk, page=linked) for chunk in prepared.chunks)
    return replace(prepared, page=linked, chunks=chunks)


def _address(written: str, path: str, source: Source, listed: Collection[str]) -> str:
    """Returns the address of the page that the author names by path; anything else (a URL, a title) as written."""
    if split_address(written).scheme:
        return written
    target = unquote(split_address(written).path)
    for folder in (path.rpartition("/")[0], ""):
        named = normpath(join(folder, target.lstrip("/")))
        for candidate in (named, *(f"{named}{suffix}" for suffix in SUFFIXES)):
            if candidate in listed:
                return source.url_of(candidate)
    return written
