"""Parses files and cuts pages in child processes (`ingest.processes`) of 60 and 100 MB. None imports a model."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from pydantic import ValidationError

from ingest.chunking.chunks import MAX_TOKENS
from ingest.errors import PageError
from ingest.page import ParsedPage, Section
from ingest.parsers.formats import kind_of
from ingest.parsers.reader import DirectReader, TokenCounter
from ingest.parsers.wire import (
    CUT_REPLY,
    REPLY,
    SECTIONS,
    Broken,
    CutTask,
    Parsed,
    Refused,
    Task,
    batches,
)
from ingest.processes import MEMORY_BYTES, DiedError, ProcessPool, WorkProcess
from kb.inference.counting import CountedModel
from kb.models import Chunk, Page

logger = logging.getLogger(__name__)

SECONDS = 30.0
"""For one file. The largest office document that we met, of 872 pages, takes 1.5 s."""
_MORE_SECONDS = {"pdf": 7.0, "csv": 3.0, "tsv": 3.0, "xlsx": 3.0, "xlsm": 3.0, "xls": 3.0, "ods": 3.0}
"""Factors for formats that hold thousands of pages or rows."""
CUT_HERE = 20_000
"""Characters of a page that may be cut in a thread, which holds Python's lock for a few milliseconds."""
CUT_SECONDS = 300.0
"""For one page: the worst of 5 MB take 20 s of a processor, at low priority."""


class ReaderPool:
    """A `Reader` that parses at most `workers` files at a time, and cuts one page at a time.

    `worker`: the module whose `main` a parsing process runs.
    """

    def __init__(
        self,
        *,
        workers: int = 2,
        seconds: float = SECONDS,
        cut_seconds: float = CUT_SECONDS,
        memory_bytes: int = MEMORY_BYTES,
        worker: str = "ingest.parsers.worker",
    ) -> None:
        self._seconds = seconds
        self._cut_seconds = cut_seconds
        self._parsing = ProcessPool(worker, workers=workers, memory_bytes=memory_bytes)
        self._cutting = ProcessPool("ingest.parsers.cutter", workers=1)
        self._cutter_is_starting = False

    async def read(self, content: bytes, *, path: str, media_type: str | None = None) -> ParsedPage:
        """Implements `Reader.read`. Parsing for longer than the limit, or a crash, is a `PageError` too."""
        task = Task(path=path, media_type=media_type)
        seconds = self._seconds * _MORE_SECONDS.get(kind_of(path, media_type), 1.0)
        try:
            async with self._parsing.process(seconds=seconds) as process:
                reply, sections = await _parsed(process, task, content)
        except TimeoutError as error:
            logger.warning("reader.killed", extra={"path": path, "seconds": seconds})
            raise PageError(f"reading it took longer than {seconds:.0f} s: it was given up") from error
        except DiedError as error:
            logger.warning("reader.died", extra={"path": path, "cause": str(error)})
            raise PageError("it makes the program that reads it crash: save it again") from error
        match reply:
            case Parsed():
                return ParsedPage(title=reply.title, front=reply.front, sections=tuple(sections))
            case Refused():
                raise PageError(reply.reason, withdraw=reply.withdraw, left_out=reply.left_out)
            case Broken():
                raise _broke(reply, path)

    async def cut(
        self, page: Page, parsed: ParsedPage, *, counter: TokenCounter, max_tokens: int
    ) -> list[Chunk]:
        """Implements `Reader.cut`. Cuts in a thread where a model's tokenizer has no file of its own, and small pages
        also while the cutting process is starting.
        """
        models = counter.counted_models
        if models is None or (self._cutter_is_starting and _is_small(parsed)):
            return await DirectReader().cut(page, parsed, counter=counter, max_tokens=max_tokens)
        return await self._cut_apart(page, parsed, models, max_tokens)

    async def _cut_apart(
        self, page: Page, parsed: ParsedPage, models: tuple[CountedModel, ...], max_tokens: int
    ) -> list[Chunk]:
        sections = batches(parsed.sections)
        task = CutTask(page=page, models=models, max_tokens=max_tokens, frames=len(sections))
        try:
            async with self._cutting.process(seconds=self._cut_seconds) as process:
                await process.send([task.model_dump_json(exclude_defaults=True).encode()])
                for batch in sections:
                    await process.send([SECTIONS.dump_json(tuple(batch))])
                return await _chunks(process, page)
        except TimeoutError as error:
            logger.warning("cutter.killed", extra={"path": page.path, "seconds": self._cut_seconds})
            raise PageError(
                f"cutting it into passages took longer than {self._cut_seconds:.0f} s: split it into several pages"
            ) from error
        except DiedError as error:
            logger.warning("cutter.died", extra={"path": page.path, "cause": str(error)})
            raise PageError(
                "it takes too much memory to be cut into passages: split it into several pages"
            ) from error

    async def warm(self, counter: TokenCounter) -> None:
        """Implements `Reader.warm`: starts a parsing process and the cutting one, for which small pages do not wait."""
        await asyncio.gather(self._warm_parser(), self._warm_cutter(counter))

    async def _warm_parser(self) -> None:
        with suppress(DiedError, TimeoutError, OSError):  # the first page to be read reports it
            await self._parsing.warm()

    async def _warm_cutter(self, counter: TokenCounter) -> None:
        if not counter.counted_models or self._cutting.is_warm:
            return
        page, empty = Page(id="", source="", path="", title="", url=""), ParsedPage(title="", sections=())
        self._cutter_is_starting = True
        try:
            with suppress(DiedError, TimeoutError, OSError, PageError):
                await self._cutting.warm()
                # Loads the tokenizers, which takes as long as the start.
                await self._cut_apart(page, empty, counter.counted_models, MAX_TOKENS)
        finally:
            self._cutter_is_starting = False

    async def close(self) -> None:
        """Ends the processes. The pool may be used again."""
        await asyncio.gather(self._parsing.close(), self._cutting.close())


def _is_small(parsed: ParsedPage) -> bool:
    parts = (part for section in parsed.sections for block in section.blocks for part in block.parts)
    return sum(map(len, parts)) <= CUT_HERE


async def _parsed(
    process: WorkProcess, task: Task, content: bytes
) -> tuple[Parsed | Refused | Broken, list[Section]]:
    await process.send([task.model_dump_json(exclude_defaults=True).encode(), content])
    sections: list[Section] = []
    try:
        reply = REPLY.validate_json(await process.receive())
        for _ in range(reply.frames if isinstance(reply, Parsed) else 0):
            sections += SECTIONS.validate_json(await process.receive())
    except ValidationError as error:
        raise DiedError("its reply is none") from error
    return reply, sections


async def _chunks(process: WorkProcess, page: Page) -> list[Chunk]:
    chunks: list[Chunk] = []
    while True:
        try:
            reply = CUT_REPLY.validate_json(await process.receive())
        except ValidationError as error:
            raise DiedError("its reply is none") from error
        if isinstance(reply, Broken):
            raise _broke(reply, page.path)
        chunks += [
            Chunk(id=flat.id, page=page, position=index, text=flat.text, section=flat.section, url=flat.url)
            for index, flat in enumerate(reply.chunks, len(chunks))
        ]
        if reply.last:
            return chunks


def _broke(reply: Broken, path: str) -> PageError:
    logger.error("page.parser_failed", extra={"path": path, "error": reply.error, "where": list(reply.where)})
    return PageError("it broke the parser; the log says where")
