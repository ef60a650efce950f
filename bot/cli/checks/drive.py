"""What `footnote doctor` asks of Google Drive: the credentials, and for whom each shared drive and folder is."""

from __future__ import annotations

from bot.cli.check import Check
from ingest.errors import SourceUnavailableError
from ingest.sources.google_drive.readers import Audience
from ingest.sources.google_drive.source import GoogleDriveSource
from ingest.sources.json_api import ApiError
from kb.config.settings import Settings
from kb.config.sources import GoogleDriveSettings
from kb.store.data_folder import DataFolder


async def drive_checks(settings: Settings) -> list[Check]:
    """One check for each part of each source; none where there is no such source."""
    checks: list[Check] = []
    for source in settings.sources:
        if isinstance(source, GoogleDriveSettings):
            checks += await _checks(source, DataFolder(settings.data))
    return checks


async def _checks(settings: GoogleDriveSettings, folder: DataFolder) -> list[Check]:
    source = GoogleDriveSource(settings, folder.path / "sources", sleep=_impatient)
    try:
        parts = await source.look()
    except SourceUnavailableError as error:
        told, _, mend = str(error).partition(": ")
        return [Check(name=f"source {source.name}", state="broken", told=told, mend=mend)]
    finally:
        await source.close()
    return [_check(f"source {source.name}, {name}", found) for name, found in parts.items()]


def _check(name: str, found: str | Audience) -> Check:
    if isinstance(found, str):
        told, _, mend = found.partition(": ")
        return Check(name=name, state="broken", told=told, mend=mend)
    if found.channels == ():
        return Check(
            name=name,
            state="warning",
            told=f"for nobody, but for files that are shared by themselves: {found.why}",
            mend="name those whom it is shared with, and their channels, in `readers`",
        )
    return Check(
        name=name, state="ok", told=f"for {', '.join(found.channels) if found.channels else 'everyone'}"
    )


async def _impatient(seconds: float) -> None:
    """A doctor does not wait a minute for a limit to end."""
    if seconds > 5:
        raise ApiError("Google limits the rate of requests: try later", status=429)
