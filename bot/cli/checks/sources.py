"""What `footnote doctor` asks of GitHub, Google Drive and Microsoft Graph: the credentials, and of each repository,
drive and site whether it is seen and who may read it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from bot.cli.checks.check import Check
from ingest.errors import SourceUnavailableError
from ingest.sources.api_responses import ApiError
from ingest.sources.github.repositories import CLOSED
from ingest.sources.github.source import GithubSource
from ingest.sources.google_drive.readers import Audience
from ingest.sources.google_drive.source import GoogleDriveSource
from ingest.sources.sharepoint.permissions import PEOPLE, audience_of
from ingest.sources.sharepoint.source import SharePointSource
from kb.config.settings import Settings
from kb.config.sources import GithubSettings, GoogleDriveSettings, SharePointSettings
from kb.store.data_folder import DataFolder

PATIENCE_S = 5.0
"""`doctor` does not wait an hour for a rate limit to end."""


async def source_checks(settings: Settings) -> list[Check]:
    """Makes one check for each part of each source that needs an account."""
    folder = DataFolder(settings.data).path / "sources"
    checks: list[Check] = []
    for source in settings.sources:
        match source:
            case GithubSettings():
                checks += await _github(source, folder)
            case GoogleDriveSettings():
                checks += await _google_drive(source, folder)
            case SharePointSettings():
                checks += await _sharepoint(source, folder)
    return checks


async def _github(settings: GithubSettings, folder: Path) -> list[Check]:
    sleep = _impatient(
        lambda seconds: ApiError(
            f"GitHub limits the rate of requests for {seconds / 60:.0f} more minutes: try later"
        )
    )
    source = GithubSource(settings, folder, sleep=sleep)
    try:
        checks = [await _repository(source, name) for name in settings.repositories]
    finally:
        await source.close()
    if settings.token is None and settings.app_id is None:
        finding = "none: 60 requests an hour, and no discussions"
        mend = "set GITHUB_TOKEN, or the app's id and key"
        checks.append(Check.warning(f"source {settings.name}, token", finding, mend))
    return checks


async def _repository(source: GithubSource, name: str) -> Check:
    title = f"source {source.name}, {name}"
    try:
        found, parts = await source.look(name)
    except ApiError as error:
        return Check.broken(title, *_finding_and_mend(str(error)))
    if found.audience == ():
        return Check.warning(title, *_finding_and_mend(CLOSED))
    kind = "public" if found.repository.is_public else "not public"
    finding = f"{kind}, for {_readers(found.audience)}; reads {', '.join(parts) or 'nothing'}"
    if problems := [problem for problem in parts.values() if problem]:
        return Check.broken(title, finding, "; ".join(problems))
    now = found.repository.full_name
    if now.lower() != name.lower():
        return Check.warning(title, finding, f"it is {now} by now: write that in `repositories`")
    return Check.ok(title, finding)


async def _google_drive(settings: GoogleDriveSettings, folder: Path) -> list[Check]:
    sleep = _impatient(lambda _: ApiError("Google limits the rate of requests: try later", status=429))
    source = GoogleDriveSource(settings, folder, sleep=sleep)
    try:
        parts = await source.look()
    except SourceUnavailableError as error:
        return [Check.broken(f"source {source.name}", *_finding_and_mend(str(error)))]
    finally:
        await source.close()
    return [_drive(f"source {source.name}, {name}", found) for name, found in parts.items()]


def _drive(title: str, found: str | Audience) -> Check:
    if isinstance(found, str):
        return Check.broken(title, *_finding_and_mend(found))
    if found.channels == ():
        finding = f"for nobody, but for files that are shared by themselves: {found.why}"
        mend = "name those whom it is shared with, and their channels, in `readers`"
        return Check.warning(title, finding, mend)
    return Check.ok(title, f"for {_readers(found.channels)}")


async def _sharepoint(settings: SharePointSettings, folder: Path) -> list[Check]:
    sleep = _impatient(
        lambda seconds: ApiError(
            f"Microsoft limits the rate of requests for {seconds:.0f} more seconds: try later"
        )
    )
    source = SharePointSource(settings, folder, sleep=sleep)
    try:
        return [await _site(source, settings, place) for place in source.places]
    finally:
        await source.close()


async def _site(source: SharePointSource, settings: SharePointSettings, place: str) -> Check:
    title = f"source {source.name}, {place}"
    try:
        found = await source.look(place)
    except ApiError as error:
        separator = "; " if "; " in str(error) else ": "
        return Check.broken(title, *_finding_and_mend(str(error), separator))
    if not found:
        mend = "correct `libraries`, or leave it out for all of them"
        return Check.broken(title, "none of its libraries is chosen", mend)
    audiences = {library: audience_of(readers, settings.readers) for library, readers in found}
    nobody = "nobody, but for pages that are shared by themselves"
    finding = "; ".join(
        f"{library.name or library.titles[0]} for {nobody if audience == () else _readers(audience)}"
        for library, audience in audiences.items()
    )
    if () not in audiences.values():
        return Check.ok(title, finding)
    closed = sorted(
        {names[0] for library, readers in found if audiences[library] == () for names in readers} - {PEOPLE}
    )
    groups = f" ({', '.join(closed)})" if closed else ""
    mend = f"name the groups that it is shared with{groups} and their channels in `readers`"
    return Check.warning(title, finding, mend)


def _readers(channels: tuple[str, ...] | None) -> str:
    return "everyone" if channels is None else ", ".join(channels)


def _finding_and_mend(sentence: str, separator: str = ": ") -> tuple[str, str]:
    """Splits "what was found: what to do"."""
    finding, _, mend = sentence.partition(separator)
    return finding, mend


def _impatient(limited: Callable[[float], Exception]) -> Callable[[float], Awaitable[None]]:
    """Makes a sleep that raises instead of waiting for longer than `PATIENCE_S`."""

    async def sleep(seconds: float) -> None:
        if seconds > PATIENCE_S:
            raise limited(seconds)

    return sleep
