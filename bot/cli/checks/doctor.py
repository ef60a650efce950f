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

from bot.cli.administration.dead_letter_commands import dead_letter_checks
from bot.cli.as_json import print_json
from bot.cli.check import Check
from bot.cli.checks.api import api_checks
from bot.cli.checks.drive import drive_checks
from bot.cli.checks.github import github_checks
from bot.cli.checks.qdrant import qdrant_checks
from bot.cli.checks.sharepoint import sharepoint_checks
from bot.cli.checks.slack import slack_checks
from bot.cli.checks.slack_manifest import manifest_checks
from bot.cli.checks.store import store_checks
from bot.cli.session.index_details import told_reranking
from bot.cli.session.opening import open_session
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
    """`manifest`: the app's own, as Slack shows it, to be compared with what Footnote needs."""
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
        ("github", github_checks),
        ("google drive", drive_checks),
        ("sharepoint", sharepoint_checks),
        ("http api", api_checks),
    ]
    checks: list[Check] = []
    for name, part in parts:
        try:
            checks += await part(settings)
        except FootnoteError as error:  # its text says how to fix it
            checks.append(Check(name=name, state="broken", told=str(error)))
    return checks


async def _data_folder(settings: Settings) -> list[Check]:
    folder = DataFolder(settings.data)
    owner = folder.owner()
    if owner is not None:
        return [
            Check(
                name="data folder",
                state="ok",
                told=f"{folder.path}, in use by `footnote {owner.command}` (pid {owner.pid})",
            )
        ]
    with folder.own("doctor"):
        if folder.exposed:
            return [Check(name="data folder", state="warning", told=folder.exposed)]
        return [Check(name="data folder", state="ok", told=f"{folder.path}, free")]


async def _knowledge(settings: Settings) -> list[Check]:
    async with open_session(settings, "doctor", models=False) as session:
        status = await session.status()
    where = settings.index.qdrant_url or "Qdrant Edge in the data folder"
    store = "Redis" if settings.store.redis_url else "Valkey in the data folder"
    if status["status"] != "ok":
        mend = str(
            status.get("mend", "start the server, or unset QDRANT_URL / REDIS_URL to use the embedded one")
        )
        return [Check(name="index and store", state="broken", told=str(status.get("error")), mend=mend)]
    checks = [
        Check(
            name="index", state="ok", told=f"{where}: {status['pages']} pages, {status['passages']} passages"
        ),
        Check(name="store", state="ok", told=f"{store} answers"),
    ]
    if not status["pages"]:
        mend = "run `footnote ingest FOLDER` or `footnote ingest --sample`"
        checks.append(Check(name="pages", state="warning", told="nothing is indexed", mend=mend))
    checks += dead_letter_checks(status)
    return [*checks, *_made(status, settings)]


def _made(status: Mapping[str, Any], settings: Settings) -> list[Check]:
    """What the live index was made with, and what was measured on it."""
    checks = list[Check]()
    if matter := status.get("rebuild"):
        mend = "run `footnote reindex`, or wait for the next sync of a running bot"
        checks.append(Check(name="index embedder", state="warning", told=matter, mend=mend))
    if status["passages"]:
        checks += reranking_checks(status.get("calibration"), settings.rerank)
    return checks


def reranking_checks(calibration: dict[str, Any] | None, settings: RerankSettings) -> list[Check]:
    """What trying the cross-encoder on the pages showed; nothing where it is off. `calibration` is that of a status.

    A setting goes before what was measured.
    """
    if settings.model == "off":
        return []
    found = None if calibration is None else Calibration.model_validate(calibration)
    if found is None or found.reranking is None or found.reranking.model != settings.model:
        finding = "the cross-encoder was not tried on these pages yet: a sync does, where it can be loaded"
    else:
        finding = told_reranking(found)
    if settings.weight is not None:
        finding = f"counts {settings.weight:.0%}, as set, whatever was measured: {finding}"
    return [Check(name="reranking", state="ok", told=finding)]


async def _embedder(settings: Settings) -> list[Check]:
    embedder = Embedder(settings.embed)
    try:
        await embedder.ready()
        return [
            Check(
                name="embedder",
                state="ok",
                told=f"{embedder.name}, {embedder.dimension} dimensions, run by {embedder.backend}",
            )
        ]
    finally:
        embedder.close()


async def _languages(settings: Settings) -> list[Check]:
    """Whether the embedder reads what is asked and written; nothing where it does."""
    async with open_session(settings, "doctor", models=False) as session:
        offer = await session.offer()
    mend = "set it in footnote.toml; the next sync builds an index with it beside this one"
    return [Check(name="languages", state="warning", told=offer, mend=mend)] if offer else []


async def _reranker(settings: Settings) -> list[Check]:
    ranker = Reranker(settings.rerank)
    try:
        await ranker.ready()
        if ranker.available:
            return [Check(name="reranker", state="ok", told=settings.rerank.model)]
        if not ranker.wanted:
            return [Check(name="reranker", state="ok", told="off, as set")]
        mend = (
            "let this machine reach the model hub once, or set FOOTNOTE_RERANK__MODEL to a folder with a "
            "cross-encoder, or to off"
        )
        return [Check(name="reranker", state="warning", told=ranker.reason, mend=mend)]
    finally:
        ranker.close()


async def declining_checks(settings: Settings) -> list[Check]:
    """A misfit of the reranker is no warning: the weights for rankings without one are used, and fit."""
    fitted = fitted_for(settings)
    if fitted.reranker_misfit:
        return [Check(name="declining", state="ok", told=fitted.reranker_misfit)]
    return [Check(name="declining", state="ok", told="fitted")]


async def model_checks(settings: Settings) -> list[Check]:
    """Whether each model that is asked answers, and which they are."""
    model = connect_model(settings.model)
    if model is None:
        mend = "for written answers set ANTHROPIC_API_KEY, or OLLAMA_BASE_URL for a local model"
        return [Check(name="model", state="ok", told="none: answers are quotes from the pages", mend=mend)]
    try:
        names = await model.ping()
        picked = ", the largest that it lists" if model.picked else ""
        return [Check(name="model", state="ok", told=f"{', '.join(names)} at {model.host}{picked}")]
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
