"""Google Drive as a source. A page's path is the part of Drive that it is in
(a shared drive, a folder of the settings, "account") and the id of the file,
which stays when it is renamed, moved or named as another in its folder.

Whoever a file is shared with reads it by the table `readers` of the
settings; a file that is shared with nobody there is closed.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter

from ingest.errors import PageError, SourceUnavailableError
from ingest.parsers.formats import max_bytes
from ingest.sources.api_responses import ApiError
from ingest.sources.google_drive.connection import UNSEEN, Connection, advice
from ingest.sources.google_drive.documents import Document, Documents, page_error
from ingest.sources.google_drive.files import DOCUMENT, SHORTCUT, DriveFile, url_of
from ingest.sources.google_drive.listing import ACCOUNT, Listing, Part
from ingest.sources.google_drive.readers import Audience
from ingest.sources.google_drive.suggestions import NOTE, without_suggestions
from ingest.sources.json_api import Sleep
from ingest.sources.kept_items import KeptItems
from ingest.sources.port import ConfiguredSource, PageRef, RawPage, fingerprint
from kb.config.sources import GoogleDriveSettings

_INVENTORY_VERSION = 2
"""Raise when what is kept of a file changes: then the inventory is made anew."""
_CLOSED = "closed"
"""Where the report tells of files that are not indexed, by reason."""
_MOST_REASONS = 20
_AT_A_TIME = 16
"""Requests. Google lets an account make some hundred a second."""
_TRASHED = "the folder is in the trash: restore it, or take it out of `folders`"


class GoogleDriveSource(ConfiguredSource[GoogleDriveSettings]):
    """`folder`: where it is kept what Drive held at the last sync. `clock`: seconds since 1970."""

    def __init__(
        self,
        settings: GoogleDriveSettings,
        folder: Path,
        *,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(settings)
        self._inventory = KeptItems(
            folder / f"{settings.name}.drive", TypeAdapter(DriveFile), version=_INVENTORY_VERSION
        )
        self._clock = clock
        self._connection = Connection(settings, sleep=sleep, clock=clock)
        self._known: Documents | None = None
        self._unlisted: dict[str, str] = {}
        """Part that could not be listed -> why."""
        self._left_out: set[str] = set()
        self._closed: dict[str, str] = {}
        """Path in the report -> why these files are not indexed."""

    def url_of(self, path: str) -> str:
        return url_of(path.partition("/")[2].rstrip("/"))

    def withdraws(self, path: str) -> bool:
        return path in self._left_out or not self._is_read(path.partition("/")[0])

    async def discover(self) -> AsyncIterator[PageRef]:
        self._unlisted, self._left_out, self._closed = {}, set(), {}
        self._known = None
        try:
            listed = await self._listed()
        except ApiError as error:
            raise SourceUnavailableError(f"source {self.name!r}: {self._advice(error)}") from error
        if not listed and self._unlisted:
            raise SourceUnavailableError(f"source {self.name!r}: {next(iter(self._unlisted.values()))}")
        if not self._settings.folders and not any(files for _, files in listed):
            account = self._connection.account.name
            raise SourceUnavailableError(
                f"source {self.name!r}: the account sees no file: share folders or shared drives with {account}"
            )
        for ref in await self._refs(listed):
            yield ref
        for path in self._unlisted:
            yield PageRef(path=path, revision=None)
        for path, why in self._closed.items():
            yield PageRef(path=path, revision=None, title=why.partition(": ")[0])

    async def fetch(self, ref: PageRef) -> RawPage:
        if reason := self._unlisted.get(ref.path):
            raise PageError(reason)
        part_id, _, file_id = ref.path.partition("/")
        if part_id == _CLOSED:
            why = self._closed.get(ref.path, "files that are shared with nobody whom `readers` names")
            raise PageError(why, withdraw=True, left_out=True)
        if not file_id or not self._is_read(part_id):
            raise PageError("the settings name no such part of Drive", withdraw=True)
        try:
            return await self._page(ref.path, file_id)
        except ApiError as error:
            raise page_error(error) from error

    async def close(self) -> None:
        self._known = None
        await self._connection.close()

    async def look(self) -> Mapping[str, str | Audience]:
        """Returns, by the name of each part that is read, who may read its content by default, or what is wrong.

        Raises:
            SourceUnavailableError: nothing can be asked.
        """
        found: dict[str, str | Audience] = {}
        self._unlisted = {}
        try:
            for part in await self._parts():
                if part.top is not None:
                    found[part.top.name] = await self._documents().audience(part.top)
                else:
                    found["what is shared with the account"] = Audience(channels=None)
        except ApiError as error:
            raise SourceUnavailableError(self._advice(error)) from error
        return found | {path.rstrip("/"): reason for path, reason in self._unlisted.items()}

    def _is_read(self, part_id: str) -> bool:
        return not self._settings.folders or part_id in self._settings.folders

    async def _listed(self) -> list[tuple[Part, Mapping[str, DriveFile]]]:
        """Lists what each part holds. One that fails is noted, and nothing of it is removed."""
        listing = Listing(connection=self._connection, inventory=self._inventory, clock=self._clock)
        listed = []
        for part in await self._parts():
            try:
                files = await listing.of(part)
            except ApiError as error:
                self._unlisted[f"{part.id}/"] = f"it cannot be listed: {self._advice(error)}"
                continue
            self._documents().places.learn(files)
            listed.append((part, files))
        return listed

    async def _parts(self) -> list[Part]:
        if self._settings.folders:
            parts = [await self._folder(folder) for folder in dict.fromkeys(self._settings.folders)]
            return [part for part in parts if part is not None]
        drives = await self._connection.drives()
        account = Part(id=ACCOUNT, kind="account", others=frozenset(drives))
        found = [await self._folder(drive_id) for drive_id in drives]
        return [account, *(part for part in found if part is not None)]

    async def _folder(self, folder_id: str) -> Part | None:
        """Looks a part up; None where it cannot be, with the reason noted."""
        try:
            top = await self._connection.folder(folder_id)
            drive_id = top.drive_id
            if drive_id is not None and drive_id != top.id and not await self._is_member(drive_id):
                drive_id = None
        except ApiError as error:
            if error.status == 401:
                raise  # it concerns all parts
            self._unlisted[f"{folder_id}/"] = self._advice(error)
            return None
        if top.trashed:
            self._unlisted[f"{folder_id}/"] = _TRASHED
            return None
        return Part(
            id=top.id, kind="drive" if top.id == top.drive_id else "folder", top=top, drive_id=drive_id
        )

    async def _is_member(self, drive_id: str) -> bool:
        """Whether the account is a member of a shared drive; else a folder of it was shared with the account."""
        try:
            await self._connection.drive_name(drive_id)
        except ApiError as error:
            if error.status not in UNSEEN:
                raise
            return False
        return True

    async def _refs(self, listed: list[tuple[Part, Mapping[str, DriveFile]]]) -> list[PageRef]:
        """Makes a reference to each file, in the first part that holds it. A part in which a request fails, fails as a
        whole.
        """
        everything = {file_id for _, files in listed for file_id in files}
        documents: dict[str, Document] = {}
        for part, files in listed:
            pages = [
                file
                for _, file in sorted(files.items())
                if not file.is_folder
                and part.holds(file, files)
                and not (file.media_type == SHORTCUT and file.target.id in everything)
            ]
            try:
                found = await self._made_of(part, pages)
            except ApiError as error:
                self._unlisted[f"{part.id}/"] = f"it cannot be listed: {self._advice(error)}"
                continue
            documents = {document.file.id: document for document in found} | documents
        closed = defaultdict[str, list[str]](list)
        for document in documents.values():
            if document.left_out:
                self._left_out.add(document.path)
                if not document.excluded:
                    closed[document.audience.why].append(document.name)
        self._report(closed)
        return [
            PageRef(
                path=document.path,
                revision=document.revision,
                size=document.file.size,
                title=document.file.name,
            )
            for document in documents.values()
            if not document.left_out
        ]

    async def _made_of(self, part: Part, files: Sequence[DriveFile]) -> list[Document]:
        """Makes some references at a time: in shared drives, Google is asked for the readers of many."""
        found: list[Document] = []
        for first in range(0, len(files), _AT_A_TIME):
            making = [self._documents().of(part, file) for file in files[first : first + _AT_A_TIME]]
            for document in await asyncio.gather(*making, return_exceptions=True):
                if isinstance(document, BaseException):
                    raise document
                if document is not None:
                    found.append(document)
        return found

    def _report(self, closed: Mapping[str, list[str]]) -> None:
        by_number = sorted(closed.items(), key=lambda item: (-len(item[1]), item[0]))
        for why, names in by_number[:_MOST_REASONS]:
            others = f" and {len(names) - 1} more" if len(names) > 1 else ""
            path = f"{_CLOSED}/{fingerprint([why.encode()])[:8]}"
            self._closed[path] = f"“{min(names)}”{others}: nothing of it is indexed, {why}"
        rest = sum(len(names) for _, names in by_number[_MOST_REASONS:])
        if rest:
            self._closed[f"{_CLOSED}/other"] = (
                f"{rest} more: nothing of it is indexed, shared with others whom `readers` does not name"
            )

    async def _page(self, path: str, file_id: str) -> RawPage:
        part_id = path.partition("/")[0]
        part = Part(id=part_id, kind="account" if part_id == ACCOUNT else "folder")
        document = await self._documents().of(part, await self._connection.file(file_id))
        if document is None or document.excluded:
            raise PageError(
                "it is in the trash, left out by the settings, or no document in what is read any more",
                withdraw=True,
            )
        if document.audience.channels == ():
            raise PageError(f"nothing of it is indexed: {document.audience.why}", withdraw=True)
        file = document.file
        downloaded = content = await self._connection.content(file, max_bytes=max_bytes(document.name))
        if file.media_type == DOCUMENT:
            content = await asyncio.to_thread(without_suggestions, downloaded)
        return RawPage(
            path=path,
            revision=document.revision,
            content=content,
            notes=() if content is downloaded else (NOTE,),
            url=file.url,
            edited=file.edited,
            file_name=document.name,
            audience=document.audience.channels,
            parents=document.parents,
        )

    def _documents(self) -> Documents:
        if self._known is None:
            now = datetime.fromtimestamp(self._clock(), UTC)
            self._known = Documents(self._settings, self._connection, now)
        return self._known

    def _advice(self, error: ApiError) -> str:
        return advice(error, self._connection.account.name)
