"""`footnote eval rewrites`: rewrites alone, without embedder or index."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bot.cli.evaluation.report import Report, table, track
from bot.cli.evaluation.scratch import rewriting_model
from kb.config.settings import Settings
from kb.errors import SettingsError
from kb.evaluation.corpus import corpus_chunks
from kb.evaluation.datasets import read_conversations, read_data_set
from kb.evaluation.rewrites import (
    GoldRewrite,
    read_rewrite_cases,
    rewrite_figures,
    run_gold_rewrites,
    run_rewrite_case,
    run_standalone,
    standalone_figures,
    standalone_questions,
)
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.vocabulary import Vocabulary, count
from kb.rewriting.rewriter import Rewriter, choose_rewriter
from kb.text.language import warm_up


async def rewrites(settings: Settings, file: Path, *, least: Mapping[str, float]) -> Report:
    """Rewrites cases. The exit code is 1 when a hand-made one fails, or a data set's figure is below `least`.

    A data set's folder lends its corpus's words to the spelling.
    """
    async with AsyncExitStack() as stack:
        model = rewriting_model(settings, stack, wanted=settings.rewrite.mode == "model")
        warm_up()
        counted = None
        corpus = file if file.is_dir() else file.parent
        if file.suffix != ".json" and (corpus / "corpus.jsonl").exists():
            passages = (chunk for _, chunks in corpus_chunks(read_data_set(corpus)) for chunk in chunks)
            counted = count(passages, LexicalEncoder())
        rewriter = choose_rewriter(settings, client=model, vocabulary=Vocabulary(counted).frequency)
        if file.suffix == ".json":
            return await _cases(rewriter, file, settings)
        return await _gold(rewriter, file, settings, least)


async def _cases(rewriter: Rewriter, file: Path, settings: Settings) -> Report:
    results = [await run_rewrite_case(rewriter, case) for case in read_rewrite_cases(file).cases]
    failed = [result for result in results if result.problems]
    passed = len(results) - len(failed)
    return Report(
        figures={
            **_config(settings),
            "passed": passed,
            "failed": len(failed),
            "cases": [
                {"id": result.case.id, "problems": result.problems, "rewrite": asdict(result.rewrite)}
                for result in results
            ],
        },
        shown=[
            *(
                f"{result.case.id}: {'; '.join(result.problems)}: {result.rewrite.query!r}"
                for result in failed
            ),
            f"{passed} passed, {len(failed)} failed",
        ],
        code=1 if failed else 0,
    )


async def _gold(rewriter: Rewriter, file: Path, settings: Settings, least: Mapping[str, float]) -> Report:
    talks = read_conversations(file / "conversations.jsonl" if file.is_dir() else file)
    results: list[GoldRewrite] = []
    for talk in track(talks, "Rewriting"):
        results += await run_gold_rewrites(rewriter, talk)
    cases = list(standalone_questions(talks))
    standalone = [await run_standalone(rewriter, case) for case in track(cases, "Asking what stands alone")]
    figures = {**rewrite_figures(results).model_dump(), **standalone_figures(cases, standalone)}
    if unknown := sorted(least.keys() - figures.keys()):
        raise SettingsError(f"--least {unknown[0]}: no such figure; there are {', '.join(figures)}")
    missed = {name for name, floor in least.items() if (figures[name] or 0.0) < floor}
    rows = table("figure", "value", "at least", title=f"{file.name}: {settings.rewrite.mode}")
    for name, value in figures.items():
        shown = "-" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
        floor = f"{least[name]:.3f}{', missed' if name in missed else ''}" if name in least else ""
        rows.add_row(name, shown, floor)
    return Report(
        figures={
            **_config(settings),
            **figures,
            "turns": [
                {
                    **asdict(result),
                    "follow_up": result.follow_up,
                    "noticed": result.noticed,
                    "exact": result.exact,
                }
                for result in results
            ],
            "taken_for_follow_ups": [asdict(result) for result in standalone if result.noticed],
        },
        shown=[rows],
        code=1 if missed else 0,
    )


def _config(settings: Settings) -> dict[str, Any]:
    return {"config": {"rewriter": settings.rewrite.mode, "window": settings.rewrite.window}}
