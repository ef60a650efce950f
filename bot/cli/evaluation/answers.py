"""`footnote eval answers`: answer sets through the whole pipeline, over the data folder's pages.

With `--record` or `--replay` the language model is one that sends nothing (`kb.llm.recorded`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import track

from bot.cli.as_json import write_json
from bot.cli.composition.runtime import Runtime, open_runtime, utc_now
from bot.cli.composition.sources import sample_folder
from bot.cli.evaluation.answer_report import answer_tables, report_json
from bot.cli.evaluation.questions import clock_at
from bot.cli.session.local import LocalSession
from bot.cli.session.requests import IngestRequest
from kb.config.settings import Settings
from kb.errors import SettingsError, UnavailableError
from kb.evaluation.answer_sets import AnswerCase, AnswerResult, AnswerSet, read_answer_set, run_answer_case
from kb.evaluation.translations import AS_WRITTEN, read_translations, translated
from kb.llm.recorded import PendingReplyError, RecordedModel, read_replies, unknown_requests, write_requests
from kb.pipeline import Pipeline

FAILED = 1
PENDING = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswersRequest:
    """`file`: the sample's set without it. `record`, `replay`: see
    `kb.llm.recorded`. `out`: where everything is written.

    `translations`, `language`: only the cases that are translated, in that language; see `kb.evaluation.translations`.
    """

    file: Path | None = None
    category: str | None = None
    limit: int | None = None
    translations: Path | None = None
    language: str | None = None
    record: Path | None = None
    replay: Sequence[Path] = ()
    out: Path | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PendingCase:
    """`requests`: the ids of what has no reply yet."""

    case: AnswerCase
    requests: tuple[str, ...]


async def answers(settings: Settings, request: AnswersRequest) -> int:
    """Returns 1 when a case fails, 3 when one waits for a reply of the model.

    Without a file the sample's set is asked, of the sample where nothing is indexed.
    """
    console = Console(stderr=True)
    cases = _chosen(request)
    model: RecordedModel | None = None
    if request.record is not None or request.replay:
        settings = recorded_settings(settings)
        model = RecordedModel(settings.model, read_replies(request.replay))
    clock = clock_at(cases.as_of) if cases.as_of else utc_now
    async with open_runtime(settings, "eval", models=True, clock=clock, model=model) as runtime:
        if request.file is None:
            await _with_sample(runtime)
        results: list[AnswerResult] = []
        pending: list[PendingCase] = []
        for case in track(cases.cases, "Asking", console=console):
            ended = await _run(runtime.pipeline, case)
            if isinstance(ended, PendingCase):
                pending.append(ended)
            else:
                results.append(ended)
    if request.record is not None and model is not None:
        write_requests(request.record, list(model.recorded.values()))
    _tell(console, results, pending)
    for table in answer_tables(results, [entry.case for entry in pending]):
        Console().print(table)
    if request.out is not None:
        waiting = {entry.case.id: entry.requests for entry in pending}
        unanswered = [entry.case for entry in pending]
        report = report_json(settings, results, unanswered, waiting, language=request.language)
        write_json(request.out, report)
    if pending:
        return PENDING
    return FAILED if any(result.problems for result in results) else 0


def recorded_settings(settings: Settings) -> Settings:
    """Claude, with or without a key, unless another provider is named; rewrites kept from another run are not used.

    Raises:
        SettingsError: the settings want no model.
    """
    if settings.model.provider == "none":
        raise SettingsError("there is nothing to record or replay with model.provider=none")
    provider = "anthropic" if settings.model.provider == "auto" else settings.model.provider
    return settings.model_copy(
        update={
            "model": settings.model.model_copy(update={"provider": provider}),
            "rewrite": settings.rewrite.model_copy(update={"keep_replies_s": 0}),
        }
    )


def _chosen(request: AnswersRequest) -> AnswerSet:
    cases = _in_language(read_answer_set(request.file or sample_folder().parent / "answers.json"), request)
    chosen = cases.some(category=request.category, limit=request.limit)
    if not chosen.cases:
        labels = ", ".join(sorted({case.category for case in cases.cases if case.category})) or "none"
        raise SettingsError(f"no case is of the category {request.category!r}; there are: {labels}")
    return chosen


def _in_language(cases: AnswerSet, request: AnswersRequest) -> AnswerSet:
    """
    Raises:
        SettingsError: a file of translations without a language, the reverse, or nothing in that language.
    """
    if request.translations is None:
        if request.language is not None:
            raise SettingsError("--language needs the file of --translations")
        return cases
    if request.language is None:
        raise SettingsError(
            f"--translations needs a --language; {AS_WRITTEN}: the same cases as they are written"
        )
    return translated(cases, read_translations(request.translations), request.language)


async def _run(pipeline: Pipeline, case: AnswerCase) -> AnswerResult | PendingCase:
    """A case that met a request without a reply is pending, even where something has answered in spite of it."""
    with unknown_requests() as unknown:
        try:
            result = await run_answer_case(pipeline, case)
        except PendingReplyError:
            return PendingCase(case=case, requests=tuple(unknown))
        except BaseExceptionGroup as group:
            if group.subgroup(PendingReplyError) is None:
                raise
            return PendingCase(case=case, requests=tuple(unknown))
    return PendingCase(case=case, requests=tuple(unknown)) if unknown else result


async def _with_sample(runtime: Runtime) -> None:
    if (await runtime.index.counts()).pages:
        return
    async for step in LocalSession(runtime).ingest(IngestRequest(sample=True)):
        if step.phase == "failed":
            raise UnavailableError(f"the sample handbook could not be indexed: {step.error}")


def _tell(console: Console, results: Sequence[AnswerResult], pending: Sequence[PendingCase]) -> None:
    lines = [
        f"{result.case.id}: {check}: {told}" for result in results for check, told in result.problems.items()
    ]
    lines += [f"{entry.case.id}: pending: no reply to {', '.join(entry.requests)}" for entry in pending]
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
