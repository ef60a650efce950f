"""`footnote eval answers`: answer sets through the whole pipeline, over the data folder's pages.

With `--record` or `--replay` the language model is one that sends nothing (`kb.llm.recorded`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bot.cli.composition.runtime import Runtime, open_runtime, utc_now
from bot.cli.composition.sources import sample_folder
from bot.cli.evaluation.answer_report import PendingCase, answer_tables, report_json
from bot.cli.evaluation.questions import clock_at
from bot.cli.evaluation.report import Report, track
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


async def answers(
    settings: Settings,
    file: Path | None,
    *,
    category: str | None = None,
    limit: int | None = None,
    translations: Path | None = None,
    language: str | None = None,
    record: Path | None = None,
    replay: Sequence[Path] = (),
) -> Report:
    """Asks the cases of an answer set. The exit code is 1 when one fails, 3 when one waits for a reply of the model.

    Without a file the sample's set is asked, of the sample where nothing is indexed.

    Args:
        translations, language: ask only the cases that are translated, in that language; `kb.evaluation.translations`.
        record, replay: files of requests and replies; `kb.llm.recorded`.
    """
    cases = _in_language(
        read_answer_set(file or sample_folder().parent / "answers.json"), translations, language
    )
    chosen = cases.some(category=category, limit=limit)
    if not chosen.cases:
        labels = ", ".join(sorted({case.category for case in cases.cases if case.category})) or "none"
        raise SettingsError(f"no case is of the category {category!r}; there are: {labels}")
    model: RecordedModel | None = None
    if record is not None or replay:
        settings = recorded_settings(settings)
        model = RecordedModel(settings.model, read_replies(replay))
    clock = clock_at(chosen.as_of) if chosen.as_of else utc_now
    results: list[AnswerResult] = []
    pending: list[PendingCase] = []
    async with open_runtime(settings, "eval", models=True, clock=clock, model=model) as runtime:
        if file is None:
            await _with_sample(runtime)
        for case in track(chosen.cases, "Asking"):
            ended = await _run(runtime.pipeline, case)
            if isinstance(ended, PendingCase):
                pending.append(ended)
            else:
                results.append(ended)
    if record is not None and model is not None:
        write_requests(record, list(model.recorded.values()))
    failed = any(result.problems for result in results)
    return Report(
        figures=report_json(settings, results, pending, language=language),
        shown=[
            *(
                f"{result.case.id}: {check}: {text}"
                for result in results
                for check, text in result.problems.items()
            ),
            *(
                f"{waiting.case.id}: pending: no reply to {', '.join(waiting.requests)}"
                for waiting in pending
            ),
            *answer_tables(results, [waiting.case for waiting in pending]),
        ],
        code=PENDING if pending else FAILED if failed else 0,
    )


def recorded_settings(settings: Settings) -> Settings:
    """Chooses Claude, with or without a key, unless another provider is named. Rewrites kept earlier are not used.

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


def _in_language(cases: AnswerSet, translations: Path | None, language: str | None) -> AnswerSet:
    """
    Raises:
        SettingsError: a file of translations without a language, the reverse, or nothing in that language.
    """
    if translations is None:
        if language is not None:
            raise SettingsError("--language needs the file of --translations")
        return cases
    if language is None:
        raise SettingsError(
            f"--translations needs a --language; {AS_WRITTEN}: the same cases as they are written"
        )
    return translated(cases, read_translations(translations), language)


async def _run(pipeline: Pipeline, case: AnswerCase) -> AnswerResult | PendingCase:
    """Runs a case. It is pending if any request had no reply, even where something else answered."""
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
