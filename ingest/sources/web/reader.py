"""Reads what a website answers: small pages here, in a thread, large ones in a process of their own.

A thread that reads a page of megabytes keeps everything else of this process waiting for up to a second.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

from pydantic import ValidationError

from ingest.parsers.wire import Broken
from ingest.processes import DiedError, ProcessPool, WorkProcess
from ingest.sources.web.client import WebError, WebResponse
from ingest.sources.web.document import WebDocument, read_document
from ingest.sources.web.worker import LINKS, READING, Answer

logger = logging.getLogger(__name__)

LARGE = 100_000
"""Bytes, from which on a page is read in the process: most pages of most
sites are smaller, and are spared its start.
"""
SECONDS = 300.0
"""For one page: the worst of 5 MB take 20 s of a processor, and give way to all else that wants it."""


class WebReader:
    """The process starts with the first large page, and ends with `close`. It may be used again then."""

    def __init__(self, *, large: int = LARGE, seconds: float = SECONDS) -> None:
        self._large = large
        self._seconds = seconds
        self._pool = ProcessPool("ingest.sources.web.worker", workers=1)

    async def read(self, answer: WebResponse) -> WebDocument | None:
        """Reads what a site answered; None: it is no kind of text that we read.

        Raises:
            WebError: it cannot be read, in the process.
        """
        if len(answer.content) < self._large:
            return await asyncio.to_thread(read_document, answer)
        try:
            async with self._pool.process(seconds=self._seconds) as process:
                return await _read(process, answer)
        except TimeoutError as error:
            raise WebError(f"reading it took longer than {self._seconds:.0f} s: it was given up") from error
        except DiedError as error:
            logger.warning("web.reader_died", extra={"cause": str(error)})
            raise WebError("it makes the program that reads it crash") from error

    async def close(self) -> None:
        await self._pool.close()


async def _read(process: WorkProcess, answer: WebResponse) -> WebDocument | None:
    task = Answer(
        url=str(answer.url), media_type=answer.media_type, charset=answer.charset, robots=answer.robots
    )
    await process.send([task.model_dump_json().encode(), answer.content])
    try:
        reading = READING.validate_json(await process.receive())
        if isinstance(reading, Broken):
            logger.error("web.broke", extra={"error": reading.error, "where": list(reading.where)})
            raise WebError(f"it cannot be read ({reading.error}; the log says where)")
        if reading.document is None:
            return None
        content = answer.content if reading.as_answered else await process.receive()
        links = [link for _ in range(reading.frames) for link in LINKS.validate_json(await process.receive())]
    except ValidationError as error:
        raise DiedError("its reply is none") from error
    return replace(reading.document, content=content, links=tuple(links))
