"""Which files are pages, of what is listed: under which name, in which folders, for whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from ingest.errors import PageError
from ingest.sources.api_responses import ApiError
from ingest.sources.globs import globs
from ingest.sources.google_drive.connection import TOO_LARGE, UNSEEN, Connection, message_of, reason_of
from ingest.sources.google_drive.files import SHORTCUT, DriveFile
from ingest.sources.google_drive.listing import ACCOUNT, Part
from ingest.sources.google_drive.readers import DEEPEST, Audience, Readers
from ingest.sources.port import fingerprint
from kb.config.sources import GoogleDriveSettings

_CONVERTER = "1"
"""Raise when files are read as something else than before: then every page is read anew."""
_NOT_ALLOWED = ("cannotDownloadFile", "cannotExportFile", "fileNotDownloadable", "fileNotExportable")


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A file that becomes a page. `file`: what is read, to which a shortcut at `path` may lead. `excluded`: the
    settings leave it out.
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
    """The documents of one sync. Each folder is asked about once. Every method raises `ApiError`."""

    def __init__(self, settings: GoogleDriveSettings, connection: Connection, now: datetime) -> None:
        self._excluded = globs(settings.exclude)
        self._connection = connection
        self._account = connection.account.name
        self.places = Places(connection)
        self._readers = Readers(settings, connection, self.places.above, now)

    async def of(self, part: Part, file: DriveFile) -> Document | None:
        """Makes a document of a file; None where it is not one, is in the trash, or is not in this part."""
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
        """Follows a shortcut; None where it leads to a folder, or to what the account does not see."""
        if file.media_type != SHORTCUT:
            return file
        try:
            target = await self._connection.file(file.target.id)
        except ApiError as error:
            if error.status in UNSEEN:
                return None
            raise
        return None if target.is_folder or target.media_type == SHORTCUT else target


class Places:
    """The folders above a file, known from the listing or asked for, each once. Every method raises `ApiError`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._folders: dict[str, DriveFile | None] = {}
        self._own_root: str | None = None

    def learn(self, files: Mapping[str, DriveFile]) -> None:
        self._folders |= {file.id: file for file in files.values() if file.is_folder}

    async def above(self, file: DriveFile) -> DriveFile | None:
        """Returns the folder that a file is in; None where the account sees none."""
        if file.parent is None:
            return None
        if file.parent not in self._folders:
            try:
                self._folders[file.parent] = await self._connection.folder(file.parent)
            except ApiError as error:
                if error.status not in UNSEEN:
                    raise
                self._folders[file.parent] = None
        return self._folders[file.parent]

    async def folders(self, part: Part, file: DriveFile) -> tuple[DriveFile, ...] | None:
        """Returns the folders above a file, outermost first, below the part's own; None: it is not in the part."""
        chain: list[DriveFile] = []
        node = await self.above(file)
        while node is not None and len(chain) < DEEPEST:
            if part.id == ACCOUNT and node.id == await self._root():
                break
            chain.append(node)
            if node.id == part.id:
                return tuple(reversed(chain))
            node = await self.above(node)
        return tuple(reversed(chain)) if part.id == ACCOUNT and len(chain) < DEEPEST else None

    async def _root(self) -> str:
        """Returns the account's My Drive, whose name says nothing and depends on the language."""
        if self._own_root is None:
            self._own_root = await self._connection.own_root()
        return self._own_root


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
