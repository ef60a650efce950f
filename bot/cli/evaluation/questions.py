"""`footnote eval questions`: asks the pages of the data folder, and compares the cited pages with the expected ones."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time
from pathlib import Path

from bot.cli.composition.runtime import open_runtime, utc_now
from bot.cli.composition.sources import sample_folder
from bot.cli.evaluation.report import Report, track
from kb.config.settings import Settings
from kb.evaluation.questions import CaseResult, read_cases, run_cases


async def questions(settings: Settings, file: Path | None) -> Report:
    """Asks every case. The exit code is 1 when one is not answered from its page."""
    cases = read_cases(file or sample_folder().parent / "questions.json")
    clock = clock_at(cases.as_of) if cases.as_of else utc_now
    results: list[CaseResult] = []
    async with open_runtime(settings, "eval", models=True, clock=clock) as runtime:
        for case in track(cases.cases, "Asking"):
            results += [result async for result in run_cases(runtime.pipeline, [case])]
    failed = [result for result in results if result.problems]
    passed = len(results) - len(failed)
    return Report(
        figures={
            "passed": passed,
            "failed": [{"id": result.case.id, "problems": result.problems} for result in failed],
        },
        shown=[
            *(f"{result.case.id}: {'; '.join(result.problems)}" for result in failed),
            f"{passed} passed, {len(failed)} failed",
        ],
        code=1 if failed else 0,
    )


def clock_at(day: date) -> Callable[[], datetime]:
    """Makes a clock that stands at noon of a day, for cases whose warnings hold on that day."""
    noon = datetime.combine(day, time(12), tzinfo=UTC)
    return lambda: noon
