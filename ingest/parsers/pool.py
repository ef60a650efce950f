"""Parses files and cuts pages in processes of their own
(`ingest.processes`), some 60 and 100 MB each. None imports a model.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from pydantic import ValidationError

from ingest.chunking.chunks import MAX_TOKENS
from ingest.errors import PageError
from ingest.page import ParsedPage, Section
from ingest.parsers.formats import kind_of
from ingest.parsers.reader import Tokens, cut_here
from ingest.parsers.wire import (
    CUT_REPLY,
    REPLY,
    SECTIONS,
    Broken,
    CutTask,
    Parsed,
    Refused,
    Task,
    framed,
)
from ingest.processes import MEMORY_BYTES, DiedError, ProcessPool, WorkProcess
from kb.inference.counting import CountedModel
from kb.models import Chunk, Page

logger = logging.getLogger(__name__)

SECONDS = 30.0
"""For one file. The 872 pages of the largest document of an office that we met take 1.5 s."""
_LONGER = {"pdf": 7.0, "csv": 3.0, "tsv": 3.0, "xlsx": 3.0, "xlsm": 3.0, "xls": 3.0, "ods": 3.0}
"""Kinds that hold thousands of pages or rows, which are read in many times that."""
CUT_HERE = 20_000
"""Characters of a page that may be cut in a thread of ours, which holds Python's lock for a few milliseconds."""
CUT_SECONDS = 300.0
"""For one page: the worst of 5 MB take 20 s of a processor, and give way to all else that wants it."""


class ReaderPool:
    """A `Reader`. At most `workers` files are parsed at a time, and one page is cut.

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
        self._cutter_is_late = False

    async def read(self, content: bytes, *, path: str, media_type: str | None = None) -> ParsedPage:
        """As `Reader.read`. Parsing for longer than the limit, or a crash, is a `PageError` too."""
        task = Task(path=path, media_type=media_type)
        seconds = self._seconds * _LONGER.get(kind_of(path, media_type), 1.0)
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

    async def cut(self, page: Page, parsed: ParsedPage, *, tokens: Tokens, max_tokens: int) -> list[Chunk]:
        """As `Reader.cut`. Where a model's tokenizer has no file of its own, it is done in a thread; so are small pages
        while the process that cuts is still starting.
        """
        models = tokens.counted_models
        if models is None or (self._cutter_is_late and _is_small(parsed)):
            return await cut_here(page, parsed, tokens=tokens, max_tokens=max_tokens)
        return await self._cut_apart(page, parsed, models, max_tokens)

    async def _cut_apart(
        self, page: Page, parsed: ParsedPage, models: tuple[CountedModel, ...], max_tokens: int
    ) -> list[Chunk]:
        frames = framed(parsed.sections)
        task = CutTask(page=page, models=models, max_tokens=max_tokens, frames=len(frames))
        try:
            async with self._cutting.process(seconds=self._cut_seconds) as process:
                head = [task.model_dump_json(exclude_defaults=True).encode()]
                for some in frames:
                    await process.send([*head, SECTIONS.dump_json(tuple(some))])
                    head = []
                if head:
                    await process.send(head)
                return await _pieces(process, page)
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

    async def warm(self, tokens: Tokens) -> None:
        """As `Reader.warm`: a process that parses and the one that cuts, for which small pages do not wait."""
        await asyncio.gather(self._warm_parser(), self._warm_cutter(tokens))

    async def _warm_parser(self) -> None:
        with suppress(DiedError, TimeoutError, OSError):  # whoever has a page to read is told
            await self._parsing.warm()

    async def _warm_cutter(self, tokens: Tokens) -> None:
        if not tokens.counted_models or self._cutting.is_warm:
            return
        nothing = Page(id="", source="", path="", title="", url="")
        self._cutter_is_late = True
        try:
            with suppress(DiedError, TimeoutError, OSError, PageError):
                await self._cutting.warm()
                # It reads the tokenizers, which takes as long as its start.
                await self._cut_apart(
                    nothing, ParsedPage(title="", sections=()), tokens.counted_models, MAX_TOKENS
                )
        finally:
            self._cutter_is_late = False

    async def close(self) -> None:
        """Ends the processes. The pool may be used again."""
        await asyncio.gather(self._parsing.close(), self._cutting.close())


def _is_small(parsed: ParsedPage) -> bool:
    held = 0
    for section in parsed.sections:
        held += sum(len(part) for block in section.blocks for part in block.parts)
        if held > CUT_HERE:
            return False
    return True


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


async def _pieces(process: WorkProcess, page: Page) -> list[Chunk]:
    chunks: list[Chunk] = []
    while True:
        try:
            reply = CUT_REPLY.validate_json(await process.receive())
        except ValidationError as error:
            raise DiedError("its reply is none") from error
        if isinstance(reply, Broken):
            raise _broke(reply, page.path)
        chunks += [
            Chunk(id=one.id, page=page, position=at, text=one.text, section=one.section, url=one.url)
            for at, one in enumerate(reply.chunks, len(chunks))
        ]
        if reply.last:
            return chunks


def _broke(reply: Broken, path: str) -> PageError:
    logger.error("page.parser_failed", extra={"path": path, "error": reply.error, "where": list(reply.where)})
    return PageError("it broke the parser; the log says where")
