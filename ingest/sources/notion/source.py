"""Notion as a source: pages and the rows of databases that the integration was given access to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import yaml

from ingest.errors import PageError, SourceUnavailableError
from ingest.sources.json_api import Sleep
from ingest.sources.markup import heading
from ingest.sources.notion.blocks import BlockReader, blocks_to_markdown
from ingest.sources.notion.connection import Connection, NotionError
from ingest.sources.notion.text import property_text, title_of
from ingest.sources.port import ConfiguredSource, PageRef, RawPage, fingerprint
from kb.source_settings import NotionSettings

_CONVERTER = "1"
"""Raise when blocks become other Markdown than before: then every page is read anew."""
_ROUNDING = timedelta(seconds=60)
"""Notion tells the time of an edit to the minute."""
Found = Mapping[str, Any]


class NotionSource(ConfiguredSource[NotionSettings]):
    def __init__(
        self,
        settings: NotionSettings,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        super().__init__(settings)
        self._clock = clock
        self._sleep = sleep
        self._opened: Connection | None = None

    def url_of(self, path: str) -> str:
        return f"https://www.notion.so/{path}"

    async def discover(self) -> AsyncIterator[PageRef]:
        try:
            pages = await self._pages()
        except NotionError as error:
            raise SourceUnavailableError(f"source {self.name!r}: {_advice(error)}") from error
        if not pages:
            raise SourceUnavailableError(
                f"source {self.name!r}: the integration sees no page; in Notion, add it to pages under ··· > Connections"
            )
        for page in pages.values():
            yield PageRef(path=_path(page), revision=_revision(page), title=title_of(page))

    async def fetch(self, ref: PageRef) -> RawPage:
        connection = self._connection()
        try:
            page = await connection.ask(connection.client.pages.retrieve, page_id=ref.path)
            if _is_gone(page):
                raise PageError("it was moved to the trash", withdraw=True)
            blocks = await BlockReader(connection).read(ref.path)
        except NotionError as error:
            gone = error.status in (403, 404)
            reason = "it is gone, or no longer shared with the integration" if gone else str(error)
            raise PageError(reason, withdraw=gone) from error
        edited = datetime.fromisoformat(str(page["last_edited_time"]))
        # An edit within the same minute would leave no trace in the listing: read it once more then.
        unsettled = "" if self._clock() - edited > _ROUNDING else ".unsettled"
        parts = [heading(title_of(page)), _properties(page), blocks_to_markdown(blocks)]
        return RawPage(
            path=ref.path,
            revision=_revision(page) + unsettled,
            content=(_front_matter(page) + "\n\n".join(filter(None, parts)) + "\n").encode(),
            url=str(page.get("url") or self.url_of(ref.path)),
            edited=edited.date(),
            media_type="text/markdown",
        )

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened.close()
            self._opened = None

    async def _pages(self) -> dict[str, Found]:
        """Every page by its id: those that search knows, and the rows of every database, since search may lag behind."""
        connection = self._connection()
        search = connection.client.search
        found: dict[str, Found] = {}
        sources: dict[str, Found] = {}
        async for page in connection.all(search, filter={"property": "object", "value": "page"}):
            found[str(page["id"])] = page
        async for source in connection.all(search, filter={"property": "object", "value": "data_source"}):
            sources[str(source["id"])] = source
        for source_id in sources:
            async for row in connection.all(connection.client.data_sources.query, data_source_id=source_id):
                if row.get("object") == "page":
                    found[str(row["id"])] = row
        family = _Family(connection, found, sources)
        roots = {_plain_id(root) for root in self._settings.roots}
        return {
            page_id: page
            for page_id, page in found.items()
            if not _is_gone(page) and (not roots or await family.is_below(page, roots))
        }

    def _connection(self) -> Connection:
        if self._opened is None:
            token = self._settings.token
            if token is None:
                raise SourceUnavailableError(
                    f"source {self.name!r}: no token; set NOTION_TOKEN to the secret of an internal integration"
                )
            self._opened = Connection(
                token.get_secret_value(),
                api_url=self._settings.api_url,
                timeout_s=self._settings.timeout_s,
                sleep=self._sleep,
            )
        return self._opened


class _Family:
    """Who is below whom. What search did not bring is asked for, once."""

    def __init__(
        self, connection: Connection, pages: Mapping[str, Found], sources: Mapping[str, Found]
    ) -> None:
        self._connection = connection
        self._pages = pages
        self._sources = sources
        self._parents: dict[str, Found | None] = {}

    async def is_below(self, page: Found, roots: set[str]) -> bool:
        seen: set[str] = set()
        above: Found | None = {"type": "page_id", "page_id": page["id"]}
        while above is not None:
            parent_id = str(above.get(str(above.get("type")), ""))
            if _plain_id(parent_id) in roots or _plain_id(str(above.get("database_id", ""))) in roots:
                return True
            if parent_id in seen:
                return False
            seen.add(parent_id)
            above = await self._parent(str(above.get("type")), parent_id)
        return False

    async def _parent(self, kind: str, object_id: str) -> Found | None:
        if kind == "page_id" and object_id in self._pages:
            return self._pages[object_id].get("parent")
        if kind == "data_source_id" and object_id in self._sources:
            return self._sources[object_id].get("database_parent")
        if object_id not in self._parents:
            self._parents[object_id] = await self._asked(kind, object_id)
        return self._parents[object_id]

    async def _asked(self, kind: str, object_id: str) -> Found | None:
        client = self._connection.client
        try:
            match kind:
                case "page_id":
                    return (await self._connection.ask(client.pages.retrieve, page_id=object_id)).get(
                        "parent"
                    )
                case "block_id":
                    return (await self._connection.ask(client.blocks.retrieve, block_id=object_id)).get(
                        "parent"
                    )
                case "database_id":
                    found = await self._connection.ask(client.databases.retrieve, database_id=object_id)
                    return found.get("parent")
                case _:
                    return None
        except NotionError as error:
            if error.status in (403, 404):
                return None
            raise


def _path(page: Found) -> str:
    return _plain_id(str(page["id"]))


def _plain_id(written: str) -> str:
    return written.replace("-", "").lower()


def _is_gone(page: Found) -> bool:
    return bool(page.get("in_trash") or page.get("archived"))


def _revision(page: Found) -> str:
    parts = (_CONVERTER, str(page["last_edited_time"]), title_of(page), str(page.get("url")))
    return fingerprint(part.encode() for part in parts)


def _properties(page: Found) -> str:
    """A row's columns. Pages outside databases have a title only."""
    values = {name: property_text(value) for name, value in (page.get("properties") or {}).items()}
    return "\n".join(f"- {name}: {' '.join(text.split())}" for name, text in values.items() if text.strip())


def _front_matter(page: Found) -> str:
    """A verified page (wikis have that) was reviewed on that day, and is due when its verification ends."""
    for value in (page.get("properties") or {}).values():
        verification = value.get("verification") if value.get("type") == "verification" else None
        dates = (verification or {}).get("date") or {}
        if verification and verification.get("state") in ("verified", "expired") and dates.get("start"):
            told = {"last_reviewed_on": str(dates["start"])[:10]}
            if dates.get("end"):
                told["review_by"] = str(dates["end"])[:10]
            return f"---\n{yaml.safe_dump(told)}---\n"
    return ""


def _advice(error: NotionError) -> str:
    match error.status:
        case 401:
            return (
                "Notion does not accept the token: set NOTION_TOKEN to the secret of an internal integration"
            )
        case 403:
            return "the integration may not read content: give it that capability in its settings"
        case 429:
            return "Notion limits the rate of requests and did not stop doing so: sync less often, or later"
        case _:
            return f"{error}: look whether api.notion.com can be reached from here, and status.notion.so"
