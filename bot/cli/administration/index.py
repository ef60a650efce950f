"""`footnote ingest`, `reindex`, `forget`, `status` and `stats`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from rich.table import Table

from bot.cli.administration.dead_letters import MEND, unanswered_line
from bot.cli.output import print_json, print_result, print_table, progress_bar, say, say_rest
from bot.cli.session.requests import ForgetRequest, IngestRequest
from bot.cli.session.session import Session, open_session
from kb.config.settings import Settings
from kb.errors import SettingsError
from kb.jobs import FailedPage, SyncReport
from kb.store.data_folder import DataFolder

SOME_FAILED = 3
LISTED = 20
"""Paths of each kind that a person is shown; `--json` has them all."""


async def ingest(settings: Settings, request: IngestRequest, *, as_json: bool) -> int:
    # before the store is started for nothing
    for path in request.paths:
        must_exist(path)
    async with open_session(settings, "ingest") as session:
        report = await follow(session, request)
    if report is None:
        return 1
    if as_json:
        empty = {name for name in ("warned", "titles", "dry_run", "doubts") if not getattr(report, name)}
        sys.stdout.write(report.model_dump_json(indent=2, exclude=empty) + "\n")
    else:
        show_report(report)
    return SOME_FAILED if report.failed else 0


def must_exist(path: Path) -> None:
    """
    Raises:
        SettingsError: there is nothing at `path`.
    """
    if not path.expanduser().exists():
        raise SettingsError(f"there is no folder or file {path}")


async def follow(session: Session, request: IngestRequest) -> SyncReport | None:
    """Runs an ingest behind a progress bar (on stderr, so that `--json` stays clean). None when it failed."""
    with progress_bar() as bar:
        task = bar.add_task("Reading pages", total=None)
        async with aclosing(session.ingest(request)) as steps:
            async for step in steps:
                bar.update(
                    task, description=_PHASES[step.phase], completed=step.done, total=step.total or None
                )
                if step.phase == "failed":
                    bar.console.print(f"footnote: {step.error}", highlight=False, markup=False, style="red")
                    if step.refusal and not request.rollback:
                        bar.console.print("The index is as it was. --force overrules.")
                if step.phase == "done":
                    return step.report
    return None


def show_report(report: SyncReport) -> None:
    counts = ", ".join(
        f"{number} {kind}"
        for kind, number in (
            ("added", len(report.added)),
            ("changed", len(report.changed)),
            ("removed", len(report.removed)),
            ("unchanged", report.unchanged),
            ("failed", len(report.failed)),
        )
    )
    would = "Would be: " if report.dry_run else ""
    say(f"{would}{counts}; {report.chunks} passages in {report.seconds:.1f} s")
    for doubt in report.doubts:
        say(f"  looks wrong: {doubt}", style="yellow")
    if report.dry_run:
        for mark, paths in (("+", report.added), ("~", report.changed), ("-", report.removed)):
            _say_some([f"{mark} {report.named(path)}" for path in paths], rest=f"{mark} and")
    _say_some(_reasons(report, report.failed), style="yellow")
    if report.warned:
        say(f"{len(report.warned)} to look at:")
        _say_some(_reasons(report, report.warned))


def _reasons(report: SyncReport, pages: Sequence[FailedPage]) -> list[str]:
    return [f"{report.named(page.path)}: {page.reason}" for page in pages]


def _say_some(lines: Sequence[str], *, rest: str = "and", style: str | None = None) -> None:
    """Prints the first lines and counts the rest."""
    for line in lines[:LISTED]:
        say(f"  {line}", style=style)
    say_rest(len(lines), LISTED, start=f"  {rest}")


async def forget(settings: Settings, request: ForgetRequest) -> int:
    async with open_session(settings, "forget") as session:
        reply = await session.forget(request)
    if not reply.pages:
        where = "was forgotten by" if request.undo else "is at"
        say(f"No page {where} {request.address}.")
        return 1
    done = "The next sync finds it again" if request.undo else "Forgotten"
    for page in reply.pages:
        say(f"{done}: {page}")
    return 0


async def status(settings: Settings, *, as_json: bool, quiet: bool) -> int:
    if quiet:
        return 0 if await _is_well(settings) else 1
    nobody_runs = DataFolder(settings.data).owner() is None
    async with open_session(settings, "status") as session:
        status, syncs, offer = await session.status(), await session.syncs(), await session.offer()
    if nobody_runs:  # this command owns the folder for the moment
        status["running"] = None
    if as_json:
        print_json(status | {"offer": offer or None, "syncs": syncs})
    else:
        _show_pairs(status)
        _show_syncs(syncs)
        if unanswered := unanswered_line(status):
            say(f"{unanswered}. {MEND}", style="yellow")
        if offer:
            say(offer, style="yellow")
    return 0


async def _is_well(settings: Settings) -> bool:
    """Whether a bot runs, and its index and store answer."""
    if DataFolder(settings.data).owner() is None:
        return False
    async with open_session(settings, "status") as session:
        return bool((await session.status())["status"] == "ok")


async def stats(settings: Settings, *, as_json: bool) -> int:
    async with open_session(settings, "stats") as session:
        print_result(await session.stats(), _show_pairs, as_json=as_json)
    return 0


def _show_pairs(pairs: dict[str, Any]) -> None:
    table = Table(box=None, show_header=False)
    for name, value in pairs.items():
        if isinstance(value, dict) and any(isinstance(part, dict) for part in value.values()):
            for part, figures in value.items():
                table.add_row(part, ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in figures.items()))
            continue
        if isinstance(value, dict):
            value = [f"{part.replace('_', ' ')} {number}" for part, number in value.items()]
        if isinstance(value, float):
            value = round(value, 2)
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        table.add_row(name.replace("_", " "), "none" if shown in (None, "") else str(shown))
    print_table(table)


def _show_syncs(syncs: Sequence[Mapping[str, Any]]) -> None:
    if not syncs:
        return
    table = Table("source", "pages", "last sync", "result", "every", "next", box=None)
    for sync in syncs:
        last = sync["last_sync"]
        every, left = sync["sync_every_s"], sync["next_sync_in_s"]
        table.add_row(
            sync["name"],
            "?" if sync["pages"] is None else str(sync["pages"]),
            last["at"][:16].replace("T", " ") if last else "never",
            _result(last) if last else "",
            duration(every) if every else "on request",
            "" if not every else f"in {duration(left)}" if left else "when a bot runs",
        )
    print_table(table)


def _result(last: Mapping[str, Any]) -> str:
    if last["error"]:
        return f"failed: {last['error']}"
    counts = ", ".join(f"{last[kind]} {kind}" for kind in ("added", "changed", "removed", "failed"))
    return counts if last["alone"] else f"{counts} (all sources together)"


def duration(seconds: float) -> str:
    """Writes a duration: "0.4 s", "48 s", "1 min 48 s", "1 h 2 min"."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


_PHASES = {
    "queued": "Waiting",
    "reading": "Reading pages",
    "indexing": "Indexing pages",
    "swapping": "Switching over",
    "done": "Done",
    "failed": "Failed",
}
