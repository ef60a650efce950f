"""`footnote eval fidelity`: what files say, by a reading of their own, against what the index would hold of them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import typer
from numpy.typing import NDArray

from bot.cli.evaluation.fidelity_report import FileResult, as_json, code_of, shown
from bot.cli.evaluation.report import Report
from bot.cli.output import progress_bar
from ingest.chunking.chunks import MAX_TOKENS
from ingest.errors import PageError
from ingest.origin import Origin
from ingest.page import ParsedPage
from ingest.parsers.formats import kind_of
from ingest.parsers.pool import ReaderPool
from ingest.parsers.reader import Reader, TokenCounter
from ingest.pipeline import PagePipeline
from ingest.sources.confluence.elements import StorageError
from ingest.sources.confluence.links import PageLinks
from ingest.sources.confluence.storage import storage_to_markdown
from ingest.sources.folder import FolderSource
from ingest.sources.port import PageRef, RawPage
from kb.config.sources import FolderSettings
from kb.evaluation.fidelity.comparison import Held, compared
from kb.evaluation.fidelity.markup import read_markdown
from kb.evaluation.fidelity.originals import original
from kb.evaluation.fidelity.storage import is_storage
from kb.evaluation.fidelity.tools import UncheckedError
from kb.models import Chunk, Page
from kb.retrieval.lexical import LexicalEncoder

AT_ONCE = 2
"""Files read together: each has a converter and a reader of its own."""
_EVERY_FILE = ("*",)


async def fidelity(
    folder: Path, *, formats: Sequence[str] = (), limit: int | None = None, reader: Reader | None = None
) -> Report:
    """Reads every file twice. The exit code is `code_of`'s.

    Args:
        formats: only these endings; empty: all. `limit`: only so many files of each format.
        reader: parses files in the place of a sync's own pool.
    """
    source = FolderSource(FolderSettings(name="files", path=folder, include=_EVERY_FILE, git_dates=False))
    refs = _chosen([ref async for ref in source.discover()], formats, limit)
    if not refs:
        named = " or ".join(f".{name}" for name in formats)
        raise typer.BadParameter(f"{folder} holds no {named + ' ' if named else ''}files")
    pool = ReaderPool(workers=AT_ONCE)
    check = _Check(source, reader or pool)
    try:
        with progress_bar() as progress:
            task = progress.add_task("Reading files twice", total=len(refs))
            free = asyncio.Semaphore(AT_ONCE)

            async def checked(ref: PageRef) -> FileResult:
                async with free:
                    result = await check.result(ref)
                progress.advance(task)
                return result

            results = await asyncio.gather(*map(checked, refs))
    finally:
        await pool.close()
    return Report(figures=as_json(results), shown=list(shown(results)), code=code_of(results))


def _chosen(refs: Sequence[PageRef], formats: Sequence[str], limit: int | None) -> list[PageRef]:
    wanted = {name.lower().lstrip(".") for name in formats}
    chosen: list[PageRef] = []
    counts: Counter[str] = Counter()
    for ref in refs:
        kind = kind_of(ref.path)
        counts[kind] += 1
        if (not wanted or kind in wanted) and counts[kind] <= (limit or counts[kind]):
            chosen.append(ref)
    return chosen


class _Check:
    """Reads files as a sync does, and once more by other means."""

    def __init__(self, source: FolderSource, reader: Reader) -> None:
        self._source = source
        self._reader = reader

    async def result(self, ref: PageRef) -> FileResult:
        kind = kind_of(ref.path)
        try:
            raw = await self._source.fetch(ref)
            kind, page = (
                _page_of_confluence(raw) if is_storage(raw.content) and kind == "xml" else (kind, raw)
            )
            parsed, passages = await self._prepared(page)
        except PageError as error:
            return FileResult(path=ref.path, kind=kind, refused=error.reason)
        try:
            return await asyncio.to_thread(_compared, raw, kind, parsed, passages)
        except UncheckedError as error:
            return FileResult(path=ref.path, kind=kind, unchecked=str(error))

    async def _prepared(self, raw: RawPage) -> tuple[ParsedPage, Sequence[Chunk]]:
        reader = _Noted(self._reader)
        pipeline = PagePipeline(embedder=_Counting(), lexical=LexicalEncoder(), reader=reader)
        prepared = await pipeline.prepare(raw, Origin.of(self._source))
        assert reader.page is not None
        return reader.page, prepared.chunks


def _page_of_confluence(raw: RawPage) -> tuple[str, RawPage]:
    links = PageLinks(base_url="https://wiki.example", edition="cloud", space="", title=Path(raw.path).stem)
    try:
        text = storage_to_markdown(raw.content.decode("utf-8", "replace"), links)
    except StorageError as error:
        raise PageError("its text is no storage format") from error
    return "storage", replace(raw, content=text.encode(), media_type="text/markdown")


def _compared(raw: RawPage, kind: str, parsed: ParsedPage, passages: Sequence[Chunk]) -> FileResult:
    held = Held(
        page=read_markdown(parsed.as_markdown()),
        passages=read_markdown(_text_of(parsed.title, passages)),
        repeated=" ".join((parsed.title, *_empty(parsed))),
    )
    first = original(raw.content, path=raw.path, kind=kind)
    return FileResult(path=raw.path, kind=kind, fidelity=compared(first, held))


def _empty(parsed: ParsedPage) -> list[str]:
    """Returns the headings with nothing below them, which are also the text of their sections."""
    return [
        section.path[-1]
        for section in parsed.sections
        if section.path and [block.text for block in section.blocks] == [section.path[-1]]
    ]


def _text_of(title: str, passages: Sequence[Chunk]) -> str:
    """Returns the passages, each heading once where its section begins."""
    parts = [f"# {title}"]
    before: tuple[str, ...] = ()
    for passage in passages:
        if passage.section != before:
            parts += [f"###### {heading}" for heading in passage.section]
            before = passage.section
        parts.append(passage.text)
    return "\n\n".join(parts)


class _Noted:
    """A reader that keeps the page it read: passages alone do not tell what is repeated in them."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.page: ParsedPage | None = None

    async def warm(self, counter: TokenCounter) -> None:
        await self._reader.warm(counter)

    async def read(self, content: bytes, *, path: str, media_type: str | None = None) -> ParsedPage:
        self.page = await self._reader.read(content, path=path, media_type=media_type)
        return self.page

    async def cut(
        self, page: Page, parsed: ParsedPage, *, counter: TokenCounter, max_tokens: int
    ) -> list[Chunk]:
        return await self._reader.cut(page, parsed, counter=counter, max_tokens=max_tokens)


class _Counting:
    """Counts roughly as the embedder does, without its model: this moves the cuts of passages, nothing else."""

    name = "none"
    dimension = 1
    max_tokens = MAX_TOKENS
    counted_models = None

    async def ready(self) -> None: ...

    def count_tokens(self, text: str) -> int:
        return len(text) // 4 + 2

    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.zeros((len(texts), self.dimension), dtype=np.float32)
