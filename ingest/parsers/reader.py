"""The port between the pipeline and the parsers, and the reader that parses in this process.

Two implementations: `DirectReader` for trusted pages and for tests; `ingest.parsers.pool.ReaderPool` for everything
else: it parses and cuts in processes that may hang, crash or be killed.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from ingest.chunking.chunks import chunk_page
from ingest.page import ParsedPage
from ingest.parsers.formats import parse_file
from kb.inference.counting import CountedModel
from kb.models import Chunk, Page


class TokenCounter(Protocol):
    """Counts the tokens of a text: `kb.inference.embedder.Embedder`."""

    @property
    def counted_models(self) -> tuple[CountedModel, ...] | None:
        """The models whose tokenizers another process can load; None where only this process can count."""

    def count_tokens(self, text: str) -> int:
        """Counts a text's tokens, comparable with `max_tokens`."""


class Reader(Protocol):
    async def warm(self, counter: TokenCounter) -> None:
        """Starts whatever reading and cutting need, before the first page arrives. Never fails."""

    async def read(self, content: bytes, *, path: str, media_type: str | None = None) -> ParsedPage:
        """Parses a file, off the event loop. `path` titles a page without a title and, where no media type is given,
        tells the format.

        Raises:
            PageError: it cannot be indexed, with a reason that a person understands.
        """

    async def cut(
        self, page: Page, parsed: ParsedPage, *, counter: TokenCounter, max_tokens: int
    ) -> list[Chunk]:
        """Cuts a page into chunks (`ingest.chunking.chunks.chunk_page`), off the event loop.

        Raises:
            PageError: it cannot be cut, with a reason that a person understands.
        """


class DirectReader:
    """Reads in this process, without any bound on time or memory."""

    async def warm(self, counter: TokenCounter) -> None:
        """Does nothing: there is nothing to start."""

    async def read(self, content: bytes, *, path: str, media_type: str | None = None) -> ParsedPage:
        return await asyncio.to_thread(parse_file, content, path=path, media_type=media_type)

    async def cut(
        self, page: Page, parsed: ParsedPage, *, counter: TokenCounter, max_tokens: int
    ) -> list[Chunk]:
        return await asyncio.to_thread(
            chunk_page, page, parsed, count_tokens=counter.count_tokens, max_tokens=max_tokens
        )
