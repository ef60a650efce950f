"""`footnote doctor`: checks every part that a setting names, and says how to fix what is broken.

A check never stops the others. It works beside a running bot: what
belongs to the owner of the data folder is asked of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from bot.cli.administration.dead_letters import MEND, unanswered_line
from bot.cli.checks.api import api_checks
from bot.cli.checks.check import Check
from bot.cli.checks.qdrant import qdrant_checks
from bot.cli.checks.slack import slack_checks
from bot.cli.checks.slack_manifest import manifest_checks
from bot.cli.checks.sources import source_checks
from bot.cli.checks.store import store_checks
from bot.cli.output import print_json
from bot.cli.session.index_details import reranking_line
from bot.cli.session.session import open_session
from kb.calibration import Calibration
from kb.config.model_settings import RerankSettings
from kb.config.settings import Settings
from kb.errors import FootnoteError
from kb.inference.embedder import Embedder
from kb.llm.client import connect_model
from kb.retrieval.rerank import Reranker
from kb.retrieval.weights import fitted_for
from kb.store.data_folder import DataFolder


async def doctor(settings: Settings, *, as_json: bool, manifest: Path | None = None) -> int:
    """Prints the checks and returns 1 if anything is broken; `manifest` is the app's own, as Slack shows it."""
    checks = await _all(settings)
    if manifest is not None:
        checks += manifest_checks(manifest, settings.slack.command)
    if as_json:
        print_json([asdict(check) for check in checks])
    else:
        _show(checks)
    return 1 if any(check.state == "broken" for check in checks) else 0


async def _all(settings: Settings) -> list[Check]:
    parts: list[tuple[str, Callable[[Settings], Awaitable[list[Check]]]]] = [
        ("data folder", _data_folder),
        ("index and store", _knowledge),
        ("qdrant", qdrant_checks),
        ("store", store_checks),
        ("embedder", _embedder),
        ("languages", _languages),
        ("reranker", _reranker),
        ("declining", declining_checks),
        ("model", model_checks),
        ("slack", slack_checks),
        ("sources", source_checks),
        ("http api", api_checks),
    ]
    checks: list[Check] = []
    for name, part in parts:
        try:
            checks += await part(settings)
        except FootnoteError as error:  # its text says how to fix it
            checks.append(Check.broken(name, str(error)))
    return checks


async def _data_folder(settings: Settings) -> list[Check]:
    folder = DataFolder(settings.data)
    owner = folder.owner()
    if owner is not None:
        return [
            Check.ok("data folder", f"{folder.path}, in use by `footnote {owner.command}` (pid {owner.pid})")
        ]
    with folder.own("doctor"):
        if folder.exposed:
            return [Check.warning("data folder", folder.exposed)]
        return [Check.ok("data folder", f"{folder.path}, free")]


async def _knowledge(settings: Settings) -> list[Check]:
    async with open_session(settings, "doctor") as session:
        status = await session.status()
        stale = await session.stale() if status["status"] == "ok" else []
    where = settings.index.qdrant_url or "Qdrant Edge in the data folder"
    store = "Redis" if settings.store.redis_url else "Valkey in the data folder"
    if status["status"] != "ok":
        mend = str(
            status.get("mend", "start the server, or unset QDRANT_URL / REDIS_URL to use the embedded one")
        )
        return [Check.broken("index and store", str(status.get("error")), mend)]
    checks = [
        Check.ok("index", f"{where}: {status['pages']} pages, {status['passages']} passages"),
        Check.ok("store", f"{store} answers"),
    ]
    if not status["pages"]:
        mend = "run `footnote ingest FOLDER` or `footnote ingest --sample`"
        checks.append(Check.warning("pages", "nothing is indexed", mend))
    checks += dead_letter_checks(status)
    if matter := status.get("rebuild"):
        mend = "run `footnote reindex`, or wait for the next sync of a running bot"
        checks.append(Check.warning("index embedder", matter, mend))
    if status["passages"]:
        checks += reranking_checks(status.get("calibration"), settings.rerank)
    return [*checks, *review_checks(len(stale), status["pages"])]


