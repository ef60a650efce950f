"""Knows which Notion page is below which, and the titles of pages that others name by id."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ingest.sources.notion.connection import REFUSED, Call, Connection, NotionError
from ingest.sources.notion.missing import Missing
from ingest.sources.notion.text import title_of

Found = Mapping[str, Any]


def plain_id(written: str) -> str:
    return written.replace("-", "").lower()


def is_gone(page: Found) -> bool:
    return bool(page.get("in_trash") or page.get("archived"))


def titles_above(
    page: Found, pages: Mapping[str, Found], sources: Mapping[str, Found], roots: Collection[str]
) -> tuple[str, ...]:
    """Returns the titles of the pages and databases above a page, outermost first, as far as the listing has them."""
    titles: list[str] = []
    seen = set[str]()
    above: Found | None = page
    while above is not None and plain_id(str(above["id"])) not in seen | set(roots):
        seen.add(plain_id(str(above["id"])))
        parent = above.get("parent") or {}
        if above.get("object") == "data_source":
            parent = above.get("database_parent") or {}
        listed = sources if parent.get("type") == "data_source_id" else pages
        above = listed.get(str(parent.get(str(parent.get("type")), "")))
        if above is not None:
            titles.insert(0, title_of(above))
    return tuple(titles)


class Family:
    """Knows which pages are below which. What search did not return is asked for, once."""

    def __init__(
        self, connection: Connection, pages: Mapping[str, Found], sources: Mapping[str, Found]
    ) -> None:
        self._connection = connection
        self._pages = pages
        self._sources = sources
        self._parents: dict[str, Found | None] = {}

    async def is_below(self, page: Found, roots: Iterable[str]) -> bool:
        """Tells whether a page is a root or below one. `roots`: plain ids."""
        wanted, seen = set(roots), set[str]()
        if plain_id(str(page["id"])) in wanted:
            return True
        above: Found | None = page.get("parent")
        while above is not None:
            parent_id = str(above.get(str(above.get("type")), ""))
            if plain_id(parent_id) in wanted or plain_id(str(above.get("database_id", ""))) in wanted:
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
        calls: dict[str, tuple[Call, str, str]] = {
            "page_id": (client.pages.retrieve, "page_id", "parent"),
            "block_id": (client.blocks.retrieve, "block_id", "parent"),
            "database_id": (client.databases.retrieve, "database_id", "parent"),
            "data_source_id": (client.data_sources.retrieve, "data_source_id", "database_parent"),
        }
        if kind not in calls:
            return None
        call, argument, above = calls[kind]
        try:
            return (await self._connection.ask(call, **{argument: object_id})).get(above)
        except NotionError as error:
            if error.status in REFUSED:
                return None
            raise


class PageNames:
    """Titles of pages and databases that relations and links name by id, each asked for once.

    Of a source with roots only what is below them is named: the integration may see more than those who ask.
    """

    def __init__(self, connection: Connection, roots: Iterable[str]) -> None:
        self._connection = connection
        self._roots = frozenset(roots)
        self._family = Family(connection, {}, {})
        self._titles: dict[str, str] = {}

    def learn(self, pages: Iterable[Found]) -> None:
        """Takes over the titles of listed pages, so that they need not be asked for."""
        self._titles |= {plain_id(str(page["id"])): title_of(page) for page in pages}

    async def of(self, object_id: str, missing: Missing, *, database: bool = False) -> str:
        """Returns the title; empty where it is not for the source's readers, is in the trash, or is not told.

        A page is not worth less for a link without a name: `missing` is told where that may be over by the next sync.
        """
        key = plain_id(object_id)
        if key not in self._titles:
            try:
                self._titles[key] = await self._asked(object_id, database=database)
            except NotionError:
                missing.passing = True
        title = self._titles.get(key, "")
        missing.pages += not title
        return title

    async def _asked(self, object_id: str, *, database: bool) -> str:
        client = self._connection.client
        try:
            if database:
                found = await self._connection.ask(client.databases.retrieve, database_id=object_id)
            else:
                found = await self._connection.ask(client.pages.retrieve, page_id=object_id)
        except NotionError as error:
            if error.status in REFUSED:
                return ""
            raise
        if is_gone(found) or (self._roots and not await self._family.is_below(found, self._roots)):
            return ""
        return title_of(found)
