"""Which files are pages, of what is listed: under which name, in which folders, for whom."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ingest.errors import PageError
from ingest.sources.api_responses import ApiError
from ingest.sources.globs import globs
from ingest.sources.google_drive.connection import TOO_LARGE, UNSEEN, Connection, message_of, reason_of
from ingest.sources.google_drive.files import SHORTCUT, DriveFile
from ingest.sources.google_drive.listing import ACCOUNT, Part
from ingest.sources.google_drive.places import Places
from ingest.sources.google_drive.readers import Audience, Readers
from ingest.sources.port import fingerprint
from kb.config.sources import GoogleDriveSettings

_CONVERTER = "1"
"""Raise when files are read as something else than before: then every page is read anew."""
_NOT_ALLOWED = ("cannotDownloadFile", "cannotExportFile", "fileNotDownloadable", "fileNotExportable")


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A page to be. `file`: what is read, which a shortcut at `path` may
    lead to. `excluded`: the settings leave it out.
    """

    path: str
    file: DriveFile
    name: str
    parents: tuple[str, ...]
    audience: Audience
    excluded: bool

    @property
    def revision(self) -> str:
        content = (_CONVERTER, self.file.id, self.file.version, self.name, self.file.url)
        place = (repr(self.parents), repr(self.audience.channels))
        return fingerprint(part.encode() for part in (*content, *place))

    @property
    def left_out(self) -> bool:
        return self.excluded or self.audience.channels == ()


class Documents:
    """The documents of one sync: what is asked about a folder is asked once. All of it raises `ApiError`."""

    def __init__(self, settings: GoogleDriveSettings, connection: Connection, now: datetime) -> None:
        self._excluded = globs(settings.exclude)
        self._connection = connection
        self._account = connection.account.name
        self.places = Places(connection)
        self._readers = Readers(settings, connection, self.places.above, now)

    async def of(self, part: Part, file: DriveFile) -> Document | None:
        """Makes a document of a file; None: it is none, in the trash, or not in this part."""
        folders = await self.places.folders(part, file)
        if folders is None or file.trashed or any(folder.trashed for folder in folders):
            return None
        target = await self._target(file)
        name = target.file_name if target is not None and not target.trashed else None
        if target is None or name is None:
            return None
        parents = tuple(folder.name for folder in folders)
        below = parents[part.id != ACCOUNT :]
        place = "/".join(part.replace("/", "_") for part in (*below, name))
        return Document(
            path=f"{part.id}/{file.id}",
            file=target,
            name=name,
            parents=parents,
            audience=await self.audience(target),
            excluded=self._excluded.match_file(place),
        )

    async def audience(self, file: DriveFile) -> Audience:
        return await self._readers.of(file, account=self._account)

    async def _target(self, file: DriveFile) -> DriveFile | None:
        """Follows a shortcut; None: to a folder, or to what the account does not see."""
        if file.media_type != SHORTCUT:
            return file
        try:
            target = await self._connection.file(file.target.id)
        except ApiError as error:
            if error.status in UNSEEN:
                return None
            raise
        return None if target.is_folder or target.media_type == SHORTCUT else target


def page_error(error: ApiError) -> PageError:
    """Tells why a file cannot be read."""
    reason = reason_of(error)
    if reason == TOO_LARGE:
        return PageError(
            "Google exports no more than 10 MB of a document, and gave no other way to it: split it, "
            "or make its pictures smaller"
        )
    if reason in _NOT_ALLOWED:
        return PageError("its owner does not allow downloads: let the account be an editor, or allow them")
    if error.status == 404 or reason == "insufficientFilePermissions":
        return PageError("it is gone, or the account may not read it any more", withdraw=True)
    message = message_of(error)
    return PageError(f"{error}: {message}" if message else str(error))
