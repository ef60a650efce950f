"""`footnote eval answers`: answer sets through the whole pipeline, over the data folder's pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bot.cli.as_json import write_json
from bot.cli.compose import Runtime, open_runtime, utc_now
from bot.cli.evaluate import clock_at
from bot.cli.local import LocalSession
from bot.cli.session import IngestRequest
from bot.cli.sources import sample_folder
from kb.errors import UnavailableError
from kb.evaluation.answer_sets import CHECKS, AnswerResult, read_answer_set, run_answer_case, tallies
from kb.settings import Settings


async def answers(settings: Settings, file: Path | None, *, out: Path | None) -> int:
    """Returns 1 when a case fails. Without a file the sample's set is asked, of the sample where nothing is indexed."""
    cases = read_answer_set(file or sample_folder().parent / "answers.json")
    clock = clock_at(cases.as_of) if cases.as_of else utc_now
    console = Console(stderr=True)
    async with open_runtime(settings, "eval", models=True, clock=clock) as runtime:
        if file is None:
            await _with_sample(runtime)
        results = [
            await run_answer_case(runtime.pipeline, case)
            for case in track(cases.cases, "Asking", console=console)
        ]
    for result in results:
        for check, told in result.problems.items():
            console.print(f"{result.case.id}: {check}: {told}", markup=False, highlight=False, soft_wrap=True)
    Console().print(_table(results))
    if out is not None:
        write_json(out, _told(settings, results))
    return 1 if any(result.problems for result in results) else 0


async def _with_sample(runtime: Runtime) -> None:
    if (await runtime.index.counts()).pages:
        return
    async for step in LocalSession(runtime).ingest(IngestRequest(sample=True)):
        if step.phase == "failed":
            raise UnavailableError(f"the sample handbook could not be indexed: {step.error}")


def _table(results: Sequence[AnswerResult]) -> Table:
    table = Table("category", "cases", "passed", *CHECKS, title="Answers", box=box.SIMPLE_HEAD)
    for name, tally in tallies(results).items():
        failed = [str(tally.failed[check]) if tally.failed[check] else "" for check in CHECKS]
        table.add_row(name, str(tally.cases), str(tally.passed), *failed)
    table.caption = "Under a check: cases that failed it"
    return table


def _told(settings: Settings, results: Sequence[AnswerResult]) -> dict[str, Any]:
    return {
        "config": {
            "rewriter": settings.rewrite.mode,
            "model": settings.model.effective_provider,
            "embedder": settings.embed.model,
            "reranker": settings.rerank.model,
        },
        "categories": {
            name: {"cases": tally.cases, "passed": tally.passed, "failed": tally.failed}
            for name, tally in tallies(results).items()
        },
        "cases": [_case(result) for result in results],
    }


def _case(result: AnswerResult) -> dict[str, Any]:
    answer = result.answer
    return {
        "id": result.case.id,
        "problems": result.problems,
        "question": result.case.question,
        "rewritten": answer.rewritten,
        "outcome": answer.outcome,
        "answer": answer.text,
        "cited": sorted({citation.chunk.page.path for citation in answer.citations}),
        "confidence": round(answer.confidence, 3),
        "notes": list(answer.notes),
    }
