"""Who may read a file: those with whom Drive says that it is shared, as far as the table in the settings knows them. A
file that is shared with nobody in it is closed.

Permissions come down from folders and shared drives, and nothing takes them away but a folder with limited access
(https://developers.google.com/workspace/drive/api/guides/limited-expansive-access). A file in My Drive lists all of
them. A file in a shared drive says only whether it has some of its own; where it has none, its readers are those of its
folder.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from ingest.sources.api_responses import ApiError
from ingest.sources.google_drive.connection import UNSEEN, Connection
from ingest.sources.google_drive.files import DriveFile, Permission
from ingest.sources.port import readers_among
from kb.config.sources import GoogleDriveSettings

Above = Callable[[DriveFile], Awaitable[DriveFile | None]]
"""The folder that something is in; None: it is in none that the account sees."""
Principals = frozenset[str] | None
"""Keys of `readers` that a file is shared with. None: the account may not see them."""

DEEPEST = 100
"""Folders within folders that Drive allows. While they are moved, one may seem to be in itself."""
UNKNOWN = (
    "the account may not see with whom it is shared: make it one that may share it (an editor, a "
    "member of the shared drive), or "
    "name the channels of its folder's readers in `places`"
)
NOBODY = "shared with nobody else"


@dataclass(frozen=True, kw_only=True, slots=True)
class Audience:
    """`channels`: None: no limit; empty: nobody here, and `why` says what is missing."""

    channels: tuple[str, ...] | None
    why: str = ""


class Readers:
    """The readers of one listing; each folder is asked about once. `now`: when permissions must hold."""

    def __init__(
        self, settings: GoogleDriveSettings, connection: Connection, above: Above, now: datetime
    ) -> None:
        self._channels: Mapping[str, tuple[str, ...]] = {
            " ".join(key.lower().split()): channels for key, channels in settings.readers.items()
        }
        self._places = settings.places
        self._connection = connection
        self._above = above
        self._now = now
        self._known: dict[str, Principals] = {}

    async def of(self, file: DriveFile, *, account: str) -> Audience:
        """Returns who may read a file; a reason for nobody leaves out `account`, our own address. Raises `ApiError`."""
        principals = await self._principals(file)
        if principals is None:
            return _audience(await self._of_place(file), UNKNOWN)
        channels = [channel for name in principals for channel in self._channels.get(name, ())]
        others = sorted(principals - {account.lower()})
        why = f"shared with {_and(others)}, and `readers` names none of these" if others else NOBODY
        return _audience(channels, why)

    async def _principals(self, file: DriveFile) -> Principals:
        if file.drive_id is None:
            return None if file.permissions is None else self._keys(file.permissions)
        node = file
        for _ in range(DEEPEST):
            folder = None if node.has_own_permissions or node.is_limited else await self._above(node)
            if folder is None or node.id in self._known:
                break
            node = folder
        if node.id not in self._known:
            self._known[node.id] = await self._told(node)
        return self._known[node.id]

    async def _told(self, file: DriveFile) -> Principals:
        try:
            return self._keys(await self._connection.permissions(file.id))
        except ApiError as error:
            if error.status in UNSEEN:
                return None
            raise

    def _keys(self, permissions: Iterable[Permission]) -> frozenset[str]:
        return frozenset(grant.key for grant in permissions if grant.holds_at(self._now))

    async def _of_place(self, file: DriveFile) -> Iterable[str]:
        """Returns the channels of the nearest folder that has some; none if access is limited on the way up to it."""
        node: DriveFile | None = file
        for _ in range(DEEPEST):
            if node is None or node.id in self._places or node.is_limited:
                break
            node = await self._above(node)
        return () if node is None else self._places.get(node.id, ())


def _audience(channels: Iterable[str], why: str) -> Audience:
    found = readers_among(channels)
    return Audience(channels=found, why=why if found == () else "")


def _and(names: list[str], most: int = 5) -> str:
    shown = names[:most]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")
