"""What each part of Drive held when its changes were last taken in, and the token from which on they are told next.

In SQLite; both are written in one transaction, so that a token never runs ahead
of its changes. It may be deleted: then the next sync lists everything anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ingest.sources.google_drive.files import DriveFile
from ingest.sources.kept import KeptTables

_VERSION = 1
"""Raise when what is kept of a file changes: then the inventory is made anew."""
_TABLES = {
    "files": "(part TEXT, id TEXT, told TEXT, PRIMARY KEY (part, id)) WITHOUT ROWID",
    "parts": "(part TEXT PRIMARY KEY, token TEXT, listed REAL)",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """`listed`: when all of it was last listed, in seconds since 1970."""

    files: Mapping[str, DriveFile]
    token: str
    listed: float


class Inventory:
    def __init__(self, file: Path) -> None:
        self._tables = KeptTables(file, version=_VERSION, tables=_TABLES)

    async def held(self, part: str) -> Held | None:
        """None: it was never listed."""
        return await self._tables.run(lambda db: _held(db, part))

    async def replace(self, part: str, held: Held) -> None:
        def work(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM files WHERE part = ?", (part,))
            db.executemany("INSERT INTO files VALUES (?, ?, ?)", _rows(part, held.files.values()))
            db.execute("INSERT OR REPLACE INTO parts VALUES (?, ?, ?)", (part, held.token, held.listed))

        await self._tables.run(work)

    async def take_in(
        self, part: str, *, new: Collection[DriveFile], gone: Collection[str], token: str
    ) -> None:
        """`new`: files as they are now; `gone`: ids."""

        def work(db: sqlite3.Connection) -> None:
            db.executemany("DELETE FROM files WHERE part = ? AND id = ?", [(part, one) for one in gone])
            db.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", _rows(part, new))
            db.execute("UPDATE parts SET token = ? WHERE part = ?", (token, part))

        await self._tables.run(work)


def _held(db: sqlite3.Connection, part: str) -> Held | None:
    row = db.execute("SELECT token, listed FROM parts WHERE part = ?", (part,)).fetchone()
    if row is None:
        return None
    told = db.execute("SELECT id, told FROM files WHERE part = ?", (part,))
    files = {file_id: DriveFile.model_validate_json(written) for file_id, written in told}
    return Held(files=files, token=row[0], listed=row[1])


def _rows(part: str, files: Iterable[DriveFile]) -> list[tuple[str, str, str]]:
    return [(part, file.id, file.model_dump_json(by_alias=True)) for file in files]
