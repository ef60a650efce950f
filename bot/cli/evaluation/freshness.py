"""`footnote eval freshness`: which pages of a folder are overdue, and what becomes of stale values and conflicts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from rich.table import Table

from bot.cli.composition.pipeline import freshness_policy
from bot.cli.composition.sources import SAMPLE, sample_folder
from bot.cli.evaluation.questions import clock_at
from bot.cli.evaluation.report import Report, table, track, tracked
from bot.cli.evaluation.scratch import obedient, open_scratch
from ingest.errors import PageError
from ingest.parsers.reader import DirectReader
from ingest.sources.folder import FolderSource
from kb.answer import Answer
from kb.config.model_settings import ModelSettings
from kb.config.settings import Settings
from kb.config.sources import PAGES, FolderSettings
from kb.errors import SettingsError
from kb.evaluation.freshness import (
    MOST_STALE,
    FreshnessResult,
    OrdinaryResult,
    alarms_in,
    conflicts_shown,
    counts,
    judge_ordinary,
    judge_pair,
    overdue_pages,
    read_expected,
    stale_share,
)
from kb.evaluation.obedient import ObedientModel
from kb.evaluation.planted import AS_OF, Pair, read_ordinary, read_pairs, write_pages
from kb.evaluation.questions import read_cases, run_cases
from kb.models import Page, Question
from kb.pipeline import Pipeline

Way = Literal["extraction", "model"]
WAYS: tuple[Way, ...] = ("extraction", "model")
VERDICTS = ("new", "both shown", "stale with a warning", "stale as current", "neither", "declined")


@dataclass(frozen=True, kw_only=True, slots=True)
class PlantedResult:
    """What each way of answering made of the planted pairs, and of the ordinary pages."""

    pairs: dict[Way, list[FreshnessResult]]
    ordinary: dict[Way, list[OrdinaryResult]]

    def passed(self, way: Way) -> bool:
        shown, conflicts = conflicts_shown(self.pairs[way])
        return stale_share(self.pairs[way]) <= MOST_STALE and shown == conflicts


async def freshness(
    settings: Settings,
    folder: Path | None = None,
    *,
    dates: Path | None = None,
    at: date | None = None,
    ask_planted: bool = False,
) -> Report:
    """Compares overdue pages with those of `dates`, and asks about the planted pages.

    The exit code is 1 below the target: other pages are overdue than the file's, a stale value is stated as current, or
    a conflict is not shown.
    """
    if (folder is None) != (dates is None):
        raise SettingsError("a folder and --dates go together")
    if folder is None and not ask_planted:
        raise SettingsError("name a folder with --dates, or --planted")
    figures: dict[str, Any] = {}
    shown: list[Table | str] = []
    failed = False
    if folder is not None and dates is not None:
        overdue = await _overdue(settings, folder, dates, at)
        figures |= overdue.figures
        shown += overdue.shown
        failed = overdue.code > 0
    if ask_planted:
        result = await planted(settings)
        questions, alarms = await _sample_alarms(settings)
        figures["planted"] = {way: _as_json(result, way) for way in WAYS}
        figures["sample"] = {"questions": questions, "alarms": alarms}
        shown += _shown(result)
        shown.append(f"sample handbook: {len(alarms)} false alarms in {questions} questions")
        shown += [f"  {alarm}" for alarm in alarms]
        failed = failed or not all(result.passed(way) for way in WAYS)
    return Report(figures=figures, shown=shown, code=1 if failed else 0)


async def _overdue(settings: Settings, folder: Path, dates: Path, at: date | None) -> Report:
    expected = read_expected(dates, at)
    root = folder / "tree" if (folder / "tree").is_dir() else folder
    policy = freshness_policy(settings, clock_at(expected.at))
    pages = [page async for page in dated_pages(root)]
    found = overdue_pages(pages, policy)
    missing, extra = sorted(expected.overdue - found), sorted(found - expected.overdue)
    return Report(
        figures={
            "overdue": {
                "at": expected.at.isoformat(),
                "pages": len(pages),
                "overdue": sorted(found),
                "missed": missing,
                "too_many": extra,
            }
        },
        shown=[
            f"{folder.name} at {expected.at}: {len(pages)} pages, {len(found)} overdue, "
            f"{len(expected.overdue)} expected, {len(missing)} missed, {len(extra)} too many",
            *(f"  missed: {path}" for path in missing),
            *(f"  too many: {path}" for path in extra),
        ],
        code=1 if missing or extra else 0,
    )


async def dated_pages(folder: Path) -> AsyncIterator[Page]:
    """Yields the folder's Markdown pages with the dates that their front matter names; unreadable ones are left out."""
    source = FolderSource(FolderSettings(name="handbook", path=folder, include=PAGES, git_dates=False))
    reader = DirectReader()
    async for ref in source.discover():
        raw = await source.fetch(ref)
        try:
            parsed = await reader.read(raw.content, path=raw.path, media_type=raw.media_type)
        except PageError:
            continue
        yield Page(
            id=ref.path,
            source=source.name,
            path=ref.path,
            title=parsed.title,
            url=raw.url,
            dates=parsed.front.dates,
        )


