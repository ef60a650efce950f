"""What earlier visits to a website brought: page, links and validators (ETag, Last-Modified) of every address.

A cache in SQLite, safe to delete: then the next sync reads every page again. It spares the site a download of what has
not changed, and it still knows the way past a page that fails today.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter

from ingest.sources.kept import KeptTables
from ingest.sources.port import fingerprint
from ingest.sources.web.document import WebDocument

_VERSION = 7
"""Raise when what a document is made of changes: then the memory is made anew."""
_TABLES = {
    "visits": """(
        address TEXT PRIMARY KEY, path TEXT, etag TEXT, last_modified TEXT, url TEXT,
        document TEXT, content BLOB, links TEXT
    )"""
}
_INDEXES = {"by_path": "visits (path)"}
_DOCUMENT = TypeAdapter(WebDocument)


@dataclass(frozen=True, kw_only=True, slots=True)
class Visit:
    """One address that was read. `path`: the page that it is known as; several addresses may lead to one."""

    address: str
    path: str
    document: WebDocument
    etag: str | None = None
    last_modified: str | None = None

    @property
    def revision(self) -> str:
        document = self.document
        limits = (*(document.audience or ()), *filter(None, [document.closed]))
        texts = (str(document.edited), document.url, *limits)
        return fingerprint((document.content, *(text.encode() for text in texts)))

    @property
    def validators(self) -> dict[str, str]:
        """Headers that ask a site whether the page is still what it was."""
        headers = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in headers.items() if value}


class VisitMemory:
    def __init__(self, file: Path) -> None:
        self._tables = KeptTables(file, version=_VERSION, tables=_TABLES, indexes=_INDEXES)

    async def recall(self, address: str) -> Visit | None:
        return await self._tables.run(lambda db: _one(db, "address = ?", address))

    async def page(self, path: str) -> Visit | None:
        """Returns the visit of a path, of several that under the page's own address; None if there is none."""
        return await self._tables.run(lambda db: _one(db, "path = ? ORDER BY url = address DESC", path))

    async def addresses(self) -> list[str]:
        return await self._tables.run(lambda db: [row[0] for row in db.execute("SELECT address FROM visits")])

    async def keep(self, visit: Visit) -> None:
        await self._tables.run(
            lambda db: db.execute(
                "INSERT OR REPLACE INTO visits VALUES (?, ?, ?, ?, ?, ?, ?, ?)", _row(visit)
            )
        )

    async def forget(self, addresses: Iterable[str]) -> None:
        rows = [(address,) for address in addresses]
        await self._tables.run(lambda db: db.executemany("DELETE FROM visits WHERE address = ?", rows))


def _row(visit: Visit) -> tuple[object, ...]:
    """Returns a visit's row. Links are lines: JSON of a hundred thousand would hold Python's lock."""
    document = visit.document
    head = _DOCUMENT.dump_json(replace(document, content=b"", links=())).decode()
    return (
        visit.address, visit.path, visit.etag, visit.last_modified, document.url,
        head, zlib.compress(document.content), "\n".join(document.links),
    )  # fmt: skip


def _one(db: sqlite3.Connection, where: str, value: str) -> Visit | None:
    columns = "address, path, etag, last_modified, document, content, links"
    row = db.execute(f"SELECT {columns} FROM visits WHERE {where} LIMIT 1", (value,)).fetchone()
    if row is None:
        return None
    address, path, etag, last_modified, head, content, links = row
    document = replace(
        _DOCUMENT.validate_json(head),
        content=zlib.decompress(content),
        links=tuple(links.split("\n")) if links else (),
    )
    return Visit(address=address, path=path, document=document, etag=etag, last_modified=last_modified)
