"""`footnote doctor`: checks every part that a setting names, and says how to mend what is broken.

A check never stops the others. It works beside a running bot: what belongs to the owner of the data folder is asked of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import aiohttp
from rich.console import Console
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.admins import user_groups
from bot.cli.as_json import print_json
from bot.cli.measured import told_reranking
from bot.cli.open import open_session
from bot.memberships import group_marks
from bot.scopes import missing_scopes
from kb.calibration import Calibration
from kb.data_folder import DataFolder
from kb.embed import Embedder
from kb.errors import FootnoteError
from kb.llm.client import connect_model
from kb.rerank import Reranker
from kb.settings import RerankSettings, Settings
from kb.weights import fitted_for

State = Literal["ok", "warning", "broken"]
SLACK_TIMEOUT_S = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """`told`: what was found. `mend`: what to do about it, empty where nothing is to be done."""

    name: str
    state: State
    told: str
    mend: str = ""


async def doctor(settings: Settings, *, as_json: bool) -> int:
    checks = await _all(settings)
    if as_json:
        print_json([asdict(check) for check in checks])
    else:
        _show(checks)
    return 1 if any(check.state == "broken" for check in checks) else 0


async def _all(settings: Settings) -> list[Check]:
    parts: list[tuple[str, Callable[[Settings], Awaitable[list[Check]]]]] = [
        ("data folder", _data_folder),
        ("index and store", _knowledge),
        ("embedder", _embedder),
        ("languages", _languages),
        ("reranker", _reranker),
        ("declining", declining_checks),
        ("model", model_checks),
        ("slack", slack_checks),
    ]
    checks: list[Check] = []
    for name, part in parts:
        try:
            checks += await part(settings)
        except FootnoteError as error:  # its text says how to mend it
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
        return [Check(name="data folder", state="ok", told=f"{folder.path}, free")]


async def _knowledge(settings: Settings) -> list[Check]:
    async with open_session(settings, "doctor", models=False) as session:
        status = await session.status()
    where = settings.index.qdrant_url or "Qdrant Edge in the data folder"
    store = "Redis" if settings.store.redis_url else "Valkey in the data folder"
    if status["status"] != "ok":
        mend = "start the server, or unset QDRANT_URL / REDIS_URL to use the embedded one"
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
        told = "the cross-encoder was not tried on these pages yet: a sync does, where it can be loaded"
    else:
        told = told_reranking(found)
    if settings.weight is not None:
        told = f"counts {settings.weight:.0%}, as set, whatever was measured: {told}"
    return [Check(name="reranking", state="ok", told=told)]


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


async def slack_checks(settings: Settings) -> list[Check]:
    """The tokens, their scopes, and whether there is a way to receive events."""
    slack = settings.slack
    if slack.bot_token is None:
        mend = 'set SLACK_BOT_TOKEN (xoxb-...); README, "Connect a real Slack", says where it is'
        return [
            Check(name="slack", state="warning", told="no bot token: only the playground works", mend=mend)
        ]
    token = slack.bot_token.get_secret_value()
    checks = [await _bot_token(token, slack.api_url)]
    if groups := user_groups(slack.admins):
        checks.append(await _admin_groups(groups, token, slack.api_url))
    if slack.app_token is not None:
        checks.append(await _app_token(slack.app_token.get_secret_value(), slack.api_url))
    elif slack.signing_secret is not None:
        checks.append(Check(name="slack events", state="ok", told=f"signed HTTP events on port {slack.port}"))
    else:
        mend = "set SLACK_APP_TOKEN (xapp-..., Socket Mode) or SLACK_SIGNING_SECRET (HTTP events)"
        checks.append(Check(name="slack events", state="broken", told="no way to receive events", mend=mend))
    return checks


async def _bot_token(token: str, api_url: str) -> Check:
    name = "slack bot token"
    client = AsyncWebClient(token=token, base_url=api_url, timeout=SLACK_TIMEOUT_S)
    mend = "install the app to the workspace again and copy the new bot token"
    told = await _asked(name, client.auth_test(), api_url, mend=mend)
    if isinstance(told, Check):
        return told
    granted = (told.headers or {}).get("x-oauth-scopes", "")
    if missing := missing_scopes(granted):
        mend = (
            "add them under OAuth & Permissions (or paste deploy/slack-manifest.yaml) and reinstall the app"
        )
        return Check(name=name, state="broken", told=f"scopes missing: {', '.join(missing)}", mend=mend)
    return Check(name=name, state="ok", told=f"{told['user']} in {told['team']}, all scopes granted")


async def _admin_groups(groups: Collection[str], token: str, api_url: str) -> Check:
    """The user groups whose members are admins: there, and not empty."""
    name = "slack admins"
    client = AsyncWebClient(token=token, base_url=api_url, timeout=SLACK_TIMEOUT_S)
    mend = "add the scope usergroups:read and reinstall the app: until then no group makes an admin"
    told = await _asked(name, client.usergroups_list(include_users=True), api_url, mend=mend)
    if isinstance(told, Check):
        return told
    members = {
        mark: len(group.get("users") or ())
        for group in told.get("usergroups") or []
        if not group.get("date_delete")
        for mark in group_marks(group)
    }
    if empty := sorted(group for group in groups if not members.get(group)):
        mend = "correct slack.admins, or give the group members in Slack"
        return Check(
            name=name, state="warning", told=f"no such user group, or empty: {', '.join(empty)}", mend=mend
        )
    counted = ", ".join(f"{group} ({members[group]})" for group in sorted(groups))
    return Check(name=name, state="ok", told=f"members of {counted}")


async def _app_token(token: str, api_url: str) -> Check:
    name = "slack app token"
    client = AsyncWebClient(base_url=api_url, timeout=SLACK_TIMEOUT_S)
    mend = "turn Socket Mode on and make an app-level token with the scope connections:write"
    told = await _asked(name, client.apps_connections_open(app_token=token), api_url, mend=mend)
    return told if isinstance(told, Check) else Check(name=name, state="ok", told="Socket Mode opens")


async def _asked(
    name: str, call: Awaitable[AsyncSlackResponse], api_url: str, *, mend: str
) -> AsyncSlackResponse | Check:
    """Slack's answer, or what is broken. `mend`: what to do when Slack refuses the token."""
    try:
        return await call
    except SlackApiError as error:
        return Check(name=name, state="broken", told=f"Slack says {error.response['error']}", mend=mend)
    except (aiohttp.ClientError, TimeoutError) as error:
        told = f"{api_url} cannot be reached ({type(error).__name__})"
        return Check(name=name, state="broken", told=told, mend="check the network and proxy of this machine")


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
