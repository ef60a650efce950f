"""Follows what one part of Drive holds: a shared drive, a folder, or all else that the account sees.

The first time it is listed; then the change log says what became of it
(https://developers.google.com/workspace/drive/api/guides/about-changes). A shared drive has a log of its own,
which alone tells all of it; everything else is in the account's. What a change of a folder does to what is in
it (its readers, its place) is not told of each file, so that what is below it is listed again then, and once
a day all of it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from ingest.sources.api_responses import ApiError
from ingest.sources.google_drive.connection import Connection
from ingest.sources.google_drive.files import Change, DriveFile, change_of
from ingest.sources.json_api import Parameters
from ingest.sources.kept_items import Held, KeptItems

logger = logging.getLogger(__name__)

_RELISTED_S = 24 * 3600
_FOLDERS_AT_A_TIME = 25
"""Folders that one query names; a query has no more room than an address has."""
_NO_TOKEN = (400, 404, 410)
ACCOUNT = "account"
"""The part that is neither a shared drive nor a folder of the settings."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """`id`: a folder's, a shared drive's, or "account". `drive_id`: the shared
    drive whose log tells its changes; None: the account's does. `others`: shared
    drives that are parts of their own. `corpora`: where Google is to look for it.
    """

    id: str
    kind: Literal["account", "drive", "folder"]
    top: DriveFile | None = None
    drive_id: str | None = None
    others: frozenset[str] = frozenset()

    @property
    def corpora(self) -> Parameters:
        if self.drive_id is not None:
            return {"corpora": "drive", "driveId": self.drive_id}
        return {"corpora": "user"} if self.kind == "account" else {"corpora": "allDrives"}

    def holds(self, file: DriveFile, files: Mapping[str, DriveFile]) -> bool:
        """Whether it is in this part. `files`: what is known to be, the folder itself among it."""
        match self.kind:
            case "account":
                return file.drive_id not in self.others
            case "drive":
                return file.drive_id == self.id
            case "folder":
                return file.parent in files


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """`clock`: seconds since 1970."""

    connection: Connection
    inventory: KeptItems[DriveFile]
    clock: Callable[[], float]

    async def of(self, part: Part) -> Mapping[str, DriveFile]:
        """Lists all that is in a part by id, trashed ones perhaps among it, and its own folder. Raises `ApiError`."""
        held = await self.inventory.held(self._key(part))
        if held is not None and self.clock() - held.listed < _RELISTED_S and _is_as_it_was(part, held):
            files = await self._caught_up(part, held)
            if files is not None:
                return files
        return await self._listed(part, held.items if held else {})

    async def _listed(self, part: Part, before: Mapping[str, DriveFile]) -> Mapping[str, DriveFile]:
        # first the token: what changes while it is listed is told twice rather than never
        token = await self.connection.start_token(part.drive_id)
        if part.kind == "folder":
            files = {file.id: file for file in await self._below(part, [part.id])}
        else:
            query: Parameters = {**part.corpora, "q": "trashed = false"}
            found = [file async for file in self.connection.files(query)]
            files = {file.id: file for file in found if part.holds(file, {})}
        if part.top is not None:
            files[part.id] = part.top
        now = Held(items=files, link=token, listed=self.clock())
        await self.inventory.keep(self._key(part), now, before)
        return files

    async def _caught_up(self, part: Part, held: Held[DriveFile]) -> Mapping[str, DriveFile] | None:
        """Takes in what changed; None where the log does not tell enough, so that all of it must be listed."""
        files, more = dict(held.items), True
        while more:
            try:
                written, token, more = await self.connection.changes(held.link, part.drive_id)
            except ApiError as error:
                if error.status not in _NO_TOKEN:
                    raise
                logger.info("google_drive.token_rejected", extra={"part": part.id, "status": error.status})
                return None
            changes = [change for change in map(change_of, written) if change is not None]
            if not await self._apply(part, changes, files):
                return None
            before, held = held.items, replace(held, items=dict(files), link=token)
            await self.inventory.keep(self._key(part), held, before)
        return files

    async def _apply(self, part: Part, changes: Iterable[Change], files: dict[str, DriveFile]) -> bool:
        """Whether the changes say enough. Folders come first, since files may have been put into new ones."""
        ordered = sorted(changes, key=lambda change: change.file is None or not change.file.is_folder)
        moved: list[str] = []
        for change in ordered:
            known, now = files.get(change.id), change.file
            if change.id == part.id:
                continue
            if now is not None and part.holds(now, files):
                files[now.id] = now
                if now.is_folder and (known is None or _matters(known, now)):
                    moved.append(now.id)
                    if known is not None:
                        _empty(files, now.id)
            elif known is not None:
                if known.is_folder and part.kind == "account":
                    return False  # what is in it may still be shared by itself
                _empty(files, known.id)
                del files[known.id]
        files |= {file.id: file for file in await self._below(part, moved)}
        return True

    def _key(self, part: Part) -> str:
        return f"{part.id} {self.connection.account.fingerprint}"

    async def _below(self, part: Part, folders: list[str]) -> list[DriveFile]:
        """Lists all that is in these folders, and in those within them."""
        found: dict[str, DriveFile] = {}
        waiting = list(dict.fromkeys(folders))
        while waiting:
            some, waiting = waiting[:_FOLDERS_AT_A_TIME], waiting[_FOLDERS_AT_A_TIME:]
            inside = " or ".join(f"'{folder}' in parents" for folder in some)
            query: Parameters = {**part.corpora, "q": f"({inside}) and trashed = false"}
            async for file in self.connection.files(query):
                if file.is_folder and file.id not in found:
                    waiting.append(file.id)
                found[file.id] = file
        return list(found.values())


def _is_as_it_was(part: Part, held: Held[DriveFile]) -> bool:
    """Whether what holds for all of the part has stayed the same since it was listed."""
    known = held.items.get(part.id)
    return part.top is None or (known is not None and not _matters(known, part.top))


def _matters(known: DriveFile, now: DriveFile) -> bool:
    """Whether a change of a folder affects everything in it."""

    def state(folder: DriveFile) -> tuple[object, ...]:
        return folder.parents, folder.permissions, folder.is_limited, folder.trashed, folder.drive_id

    return state(known) != state(now)


def _empty(files: dict[str, DriveFile], folder: str) -> None:
    """Removes all that is in a folder."""
    for inner in [file for file in files.values() if file.parent == folder]:
        files.pop(inner.id, None)
        if inner.is_folder:
            _empty(files, inner.id)
