"""What earlier visits to a website brought: page, links and validators (ETag, Last-Modified) of every address.

A cache in SQLite, safe to delete: then the next sync reads every page again. It spares the site a download of what has
not changed, and it still knows the way past a page that fails today.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from ingest.sources.kept import KeptTables
from ingest.sources.port import fingerprint
from ingest.sources.web.document import WebDocument

_VERSION = 6
"""Raise when what a document is made of changes: then the memory is made anew."""
_TABLES = {
    "visits": """(
        address TEXT PRIMARY KEY, path TEXT, etag TEXT, last_modified TEXT, url TEXT, content BLOB, media_type TEXT,
        canonical TEXT, links TEXT, edited TEXT, hidden INTEGER,
        audience TEXT, closed TEXT, mark TEXT
    )"""
}
_INDEXES = {"by_path": "visits (path)"}


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
        limits = [*(document.audience or ()), *([document.closed] if document.closed else ())]
        return fingerprint(
            (
                document.content,
                str(document.edited).encode(),
                document.url.encode(),
                *(limit.encode() for limit in limits),
            )
        )


class VisitMemory:
    def __init__(self, file: Path) -> None:
        self._tables = KeptTables(file, version=_VERSION, tables=_TABLES, indexes=_INDEXES)

    async def recall(self, address: str) -> Visit | None:
        return await self._tables.run(lambda db: _one(db, "address = ?", address))

    async def page(self, path: str) -> Visit | None:
        """The page of that path, as it was last read under its proper address."""
        return await self._tables.run(lambda db: _one(db, "path = ? ORDER BY url = address DESC", path))

    async def addresses(self) -> list[str]:
        return await self._tables.run(lambda db: [row[0] for row in db.execute("SELECT address FROM visits")])

    async def keep(self, visit: Visit) -> None:
        await self._tables.run(
            lambda db: db.execute(
                f"INSERT OR REPLACE INTO visits VALUES ({', '.join('?' * 14)})", _row(visit)
            )
        )

    async def forget(self, addresses: Iterable[str]) -> None:
        rows = [(address,) for address in addresses]
        await self._tables.run(lambda db: db.executemany("DELETE FROM visits WHERE address = ?", rows))


def _row(visit: Visit) -> tuple[object, ...]:
    """Links as lines (no address holds a line's end): JSON of a hundred thousand would hold Python's lock."""
    document = visit.document
    return (
        visit.address, visit.path, visit.etag, visit.last_modified, document.url,
        zlib.compress(document.content), document.media_type, document.canonical, "\n".join(document.links),
        document.edited.isoformat() if document.edited else None, document.hidden,
        None if document.audience is None else json.dumps(document.audience), document.closed,
        document.mark,
    )  # fmt: skip


def _one(db: sqlite3.Connection, where: str, value: str) -> Visit | None:
    columns = (
        "address, path, etag, last_modified, url, content, media_type, canonical, links, edited, hidden, "
        "audience, closed, mark"
    )
    row = db.execute(f"SELECT {columns} FROM visits WHERE {where} LIMIT 1", (value,)).fetchone()
    if row is None:
        return None
    (
        address, path, etag, last_modified, url, content, media_type, canonical, links, edited, hidden,
        audience, closed, mark,
    ) = row  # fmt: skip
    document = WebDocument(
        url=url,
        content=zlib.decompress(content),
        media_type=media_type,
        mark=mark,
        canonical=canonical,
        links=tuple(links.split("\n")) if links else (),
        edited=date.fromisoformat(edited) if edited else None,
        hidden=bool(hidden),
        audience=None if audience is None else tuple(json.loads(audience)),
        closed=closed,
    )
    return Visit(address=address, path=path, document=document, etag=etag, last_modified=last_modified)
