"""Compares sizes of passages, and passages with and without their headings, by what a folder's own headings and sentences
find.

    python -m tests.bench.chunking ../shared/data/kb/uk-gds-way [--questions 300] [--json OUT]

`FOOTNOTE_EMBED__MODEL` chooses the embedder.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from bot.cli.output import write_json
from ingest.chunking.chunks import chunk_page, fitting_title
from ingest.errors import PageError
from ingest.page import ParsedPage
from ingest.parsers.pool import ReaderPool
from ingest.sources.folder import FolderSource
from kb.config.configuration import load_settings
from kb.config.settings import Settings
from kb.config.sources import FolderSettings
from kb.errors import SettingsError
from kb.inference.embedder import Embedder
from kb.models import Chunk, Page
from kb.text.sentences import split_units
from tests.bench.chunk_questions import ChunkQuestion, Found, draw, found

SEED = 7
_SIZES = (96, 160, 254)
_MIN_WORDS = 8
"""Least words of a sentence that can be asked for, and of a section that can be an answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Way:
    """`context`: whether the embedded text starts with title and heading path."""

    max_tokens: int
    context: bool

    @property
    def name(self) -> str:
        return f"{self.max_tokens} tokens, {'with' if self.context else 'without'} headings"


WAYS = tuple(Way(max_tokens=size, context=context) for size in _SIZES for context in (True, False))


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    way: Way
    passages: int
    by_kind: dict[str, Found]


async def chunks(settings: Settings, folders: Sequence[Path], *, questions: int, out: Path | None) -> int:
    """Prints a table, the way in use first."""
    embedder = Embedder(settings.embed)
    try:
        with Progress(console=Console(stderr=True)) as progress:
            pages = await _pages(folders)
            await embedder.ready()
            asked = draw(list(_questions(pages)), questions, seed=SEED)
            task = progress.add_task("Embedding", total=len(WAYS))
            results = []
            for way in WAYS:
                results.append(await _measured(way, pages, asked, embedder))
                progress.advance(task)
    finally:
        embedder.close()
    if out is not None:
        write_json(out, [_told(result) for result in results])
    Console().print(_table(results))
    return 0


async def _pages(folders: Sequence[Path]) -> list[tuple[Page, ParsedPage]]:
    pool = ReaderPool()
    pages = []
    try:
        for number, folder in enumerate(folders):
            if not folder.is_dir():
                raise SettingsError(f"there is no folder {folder}")
            source = FolderSource(FolderSettings(name=f"folder{number}", path=folder, git_dates=False))
            async for ref in source.discover():
                try:
                    parsed = await pool.read((await source.fetch(ref)).content, path=ref.path)
                except PageError:
                    continue
                pages.append((_page(f"{source.name}:{ref.path}", parsed), parsed))
    finally:
        await pool.close()
    return pages


def _page(name: str, parsed: ParsedPage) -> Page:
    return Page(id=name, source="eval", path=name, title=parsed.title, url=name)


def _questions(pages: Sequence[tuple[Page, ParsedPage]]) -> Iterator[ChunkQuestion]:
    """Headings that stand only once in all pages and have two words at least; sentences that stand only once."""
    headings = Counter(section.path[-1] for _, parsed in pages for section in parsed.sections if section.path)
    for page, parsed in pages:
        sections = Counter(section.path for section in parsed.sections)
        for section in parsed.sections:
            prose = [block.text for block in section.blocks if block.kind in ("prose", "list")]
            sentences = [
                plain for text in prose for unit in split_units(text) if _asks(plain := _plain(unit.text))
            ]
            if sections[section.path] > 1 or not sentences:
                continue
            answer = (page.id, *section.path)
            if section.path and headings[section.path[-1]] == 1 and " " in section.path[-1]:
                yield ChunkQuestion(kind="heading", text=section.path[-1], answer=answer)
            yield ChunkQuestion(kind="sentence", text=sentences[len(sentences) // 2], answer=answer)


def _asks(sentence: str) -> bool:
    return len(sentence.split()) >= _MIN_WORDS


def _plain(sentence: str) -> str:
    return " ".join(re.sub(r"\]\([^)]*\)|[*_`#>|\[\]]", " ", sentence).split())


async def _measured(
    way: Way, pages: Sequence[tuple[Page, ParsedPage]], asked: Sequence[ChunkQuestion], embedder: Embedder
) -> Result:
    made = [
        (chunk, sections)
        for page, parsed in pages
        for chunk, sections in _chunks(way, page, parsed, embedder)
    ]
    texts = [chunk.embedded_text if way.context else chunk.text for chunk, _ in made]
    passages = await embedder.embed_documents(texts)
    tokens = [embedder.count_tokens(text) for text in texts]
    by_kind = {}
    for kind in ("heading", "sentence"):
        of_kind = [question for question in asked if question.kind == kind]
        vectors = await embedder.embed_queries([question.text for question in of_kind])
        answers = [sections for _, sections in made]
        by_kind[kind] = found(of_kind, vectors, passages, answers=answers, tokens=tokens)
    return Result(way=way, passages=len(made), by_kind=by_kind)


def _chunks(
    way: Way, page: Page, parsed: ParsedPage, embedder: Embedder
) -> Iterator[tuple[Chunk, frozenset[tuple[str, ...]]]]:
    """Chunks with the section that each holds a part of."""
    title = fitting_title(page.title, count_tokens=embedder.count_tokens, max_tokens=way.max_tokens)
    made = chunk_page(
        replace(page, title=title),
        parsed,
        count_tokens=embedder.count_tokens,
        max_tokens=way.max_tokens,
    )
    for chunk in made:
        yield chunk, frozenset({(page.id, *chunk.section)})


def _table(results: Sequence[Result]) -> Table:
    table = Table("way", "passages", "asked by", "R@1", "R@5", "MRR", "tokens", box=box.SIMPLE_HEAD)
    for result in results:
        for kind, figures in result.by_kind.items():
            table.add_row(
                result.way.name,
                str(result.passages),
                kind,
                *(f"{share:.3f}" for share in figures.recall.values()),
                f"{figures.mrr:.3f}",
                f"{figures.tokens:.0f}",
            )
    counts = ", ".join(f"{figures.n} by {kind}" for kind, figures in results[0].by_kind.items())
    table.caption = f"{counts}; ranked by the embedder alone; tokens: of the first five passages together"
    return table


def _told(result: Result) -> dict[str, object]:
    return {
        "way": result.way.name,
        "passages": result.passages,
        **{
            kind: {
                "n": figures.n,
                "recall": {str(cutoff): round(share, 4) for cutoff, share in figures.recall.items()},
                "mrr": round(figures.mrr, 4),
                "tokens": round(figures.tokens, 1),
            }
            for kind, figures in result.by_kind.items()
        },
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.chunking", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("folders", nargs="+", type=Path, help="folders of pages")
    parser.add_argument("--questions", type=int, default=300, help="questions of each kind (300)")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures to this file")
    options = parser.parse_args()
    settings = load_settings(environ=os.environ)
    return asyncio.run(chunks(settings, options.folders, questions=options.questions, out=options.json))


if __name__ == "__main__":
    sys.exit(main())
