"""What earlier syncs learned of drives: every item, the link that tells
what changes next, and whom pages were shared with.

A cache in SQLite, safe to delete: then the next sync lists every drive whole. Items and link are kept in one
transaction, so that the link never runs ahead of the items; what of them is indexed, the index itself knows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import TypeAdapter

from ingest.sources.kept import KeptTables
from ingest.sources.sharepoint.items import Item
from ingest.sources.sharepoint.permissions import Readers

_VERSION = 1
"""Raise when what is kept of an item changes: then the memory is made anew."""
_TABLES = {
    "drives": "(drive TEXT PRIMARY KEY, link TEXT NOT NULL, whole REAL NOT NULL)",
    "items": "(drive TEXT, id TEXT, item TEXT NOT NULL, PRIMARY KEY (drive, id)) WITHOUT ROWID",
    "readers": "(drive TEXT, id TEXT, readers TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (drive, id)) WITHOUT ROWID",
}
_ITEM = TypeAdapter(Item)
_READERS: TypeAdapter[Readers] = TypeAdapter(Readers)


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """Whom an item was shared with, `at` seconds since 1970."""

    readers: Readers
    at: float


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownDrive:
    """`link`: where the next changes are; `whole`: when all of it was listed last, in seconds since 1970."""

    link: str
    whole: float
    items: Mapping[str, Item] = field(default_factory=dict)


class DriveMemory:
    def __init__(self, file: Path) -> None:
        self._tables = KeptTables(file, version=_VERSION, tables=_TABLES)

    async def recall(self, drive: str) -> KnownDrive | None:
        def read(db: sqlite3.Connection) -> KnownDrive | None:
            row = db.execute("SELECT link, whole FROM drives WHERE drive = ?", (drive,)).fetchone()
            if row is None:
                return None
            told = db.execute("SELECT id, item FROM items WHERE drive = ?", (drive,))
            items = {key: _ITEM.validate_json(item) for key, item in told}
            return KnownDrive(link=row[0], whole=row[1], items=items)

        return await self._tables.run(read)

    async def keep(self, drive: str, now: KnownDrive, before: Mapping[str, Item]) -> None:
        """Puts `now` in the place of what was kept with the items `before`."""
        # the address of a download opens the file to whoever has it
        new = [
            (drive, key, _ITEM.dump_json(replace(item, download=None)).decode())
            for key, item in now.items.items()
            if before.get(key) != item
        ]
        gone = [(drive, key) for key in before if key not in now.items]

        def write(db: sqlite3.Connection) -> None:
            db.executemany("INSERT OR REPLACE INTO items VALUES (?, ?, ?)", new)
            db.executemany("DELETE FROM items WHERE drive = ? AND id = ?", gone)
            db.executemany("DELETE FROM readers WHERE drive = ? AND id = ?", gone)
            db.execute("INSERT OR REPLACE INTO drives VALUES (?, ?, ?)", (drive, now.link, now.whole))

        await self._tables.run(write)

    async def readers(self, drive: str) -> dict[str, Asked]:
        """Id of an item -> whom it was shared with."""

        def read(db: sqlite3.Connection) -> dict[str, Asked]:
            rows = db.execute("SELECT id, readers, at FROM readers WHERE drive = ?", (drive,))
            return {key: Asked(readers=_READERS.validate_json(told), at=at) for key, told, at in rows}

        return await self._tables.run(read)

    async def keep_readers(self, drive: str, asked: Mapping[str, Asked]) -> None:
        rows = [(drive, key, _READERS.dump_json(one.readers).decode(), one.at) for key, one in asked.items()]
        await self._tables.run(lambda db: _write_readers(db, rows))


def _write_readers(db: sqlite3.Connection, rows: Iterable[tuple[str, str, str, float]]) -> None:
    db.executemany("INSERT OR REPLACE INTO readers VALUES (?, ?, ?, ?)", rows)
