"""Reads what is attached to pages: documents and comments. Both editions' search lists them with their page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from pydantic import ConfigDict, Field

from ingest.parsers.formats import max_bytes
from ingest.sources.api_responses import Shape, parsed
from ingest.sources.confluence.elements import StorageError, parse_storage
from ingest.sources.confluence.links import Edition
from ingest.sources.confluence.listing import Version, day_of, every_result
from ingest.sources.json_api import JsonApi, Parameters
from kb.config.sources import DOCUMENTS

_SEARCH_SIZE = 100
_ENDINGS = frozenset(PurePosixPath(pattern).suffix.lower() for pattern in DOCUMENTS) - {""}


class _Container(Shape):
    model_config = ConfigDict(coerce_numbers_to_str=True)

    id: str = ""


class _Found(Shape):
    """An attachment or a comment as the search of v1 shows it."""

    id: str
    title: str = ""
    container: _Container = _Container()
    version: Version
    body: dict[str, Any] = Field(default_factory=dict)
    extensions: dict[str, Any] = Field(default_factory=dict)
    links: dict[str, Any] = Field(default_factory=dict, alias="_links")


@dataclass(frozen=True, kw_only=True, slots=True)
class Attachment:
    """A document. `id`: without the "att" that Cloud writes before it.
    `size` in bytes. `download`: below the address of Confluence.
    """

    id: str
    page_id: str
    name: str
    version: int
    size: int
    edited: date | None
    url: str
    download: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Comment:
    """`storage`: its text."""

    id: str
    page_id: str
    version: int
    storage: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Attached:
    """Reads what is attached to pages. Every method raises `ApiError`."""

    api: JsonApi
    base_url: str
    edition: Edition

    async def documents(self, *, space: str = "", page_id: str = "") -> list[Attachment]:
        """Lists the attachments of a space or of a page whose format is read."""
        found = await self._search("attachment", "version,container,extensions", space, page_id)
        documents = [self._attachment(result) for result in found if result.container.id]
        return [document for document in documents if PurePosixPath(document.name).suffix.lower() in _ENDINGS]

    async def comments(self, *, space: str = "", page_id: str = "", marks: tuple[str, ...]) -> list[Comment]:
        """Lists the comments of a space or of a page that begin with one of the marks, the oldest first."""
        found = await self._search("comment", "version,container,body.storage", space, page_id)
        comments = [
            Comment(
                id=result.id,
                page_id=result.container.id,
                version=result.version.number,
                storage=str((result.body.get("storage") or {}).get("value") or ""),
            )
            for result in found
            if result.container.id
        ]
        marked = [comment for comment in comments if _begins_with(comment.storage, marks)]
        return sorted(marked, key=lambda comment: comment.id)

    async def content(self, attachment: Attachment) -> bytes:
        return await self.api.download(attachment.download, max_bytes=max_bytes(attachment.name))

    async def _search(self, kind: str, expand: str, space: str, page_id: str) -> list[_Found]:
        where = f"container = {page_id}" if page_id else f'space = "{space.replace(chr(34), "")}"'
        parameters: Parameters = {
            "cql": f"type = {kind} and {where}",
            "limit": _SEARCH_SIZE,
            "expand": expand,
        }
        results = every_result(self.api, "/rest/api/content/search", parameters)
        return [parsed(_Found, result) async for result in results]

    def _attachment(self, found: _Found) -> Attachment:
        page_id = found.container.id
        download = str(found.links.get("download") or "")
        if self.edition == "cloud":
            download = f"/rest/api/content/{page_id}/child/attachment/{quote(found.id)}/download"
        size = found.extensions.get("fileSize")
        return Attachment(
            id=found.id.removeprefix("att"),
            page_id=page_id,
            name=found.title.replace("/", "_"),
            version=found.version.number,
            size=size if isinstance(size, int) else 0,
            edited=day_of(found.version.when),
            url=self.base_url
            + str(found.links.get("webui") or f"/pages/viewpageattachments.action?pageId={page_id}"),
            download=download,
        )


def _begins_with(storage: str, marks: tuple[str, ...]) -> bool:
    try:
        text = "".join(parse_storage(storage).itertext()).strip().casefold()
    except StorageError:
        return False
    return text.startswith(tuple(mark.casefold() for mark in marks))