async def planted(settings: Settings, *, sparse: int = 1) -> PlantedResult:
    """Asks every question of the planted set both ways. `sparse`: with only every so many-th of the ordinary pages."""
    pairs, ordinary = read_pairs(), read_ordinary()[::sparse]
    result = PlantedResult(pairs={way: [] for way in WAYS}, ordinary={way: [] for way in WAYS})
    quoting = _quoting(settings)
    with TemporaryDirectory() as folder:
        write_pages(Path(folder), sparse=sparse)
        source = FolderSettings(name="planted", path=Path(folder), git_dates=False)
        async with (
            ObedientModel() as model,
            open_scratch(quoting, [source], clock=clock_at(AS_OF)) as scratch,
        ):
            for way in WAYS:
                pipeline = scratch.pipeline if way == "extraction" else obedient(scratch, quoting, model)
                for number, pair in enumerate(track(pairs, f"Pairs, by {way}")):
                    answer = await _ask(pipeline, model, f"{way}-{number}", pair)
                    result.pairs[way].append(judge_pair(pair, answer))
                for number, page in enumerate(track(ordinary, f"Other pages, by {way}")):
                    model.page = page.title
                    question = Question(id=f"{way}-o{number}", text=page.question)
                    result.ordinary[way].append(judge_ordinary(page, await pipeline.answer(question)))
    return result


async def _ask(pipeline: Pipeline, model: ObedientModel, name: str, pair: Pair) -> Answer:
    """Asks about a pair. The model repeats the old page where it is given it, else the new one: the worst it can do."""
    question = Question(id=name, text=pair.question)
    if pipeline.written is not None:
        found = await pipeline.find(question)
        given = {
            hit.chunk.page.path for hit in found.hits[: pipeline.retriever.settings.answer.read_passages]
        }
        model.page = pair.old_page[0] if pair.old_path in given else pair.new_page[0]
    return await pipeline.answer(question)


async def _sample_alarms(settings: Settings) -> tuple[int, list[str]]:
    """Counts the sample handbook's questions; returns the conflicts in their answers too, though it has none."""
    cases = read_cases(sample_folder().parent / "questions.json")
    source = FolderSettings(name=SAMPLE, path=sample_folder(), git_dates=False)
    alarms: list[str] = []
    async with open_scratch(_quoting(settings), [source], clock=clock_at(cases.as_of or AS_OF)) as scratch:
        results = run_cases(scratch.pipeline, cases.cases)
        async for result in tracked(results, "Asking the sample handbook", total=len(cases.cases)):
            alarms += [f"{result.case.id}: {alarm}" for alarm in alarms_in(result.answer)]
    return len(cases.cases), alarms


def _quoting(settings: Settings) -> Settings:
    return settings.model_copy(update={"model": ModelSettings(provider="none")})


def _as_json(result: PlantedResult, way: Way) -> dict[str, Any]:
    shown, conflicts = conflicts_shown(result.pairs[way])
    ordinary = result.ordinary[way]
    return {
        "stale_as_current": stale_share(result.pairs[way]),
        "conflicts_shown": shown,
        "conflicts": conflicts,
        "verdicts": counts(result.pairs[way]),
        "ordinary": len(ordinary),
        "ordinary_answered": sum(page.answered for page in ordinary),
        "ordinary_right": sum(page.right for page in ordinary),
        "false_alarms": [
            {"question": page.question, "alarms": page.alarms} for page in ordinary if page.alarms
        ],
        "not_as_wanted": [
            {
                "question": pair.pair.question,
                "kind": pair.pair.kind,
                "verdict": pair.verdict,
                "said": pair.said,
            }
            for pair in result.pairs[way]
            if not pair.as_wanted
        ],
    }


def _shown(result: PlantedResult) -> Iterator[Table | str]:
    for way in WAYS:
        verdicts = table("how the newer page is known", *VERDICTS, title=f"Planted pairs, by {way}")
        for kind, of_kind in counts(result.pairs[way]).items():
            verdicts.add_row(kind, *(str(of_kind.get(verdict, 0)) for verdict in VERDICTS))
        yield verdicts
        figures = _as_json(result, way)
        yield (
            f"stale value as current: {figures['stale_as_current']:.1%} (at most {MOST_STALE:.0%}); "
            f"conflicts shown: {figures['conflicts_shown']} of {figures['conflicts']}; "
            f"ordinary pages: {len(figures['false_alarms'])} false alarms in {figures['ordinary_answered']} answers "
            f"to {figures['ordinary']} questions, {figures['ordinary_right']} with the page's value"
        )
        for miss in figures["not_as_wanted"]:
            answer = " ".join(miss["said"].split())[:160]
            yield f"  {miss['kind']}, {miss['verdict']}: {miss['question']} → {answer}"
        for alarm in figures["false_alarms"]:
            yield f"  false alarm: {alarm['question']} {alarm['alarms'][0]}"