def review_checks(stale: int, pages: int) -> list[Check]:
    """Warns where most pages are overdue for review or expired: their readers then see little but warnings."""
    if not stale:
        return []
    finding = f"{stale} of {pages} pages are overdue for review or expired; answers that quote them say so"
    mend = "`footnote stale` lists them, the most cited first"
    return [(Check.warning if 2 * stale > pages else Check.ok)("reviews", finding, mend)]


def dead_letter_checks(status: Mapping[str, Any]) -> list[Check]:
    """Warns of unanswered questions in a session's `status`."""
    unanswered = unanswered_line(status)
    return [Check.warning("dead letters", unanswered, MEND)] if unanswered else []


def reranking_checks(calibration: dict[str, Any] | None, settings: RerankSettings) -> list[Check]:
    """Reports how the cross-encoder did on the pages; empty where it is off. `calibration` is taken from a status.

    A weight in the settings overrides what was measured.
    """
    if settings.model == "off":
        return []
    found = None if calibration is None else Calibration.model_validate(calibration)
    if found is None or found.reranking is None or found.reranking.model != settings.model:
        finding = "the cross-encoder was not tried on these pages yet: a sync does, where it can be loaded"
    else:
        finding = reranking_line(found)
    if settings.weight is not None:
        finding = f"counts {settings.weight:.0%}, as set, whatever was measured: {finding}"
    return [Check.ok("reranking", finding)]


async def _embedder(settings: Settings) -> list[Check]:
    embedder = Embedder(settings.embed)
    try:
        await embedder.ready()
        return [
            Check.ok(
                "embedder", f"{embedder.name}, {embedder.dimension} dimensions, run by {embedder.backend}"
            )
        ]
    finally:
        embedder.close()


async def _languages(settings: Settings) -> list[Check]:
    """Whether the embedder knows the languages of pages and questions; no checks where it does."""
    async with open_session(settings, "doctor") as session:
        offer = await session.offer()
    mend = "set it in footnote.toml; the next sync builds an index with it beside this one"
    return [Check.warning("languages", offer, mend)] if offer else []


async def _reranker(settings: Settings) -> list[Check]:
    ranker = Reranker(settings.rerank)
    try:
        await ranker.ready()
        if ranker.available:
            return [Check.ok("reranker", settings.rerank.model)]
        if not ranker.wanted:
            return [Check.ok("reranker", "off, as set")]
        mend = (
            "let this machine reach the model hub once, or set FOOTNOTE_RERANK__MODEL to a folder with a "
            "cross-encoder, or to off"
        )
        return [Check.warning("reranker", ranker.reason, mend)]
    finally:
        ranker.close()


async def declining_checks(settings: Settings) -> list[Check]:
    """Says which weights confidence uses: a reranker's misfit is no warning, as those without a reranker fit."""
    fitted = fitted_for(settings)
    return [Check.ok("declining", fitted.reranker_misfit or "fitted")]


async def model_checks(settings: Settings) -> list[Check]:
    """Whether each configured model answers, and which one it is."""
    model = connect_model(settings.model)
    if model is None:
        mend = "for written answers set ANTHROPIC_API_KEY, or OLLAMA_BASE_URL for a local model"
        return [Check.ok("model", "none: answers are quotes from the pages", mend)]
    try:
        names = await model.ping()
        picked = ", the largest that it lists" if model.picked else ""
        return [Check.ok("model", f"{', '.join(names)} at {model.host}{picked}")]
    finally:
        await model.close()


def _show(checks: list[Check]) -> None:
    console = Console()
    marks = {
        "ok": "[green]ok     [/green]",
        "warning": "[yellow]warning[/yellow]",
        "broken": "[red]broken [/red]",
    }
    for check in checks:
        console.print(f"{marks[check.state]} {check.name}: ", end="")
        console.print(check.told, markup=False, highlight=False)
        if check.mend:
            console.print(f"        {check.mend}", markup=False, highlight=False, style="dim")
