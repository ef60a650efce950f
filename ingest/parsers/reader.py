"""The port between the pipeline and the parsers, and the reader that parses right here.

Two implementations: `DirectReader` for pages that we trust and for tests, `ingest.parsers.pool.ReaderPool` for everything
else: it parses in processes that may hang, crash or be killed.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from ingest.parsers.formats import parse_file
from ingest.parsers.page import ParsedPage


class Reader(Protocol):
    async def read(self, content: bytes, *, path: str, media_type: str | None = None) -> ParsedPage:
        """Parses a file, off the event loop. `path` names a page without a title and, where no media type is given,
        tells the format.

        Raises:
            PageError: it cannot be indexed, with a reason that a person understands.
        """


class DirectReader:
    """Without any bound on time or memory."""

    async def read(self, content: bytes, *, path: str, media_type: str | None = None) -> ParsedPage:
        return await asyncio.to_thread(parse_file, content, path=path, media_type=media_type)
