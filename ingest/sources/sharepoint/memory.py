"""What earlier syncs learned of drives: every item, the link that tells what changes next, and whom pages were shared
with.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from ingest.sources.kept_items import KeptItems
from ingest.sources.sharepoint.items import Item
from ingest.sources.sharepoint.permissions import Readers

_VERSION = 1
_TABLES = {
    "readers": "(drive TEXT, id TEXT, readers TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (drive, id)) WITHOUT ROWID",
}
_READERS: TypeAdapter[Readers] = TypeAdapter(Readers)


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """Whom an item was shared with, `at` seconds since 1970."""

    readers: Readers
    at: float


class DriveMemory(KeptItems[Item]):
    def __init__(self, file: Path) -> None:
        super().__init__(file, TypeAdapter(Item), version=_VERSION, tables=_TABLES)

    async def readers(self, drive: str) -> dict[str, Asked]:
        """Returns by the id of an item whom it was shared with."""

        def read(db: sqlite3.Connection) -> dict[str, Asked]:
            rows = db.execute("SELECT id, readers, at FROM readers WHERE drive = ?", (drive,))
            return {item: Asked(readers=_READERS.validate_json(readers), at=at) for item, readers, at in rows}

        return await self._tables.run(read)

    async def keep_readers(self, drive: str, asked: Mapping[str, Asked]) -> None:
        rows = [
            (drive, item, _READERS.dump_json(answer.readers).decode(), answer.at)
            for item, answer in asked.items()
        ]

        def write(db: sqlite3.Connection) -> None:
            db.executemany("INSERT OR REPLACE INTO readers VALUES (?, ?, ?, ?)", rows)
            db.execute(
                "DELETE FROM readers WHERE drive = ?1 AND id NOT IN (SELECT id FROM items WHERE drive = ?1)",
                (drive,),
            )

        await self._tables.run(write)
