"""Remembers what a part of a vendor's storage (a drive, a folder) held at the last sync, and where the changes since
are listed.

A cache in SQLite, safe to delete: then the next sync lists everything anew. Items and link are kept in one transaction,
so that the link never runs ahead of the items; what of them is indexed, the index itself knows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import TypeAdapter

from ingest.sources.kept import KeptTables

T = TypeVar("T")

_TABLES = {
    "drives": "(drive TEXT PRIMARY KEY, link TEXT NOT NULL, whole REAL NOT NULL)",
    "items": "(drive TEXT, id TEXT, item TEXT NOT NULL, PRIMARY KEY (drive, id)) WITHOUT ROWID",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Held(Generic[T]):
    """`items`: all of a part, by id. `link`: a link or a token for the changes since. `listed`: when all of it was last
    listed, in seconds since 1970.
    """

    items: Mapping[str, T]
    link: str
    listed: float


class KeptItems(Generic[T]):
    """`version`: raise it when what is kept of an item changes. `tables`: what is kept beside the items."""

    def __init__(
        self, file: Path, item: TypeAdapter[T], *, version: int, tables: Mapping[str, str] | None = None
    ) -> None:
        self._tables = KeptTables(file, version=version, tables={**_TABLES, **(tables or {})})
        self._item = item

    async def held(self, part: str) -> Held[T] | None:
        """Returns what is kept of a part; None if it was never listed."""

        def read(db: sqlite3.Connection) -> Held[T] | None:
            row = db.execute("SELECT link, whole FROM drives WHERE drive = ?", (part,)).fetchone()
            if row is None:
                return None
            rows = db.execute("SELECT id, item FROM items WHERE drive = ?", (part,))
            items = {item_id: self._item.validate_json(item) for item_id, item in rows}
            return Held(items=items, link=row[0], listed=row[1])

        return await self._tables.run(read)

    async def keep(self, part: str, now: Held[T], before: Mapping[str, T]) -> None:
        """Replaces the kept items `before` by `now`."""
        new = [
            (part, item_id, self._item.dump_json(item).decode())
            for item_id, item in now.items.items()
            if before.get(item_id) is not item
        ]
        gone = [(part, item_id) for item_id in before.keys() - now.items.keys()]

        def write(db: sqlite3.Connection) -> None:
            db.executemany("INSERT OR REPLACE INTO items VALUES (?, ?, ?)", new)
            db.executemany("DELETE FROM items WHERE drive = ? AND id = ?", gone)
            db.execute("INSERT OR REPLACE INTO drives VALUES (?, ?, ?)", (part, now.link, now.listed))

        await self._tables.run(write)
