"""What `footnote doctor` asks of Microsoft Graph: the credentials, and
of each site and OneDrive what is read for whom.
"""

from __future__ import annotations

from bot.cli.check import Check
from ingest.sources.sharepoint.connection import GraphError
from ingest.sources.sharepoint.libraries import Library
from ingest.sources.sharepoint.permissions import PEOPLE, Audience, audience_of
from ingest.sources.sharepoint.source import SharePointSource
from kb.config.settings import Settings
from kb.config.sources import SharePointSettings
from kb.store.data_folder import DataFolder


async def sharepoint_checks(settings: Settings) -> list[Check]:
    """One check for each place of each source; none where there is no such source."""
    checks: list[Check] = []
    for source in settings.sources:
        if isinstance(source, SharePointSettings):
            checks += await _checks(source, DataFolder(settings.data))
    return checks


async def _checks(settings: SharePointSettings, folder: DataFolder) -> list[Check]:
    source = SharePointSource(settings, folder.path / "sources", sleep=_impatient)
    try:
        return [await _check(source, settings, place) for place in source.places]
    finally:
        await source.close()


async def _check(source: SharePointSource, settings: SharePointSettings, place: str) -> Check:
    title = f"source {source.name}, {place}"
    try:
        found = await source.look(place)
    except GraphError as error:
        finding, _, mend = str(error).partition("; " if "; " in str(error) else ": ")
        return Check(name=title, state="broken", told=finding, mend=mend)
    if not found:
        mend = "correct `libraries`, or leave it out for all of them"
        return Check(name=title, state="broken", told="none of its libraries is chosen", mend=mend)
    audiences = {library: audience_of(readers, settings.readers) for library, readers in found}
    finding = "; ".join(f"{_name(library)} for {_shown(audience)}" for library, audience in audiences.items())
    closed = sorted(
        {names[0] for library, readers in found if audiences[library] == () for names in readers} - {PEOPLE}
    )
    if () in audiences.values():
        groups = f" ({', '.join(closed)})" if closed else ""
        mend = f"name the groups that it is shared with{groups} and their channels in `readers`"
        return Check(name=title, state="warning", told=finding, mend=mend)
    return Check(name=title, state="ok", told=finding)


def _name(library: Library) -> str:
    return library.name or library.titles[0]


def _shown(audience: Audience) -> str:
    if audience == ():
        return "nobody, but for pages that are shared by themselves"
    return "everyone" if audience is None else ", ".join(audience)


async def _impatient(seconds: float) -> None:
    """A doctor does not wait a quarter of an hour for a limit to end."""
    if seconds > 5:
        raise GraphError(f"Microsoft limits the rate of requests for {seconds:.0f} more seconds: try later")
