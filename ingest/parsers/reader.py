"""The port between the pipeline and the parsers, and the reader that parses right here.

Two implementations: `DirectReader` for pages that we trust and for tests, `ingest.parsers.pool.ReaderPool`
for everything else: it parses and cuts in processes that may hang, crash or be killed.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from ingest.chunking.chunks import chunk_page
from ingest.page import ParsedPage
from ingest.parsers.formats import parse_file
from kb.inference.counting import CountedModel
from kb.models import Chunk, Page


class Tokens(Protocol):
    """What counts a text's tokens: `kb.inference.embedder.Embedder`."""

    @property
    def counted_models(self) -> tuple[CountedModel, ...] | None:
        """What counts them in another process; None where only this one can."""

    def count_tokens(self, text: str) -> int: ...


class Reader(Protocol):
    async def warm(self, tokens: Tokens) -> None:
        """Begins what reading and cutting take to start, before the first page is there. Never fails."""

    async def read(self, content: bytes, *, path: str, media_type: str | None = None) -> ParsedPage:
        """Parses a file, off the event loop. `path` names a page without a title and, where no media type is given,
        tells the format.

        Raises:
            PageError: it cannot be indexed, with a reason that a person understands.
        """

    async def cut(self, page: Page, parsed: ParsedPage, *, tokens: Tokens, max_tokens: int) -> list[Chunk]:
        """The chunks of a page (`ingest.chunking.chunks.chunk_page`), off the event loop.

        Raises:
            PageError: it cannot be cut, with a reason that a person understands.
        """


class DirectReader:
    """Reads in this process, without any bound on time or memory."""

    async def warm(self, tokens: Tokens) -> None:
        """There is nothing to start."""

    async def read(self, content: bytes, *, path: str, media_type: str | None = None) -> ParsedPage:
        return await asyncio.to_thread(parse_file, content, path=path, media_type=media_type)

    async def cut(self, page: Page, parsed: ParsedPage, *, tokens: Tokens, max_tokens: int) -> list[Chunk]:
        return await cut_here(page, parsed, tokens=tokens, max_tokens=max_tokens)


async def cut_here(page: Page, parsed: ParsedPage, *, tokens: Tokens, max_tokens: int) -> list[Chunk]:
    return await asyncio.to_thread(
        chunk_page, page, parsed, count_tokens=tokens.count_tokens, max_tokens=max_tokens
    )
