"""`footnote eval rewrites`: rewrites alone, without embedder or index."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bot.cli.compose import open_language_model
from kb.errors import SettingsError
from kb.evaluation.corpus import CorpusPassages
from kb.evaluation.datasets import read_conversations, read_data_set
from kb.evaluation.rewrites import (
    read_rewrite_cases,
    rewrite_figures,
    run_gold_rewrites,
    run_rewrite_case,
)
from kb.lexical import LexicalEncoder
from kb.rewrite import Rewriter, choose_rewriter
from kb.settings import Settings
from kb.text.language import warm_up
from kb.vocabulary import Vocabulary


async def rewrites(settings: Settings, file: Path, *, out: Path | None) -> int:
    """Returns 1 when a hand-made case fails. A data set's folder lends its corpus's words to the spelling."""
    if settings.rewrite.mode == "model" and settings.model.effective_provider == "none":
        raise SettingsError(
            "--rewriter model needs a language model: set ANTHROPIC_API_KEY or OLLAMA_BASE_URL"
        )
    warm_up()
    async with AsyncExitStack() as stack:
        model = open_language_model(settings, stack) if settings.rewrite.mode == "model" else None
        vocabulary = Vocabulary(LexicalEncoder())
        corpus = file if file.is_dir() else file.parent
        if file.suffix != ".json" and (corpus / "corpus.jsonl").exists():
            await vocabulary.refresh(CorpusPassages(read_data_set(corpus)))
        rewriter = choose_rewriter(settings, client=model, vocabulary=vocabulary.frequency)
        if file.suffix == ".json":
            return await _cases(rewriter, file, settings, out)
        return await _gold(rewriter, file, settings, out)


async def _cases(rewriter: Rewriter, file: Path, settings: Settings, out: Path | None) -> int:
    results = [await run_rewrite_case(rewriter, case) for case in read_rewrite_cases(file).cases]
    failed = [result for result in results if result.problems]
    console = Console()
    for result in failed:
        told = f"{result.case.id}: {'; '.join(result.problems)}: {result.rewrite.query!r}"
        console.print(told, markup=False, highlight=False)
    console.print(f"{len(results) - len(failed)} passed, {len(failed)} failed")
    _write(out, settings, {
        "passed": len(results) - len(failed),
        "failed": len(failed),
        "cases": [
            {"id": one.case.id, "problems": one.problems, "rewrite": asdict(one.rewrite)} for one in results
        ],
    })  # fmt: skip
    return 1 if failed else 0


async def _gold(rewriter: Rewriter, file: Path, settings: Settings, out: Path | None) -> int:
    talks = read_conversations(file / "conversations.jsonl" if file.is_dir() else file)
    results = [one for talk in talks for one in await run_gold_rewrites(rewriter, talk)]
    figures = rewrite_figures(results)
    table = Table("figure", "value", title=f"Rewrites of {file}: {settings.rewrite.mode}")
    for name, value in figures.model_dump().items():
        table.add_row(
            name, "-" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
        )
    Console().print(table)
    _write(out, settings, {
        **figures.model_dump(),
        "turns": [
            {**asdict(one), "follow_up": one.follow_up, "noticed": one.noticed, "exact": one.exact}
            for one in results
        ],
    })  # fmt: skip
    return 0


def _write(out: Path | None, settings: Settings, figures: dict[str, Any]) -> None:
    if out is not None:
        config = {"rewriter": settings.rewrite.mode, "window": settings.rewrite.window}
        told = {"config": config, **figures}
        out.write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
