"""What `footnote doctor` asks of GitHub: the credentials, and of each
repository whether it is seen and who may read it.
"""

from __future__ import annotations

from collections.abc import Iterable

from bot.cli.check import Check
from ingest.sources.github.connection import GithubError
from ingest.sources.github.repositories import CLOSED, Found
from ingest.sources.github.source import GithubSource
from kb.config.settings import Settings
from kb.config.sources import GithubSettings
from kb.store.data_folder import DataFolder


async def github_checks(settings: Settings) -> list[Check]:
    """One check for each repository of each source; none where there is no such source."""
    checks: list[Check] = []
    for source in settings.sources:
        if isinstance(source, GithubSettings):
            checks += await _checks(source, DataFolder(settings.data))
    return checks


async def _checks(settings: GithubSettings, folder: DataFolder) -> list[Check]:
    source = GithubSource(settings, folder.path / "sources", sleep=_impatient)
    try:
        checks = [await _check(source, name) for name in settings.repositories]
        return [*checks, *_without_token(settings)]
    finally:
        await source.close()


async def _check(source: GithubSource, name: str) -> Check:
    title = f"source {source.name}, {name}"
    try:
        found, parts = await source.look(name)
    except GithubError as error:
        finding, _, mend = str(error).partition(": ")
        return Check(name=title, state="broken", told=finding, mend=mend)
    if found.audience == ():
        finding, _, mend = CLOSED.partition(": ")
        return Check(name=title, state="warning", told=finding, mend=mend)
    broken = [problem for problem in parts.values() if problem]
    finding = f"{_readers(found)}; reads {', '.join(parts) or 'nothing'}"
    if broken:
        return Check(name=title, state="broken", told=finding, mend="; ".join(broken))
    now = found.repository.full_name
    if now.lower() != name.lower():
        return Check(
            name=title,
            state="warning",
            told=finding,
            mend=f"it is {now} by now: write that in `repositories`",
        )
    return Check(name=title, state="ok", told=finding)


def _readers(found: Found) -> str:
    kind = "public" if found.repository.is_public else "not public"
    return f"{kind}, for {', '.join(found.audience) if found.audience else 'everyone'}"


def _without_token(settings: GithubSettings) -> Iterable[Check]:
    if settings.token is None and settings.app_id is None:
        yield Check(
            name=f"source {settings.name}, token",
            state="warning",
            told="none: 60 requests an hour, and no discussions",
            mend="set GITHUB_TOKEN, or the app's id and key",
        )


async def _impatient(seconds: float) -> None:
    """A doctor does not wait an hour for a limit to end."""
    if seconds > 5:
        raise GithubError(
            f"GitHub limits the rate of requests for {seconds / 60:.0f} more minutes: try later"
        )
