"""`footnote eval rewrites`: rewrites alone, without embedder or index."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import AsyncExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bot.cli.as_json import write_json
from bot.cli.composition.pipeline import open_language_model
from kb.config.settings import Settings
from kb.errors import SettingsError
from kb.evaluation.corpus import CorpusPassages
from kb.evaluation.datasets import read_conversations, read_data_set
from kb.evaluation.rewrites import (
    read_rewrite_cases,
    rewrite_figures,
    run_gold_rewrites,
    run_rewrite_case,
)
from kb.evaluation.standalone import run_standalone, standalone_figures, standalone_questions
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.vocabulary import Vocabulary, count
from kb.rewriting.rewriter import Rewriter, choose_rewriter
from kb.text.language import warm_up


async def rewrites(
    settings: Settings, file: Path, *, out: Path | None, least: Mapping[str, float] | None = None
) -> int:
    """Returns 1 when a hand-made case fails, or a figure of a data set is below what `least` asks of it.

    A data set's folder lends its corpus's words to the spelling.
    """
    if settings.rewrite.mode == "model" and settings.model.effective_provider == "none":
        raise SettingsError(
            "--rewriter model needs a language model: set ANTHROPIC_API_KEY or OLLAMA_BASE_URL"
        )
    warm_up()
    async with AsyncExitStack() as stack:
        model = open_language_model(settings, stack) if settings.rewrite.mode == "model" else None
        counted = None
        corpus = file if file.is_dir() else file.parent
        if file.suffix != ".json" and (corpus / "corpus.jsonl").exists():
            counted = await count(CorpusPassages(read_data_set(corpus)), LexicalEncoder())
        rewriter = choose_rewriter(settings, client=model, vocabulary=Vocabulary(counted).frequency)
        if file.suffix == ".json":
            return await _cases(rewriter, file, settings, out)
        return await _gold(rewriter, file, settings, out, least or {})


async def _cases(rewriter: Rewriter, file: Path, settings: Settings, out: Path | None) -> int:
    results = [await run_rewrite_case(rewriter, case) for case in read_rewrite_cases(file).cases]
    failed = [result for result in results if result.problems]
    console = Console()
    for result in failed:
        line = f"{result.case.id}: {'; '.join(result.problems)}: {result.rewrite.query!r}"
        console.print(line, markup=False, highlight=False)
    console.print(f"{len(results) - len(failed)} passed, {len(failed)} failed")
    _write(out, settings, {
        "passed": len(results) - len(failed),
        "failed": len(failed),
        "cases": [
            {"id": one.case.id, "problems": one.problems, "rewrite": asdict(one.rewrite)} for one in results
        ],
    })  # fmt: skip
    return 1 if failed else 0


async def _gold(
    rewriter: Rewriter, file: Path, settings: Settings, out: Path | None, least: Mapping[str, float]
) -> int:
    talks = read_conversations(file / "conversations.jsonl" if file.is_dir() else file)
    progress = Console(stderr=True)
    results = [
        run_gold_rewrite
        for talk in track(talks, "Rewriting", console=progress)
        for run_gold_rewrite in await run_gold_rewrites(rewriter, talk)
    ]
    asked = list(standalone_questions(talks))
    alone = [
        await run_standalone(rewriter, case)
        for case in track(asked, "Asking what stands alone", console=progress)
    ]
    figures = {**rewrite_figures(results).model_dump(), **standalone_figures(asked, alone)}
    if unknown := sorted(least.keys() - figures.keys()):
        raise SettingsError(f"--least {unknown[0]}: no such figure; there are {', '.join(figures)}")
    missed = {name for name, floor in least.items() if (figures[name] or 0.0) < floor}
    Console().print(_table(figures, least, missed, title=f"{file.name}: {settings.rewrite.mode}"))
    _write(out, settings, {
        **figures,
        "turns": [
            {**asdict(one), "follow_up": one.follow_up, "noticed": one.noticed, "exact": one.exact}
            for one in results
        ],
        "taken_for_follow_ups": [asdict(one) for one in alone if one.noticed],
    })  # fmt: skip
    return 1 if missed else 0


def _table(
    figures: Mapping[str, float | int | None],
    least: Mapping[str, float],
    missed: Collection[str],
    *,
    title: str,
) -> Table:
    table = Table("figure", "value", "at least", title=title, box=box.SIMPLE_HEAD)
    for name, value in figures.items():
        shown = "-" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
        floor = f"{least[name]:.3f}{', missed' if name in missed else ''}" if name in least else ""
        table.add_row(name, shown, floor)
    return table


def _write(out: Path | None, settings: Settings, figures: dict[str, Any]) -> None:
    if out is not None:
        config = {"rewriter": settings.rewrite.mode, "window": settings.rewrite.window}
        report = {"config": config, **figures}
        write_json(out, report)
