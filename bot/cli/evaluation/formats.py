"""`footnote eval formats`: reads every file of a folder as a sync would and measures what is left of each document."""

from __future__ import annotations

import asyncio
import resource
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from bot.cli.as_json import write_json
from ingest.errors import PageError
from ingest.parsers.formats import kind_of
from ingest.parsers.pool import ReaderPool
from ingest.parsers.reader import Reader
from kb.errors import SettingsError
from kb.evaluation.documents import NOTHING, Survival, survival
from kb.evaluation.formats import expected_pairs

WANTED_RECALL = 0.95
"""Least share of the expected outputs' words, over all documents."""
_OUR_FAULT = ("it broke the parser", "took longer than", "program that reads it crash")


@dataclass(frozen=True, kw_only=True, slots=True)
class FileResult:
    """`reason`: why the file is not indexed; None: it is. `survived`: only where an expected output is known."""

    path: str
    kind: str
    seconds: float
    reason: str | None = None
    survived: Survival | None = None

    @property
    def is_our_fault(self) -> bool:
        return self.reason is not None and any(fault in self.reason for fault in _OUR_FAULT)


async def formats(folder: Path, *, out: Path | None) -> int:
    """Prints a table of the formats; 1 where a file crashed or hung its parser, or too few words survived."""
    if not folder.is_dir():
        raise SettingsError(f"there is no folder {folder}")
    pool = ReaderPool()
    try:
        results = await _results(folder, pool)
    finally:
        await pool.close()
    total = _survived(results)
    if out is not None:
        write_json(out, _told(results))
    _show(results, total)
    faults = [result for result in results if result.is_our_fault]
    return 1 if faults or (total.recall is not None and total.recall < WANTED_RECALL) else 0


async def _results(folder: Path, reader: Reader) -> list[FileResult]:
    expected = {pair.document: pair.markdown for pair in expected_pairs(folder)}
    files = await asyncio.to_thread(lambda: sorted(path for path in folder.rglob("*") if path.is_file()))
    results = []
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("Reading files", total=len(files))
        for file in files:
            results.append(await _result(file, folder, reader, expected))
            progress.advance(task)
    return results


async def _result(file: Path, folder: Path, reader: Reader, expected: Mapping[Path, str]) -> FileResult:
    path = file.relative_to(folder).as_posix()
    started = time.perf_counter()
    reason, text = None, ""
    try:
        page = await reader.read(await asyncio.to_thread(file.read_bytes), path=path)
        text = page.as_markdown()
    except PageError as error:
        reason = error.reason
    return FileResult(
        path=path,
        kind=kind_of(path),
        seconds=time.perf_counter() - started,
        reason=reason,
        survived=survival(expected[file], text) if file in expected else None,
    )


def _survived(results: Iterable[FileResult]) -> Survival:
    return sum((result.survived for result in results if result.survived is not None), NOTHING)


def _show(results: Sequence[FileResult], total: Survival) -> None:
    table = Table(
        "format",
        "files",
        "indexed",
        "known",
        "words",
        "noise",
        "heads",
        "rows",
        "s",
        box=box.SIMPLE_HEAD,
    )
    kinds = sorted({result.kind for result in results})
    for kind in kinds:
        table.add_row(kind, *_row([result for result in results if result.kind == kind]))
    table.add_section()
    table.add_row("all", *_row(results))
    table.caption = (
        "known: with an expected output; words, heads(ings), rows: share of it that is found; noise: words it lacks; "
        f"largest reader {_peak_mb():.0f} MB"
    )
    console = Console()
    console.print(table)
    for reason, paths in sorted(_by_reason(results).items()):
        console.print(f"{len(paths):4} {reason}", highlight=False, markup=False)
    if total.recall is not None and total.recall < WANTED_RECALL:
        console.print(f"words found {total.recall:.3f}: below the target of {WANTED_RECALL}", style="red")


def _row(results: Sequence[FileResult]) -> list[str]:
    survived = _survived(results)
    shares = (survived.recall, survived.noise, survived.headings_kept, survived.rows_kept)
    return [
        str(len(results)),
        str(sum(result.reason is None for result in results)),
        str(sum(result.survived is not None for result in results)),
        *("-" if share is None else f"{share:.3f}" for share in shares),
        f"{sum(result.seconds for result in results):.1f}",
    ]


def _by_reason(results: Iterable[FileResult]) -> dict[str, list[str]]:
    reasons: dict[str, list[str]] = {}
    for result in results:
        if result.reason is not None:
            reasons.setdefault(result.reason, []).append(result.path)
    return reasons


def _told(results: Sequence[FileResult]) -> dict[str, Any]:
    survived = _survived(results)
    return {
        "files": len(results),
        "indexed": sum(result.reason is None for result in results),
        "recall": survived.recall,
        "noise": survived.noise,
        "headings": survived.headings_kept,
        "rows": survived.rows_kept,
        "seconds": round(sum(result.seconds for result in results), 1),
        "largest_reader_mb": round(_peak_mb()),
        "each": [
            {
                "path": result.path,
                "seconds": round(result.seconds, 3),
                "reason": result.reason,
                "recall": result.survived and result.survived.recall,
                "headings": result.survived and result.survived.headings_kept,
                "rows": result.survived and result.survived.rows_kept,
            }
            for result in results
        ],
    }


def _peak_mb() -> float:
    """Resident memory of the largest process that was started and has ended."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit / 1e6
