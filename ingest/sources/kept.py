"""What a source keeps between syncs, in SQLite: a cache, safe to delete."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

logger = logging.getLogger(__name__)

_DAMAGED = ("SQLITE_NOTADB", "SQLITE_CORRUPT")


class KeptTables:
    """`tables`: name -> columns, as in CREATE TABLE; `indexes`: name -> table
    and columns, as in CREATE INDEX. `version`: raise it when what they hold
    changes; then they are made anew, as they are when the file is damaged.
    """

    def __init__(
        self, file: Path, *, version: int, tables: Mapping[str, str], indexes: Mapping[str, str] | None = None
    ) -> None:
        self._file = file
        self._version = version
        self._tables = tables
        self._indexes = indexes or {}
        self._lock = asyncio.Lock()

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Runs `work` in one transaction, off the loop.

        Raises:
            sqlite3.DatabaseError: it cannot be read or written now (a full disk, another process).
        """
        async with self._lock:
            return await asyncio.to_thread(self._in_transaction, work)

    def _in_transaction(self, work: Callable[[sqlite3.Connection], T]) -> T:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        try:
            return self._opened(work)
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorname", "") not in _DAMAGED:
                raise
            logger.warning("source.memory_damaged", extra={"file": self._file.name})
            self._file.unlink(missing_ok=True)
            return self._opened(work)

    def _opened(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with closing(sqlite3.connect(self._file)) as db, db:
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if version != self._version:
                for name, columns in self._tables.items():
                    db.execute(f"DROP TABLE IF EXISTS {name}")
                    db.execute(f"CREATE TABLE {name} {columns}")
                for name, columns in self._indexes.items():
                    db.execute(f"CREATE INDEX {name} ON {columns}")
                db.execute(f"PRAGMA user_version = {self._version}")
            return work(db)
