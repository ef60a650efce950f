"""Notion's API (version 2025-09-03) on loopback: search, blocks and queries in pages, its errors and its rate limit.

Written from Notion's reference. Never compared with the real product, which cannot be had here.
"""

from __future__ import annotations

import itertools
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any, Self
from uuid import UUID

from aiohttp import web

from tests.fakes.served import Served

MOST = 2
"""Results on a page, whatever was asked for, so that every list is paged."""

RELATED = 3
"""Related pages that a page itself shows; 25 in the product."""


def an_id(number: int) -> str:
    return str(UUID(int=number))


def text(content: str, *, href: str | None = None, **style: bool) -> list[dict[str, Any]]:
    annotations = {"bold": False, "italic": False, "strikethrough": False, "code": False, **style}
    return [{"type": "text", "plain_text": content, "href": href, "annotations": annotations}]


@dataclass(kw_only=True)
class Notion(Served):
    """`pages`, `blocks` by id; `children`: id of a page or block -> its blocks; `sources`: id -> data source."""

    pages: dict[str, dict[str, Any]] = field(default_factory=dict)
    blocks: dict[str, dict[str, Any]] = field(default_factory=dict)
    children: dict[str, list[str]] = field(default_factory=dict)
    sources: dict[str, dict[str, Any]] = field(default_factory=dict)
    databases: dict[str, dict[str, Any]] = field(default_factory=dict)
    unsearchable: set[str] = field(default_factory=set)
    failing: deque[tuple[str, int, dict[str, str]]] = field(default_factory=deque)
    requests: Counter[str] = field(default_factory=Counter)
    token: str = "ntn_secret"
    url: str = ""

    def __post_init__(self) -> None:
        self._ids = itertools.count(1)

    def page(
        self,
        title: str,
        *blocks: str,
        parent: dict[str, Any] | None = None,
        edited: str = "2026-03-04T10:00:00.000Z",
        **properties: dict[str, Any],
    ) -> str:
        page_id = an_id(next(self._ids))
        self.pages[page_id] = {
            "object": "page",
            "id": page_id,
            "in_trash": False,
            "archived": False,
            "last_edited_time": edited,
            "parent": parent or {"type": "workspace", "workspace": True},
            "url": f"https://www.notion.so/{title.replace(' ', '-')}-{page_id.replace('-', '')}",
            "properties": {"Name": {"type": "title", "title": text(title)}, **properties},
        }
        self.children[page_id] = list(blocks)
        return page_id

    def block(
        self, kind: str, *children: str, words: str | list[dict[str, Any]] | None = None, **held: Any
    ) -> str:
        block_id = an_id(next(self._ids))
        if words is not None:
            held["rich_text"] = text(words) if isinstance(words, str) else words
        self.blocks[block_id] = {
            "object": "block", "id": block_id, "type": kind, kind: held, "has_children": bool(children),
            "in_trash": False, "archived": False,
        }  # fmt: skip
        self.children[block_id] = list(children)
        for child in children:
            self.blocks[child]["parent"] = {"type": "block_id", "block_id": block_id}
        return block_id

    def database(self, title: str, parent: str, **formats: str) -> str:
        """A database with one data source, whose id is returned; the database's own is the one after it. `formats` are
        those of its columns of numbers.
        """
        source_id, database_id = an_id(next(self._ids)), an_id(next(self._ids))
        above = {"type": "page_id", "page_id": parent}
        self.databases[database_id] = {
            "object": "database", "id": database_id, "parent": above, "title": text(title), "in_trash": False,
        }  # fmt: skip
        self.sources[source_id] = {
            "object": "data_source", "id": source_id, "title": text(title), "in_trash": False,
            "parent": {"type": "database_id", "database_id": database_id}, "database_parent": above,
            "properties": {
                name: {"name": name, "type": "number", "number": {"format": shown}} for name, shown in formats.items()
            },
        }  # fmt: skip
        return source_id

    def row(self, source_id: str, title: str, *blocks: str, **properties: dict[str, Any]) -> str:
        database_id = self.sources[source_id]["parent"]["database_id"]
        parent = {"type": "data_source_id", "data_source_id": source_id, "database_id": database_id}
        return self.page(title, *blocks, parent=parent, **properties)

    def fail(self, where: str, *statuses: int, **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.failing.extend((where, status, named) for status in statuses)

    async def __aenter__(self) -> Self:
        app = web.Application(middlewares=[self._guarded])
        app.router.add_post("/v1/search", self._search)
        app.router.add_post("/v1/data_sources/{id}/query", self._query)
        app.router.add_get("/v1/blocks/{id}/children", self._children)
        app.router.add_get("/v1/pages/{id}/properties/{property}", self._property)
        for kind in ("pages", "blocks", "databases", "data_sources"):
            app.router.add_get(f"/v1/{kind}/{{id}}", self._object)
        self.url = await self.serve(app)
        return self

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.requests[request.path] += 1
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            return _error(401, "unauthorized", "API token is invalid.")
        if request.headers.get("Notion-Version") != "2025-09-03":
            return _error(400, "missing_version", "Notion-Version header failed validation.")
        if self.failing and self.failing[0][0] in request.path_qs:
            _, status, headers = self.failing.popleft()
            code = {429: "rate_limited", 403: "restricted_resource"}.get(status, "internal_server_error")
            return _error(status, code, "scripted", headers)
        response: web.StreamResponse = await handler(request)
        return response

    async def _search(self, request: web.Request) -> web.Response:
        asked = await request.json()
        kind = asked["filter"]["value"]
        pool = self.pages if kind == "page" else self.sources
        found = [
            one for one_id, one in pool.items() if one_id not in self.unsearchable and not one["in_trash"]
        ]
        return self._paged(found, asked)

    async def _query(self, request: web.Request) -> web.Response:
        source_id = request.match_info["id"]
        rows = [
            page
            for page in self.pages.values()
            if page["parent"].get("data_source_id") == source_id and not page["in_trash"]
        ]
        return self._paged(rows, await request.json())

    async def _children(self, request: web.Request) -> web.Response:
        parent = str(UUID(request.match_info["id"]))
        if parent not in self.children:
            return _missing(parent)
        return self._paged([self.blocks[child] for child in self.children[parent]], request.query)

    async def _object(self, request: web.Request) -> web.Response:
        object_id = str(UUID(request.match_info["id"]))
        found = {**self.pages, **self.blocks, **self.databases, **self.sources}.get(object_id)
        return web.json_response(_shortened(found)) if found else _missing(object_id)

    async def _property(self, request: web.Request) -> web.Response:
        page = self.pages[str(UUID(request.match_info["id"]))]
        values = [
            one for one in page["properties"].values() if one.get("id") == request.match_info["property"]
        ]
        items = [{"type": "relation", "relation": one} for value in values for one in value["relation"]]
        return self._paged(items, request.query)

    def _paged(self, results: list[dict[str, Any]], asked: Any) -> web.Response:
        at = int(asked.get("start_cursor") or 0)
        size = min(MOST, int(asked.get("page_size", 100)))
        following = at + size if at + size < len(results) else None
        return web.json_response(
            {
                "object": "list",
                "results": results[at : at + size],
                "has_more": following is not None,
                "next_cursor": str(following) if following is not None else None,
            }
        )


def _shortened(found: dict[str, Any]) -> dict[str, Any]:
    """A page shows no more than a few of the pages that a column relates it to."""
    columns = {
        name: {**value, "relation": value["relation"][:RELATED], "has_more": len(value["relation"]) > RELATED}
        if value.get("type") == "relation"
        else value
        for name, value in found.get("properties", {}).items()
    }
    return {**found, "properties": columns} if columns else found


def _missing(object_id: str) -> web.Response:
    return _error(404, "object_not_found", f"Could not find object with ID: {object_id}.")


def _error(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> web.Response:
    body = {"object": "error", "status": status, "code": code, "message": message}
    return web.json_response(body, status=status, headers=headers)
