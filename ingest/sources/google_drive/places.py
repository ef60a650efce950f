"""Where things are in Drive: the folders above a file, known from the listing or asked for, each once."""

from __future__ import annotations

from collections.abc import Mapping

from ingest.sources.api_responses import ApiError
from ingest.sources.google_drive.connection import UNSEEN, Connection
from ingest.sources.google_drive.files import DriveFile
from ingest.sources.google_drive.listing import ACCOUNT, Part
from ingest.sources.google_drive.readers import DEEPEST


class Places:
    """All of it raises `ApiError`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._folders: dict[str, DriveFile | None] = {}
        self._own_root: str | None = None

    def learn(self, files: Mapping[str, DriveFile]) -> None:
        self._folders |= {file.id: file for file in files.values() if file.is_folder}

    async def above(self, file: DriveFile) -> DriveFile | None:
        """The folder that it is in; None: it is in none that the account sees."""
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
        """Those that it is in, outermost first, from the part's own folder on. None: it is not in the part."""
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
        """The account's My Drive, whose name says nothing and depends on the language."""
        if self._own_root is None:
            self._own_root = await self._connection.own_root()
        return self._own_root
