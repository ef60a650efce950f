"""Confluence Data Center: REST v1 for everything."""

from __future__ import annotations

from typing import Any

from ingest.sources.api_responses import parsed
from ingest.sources.confluence.listing import (
    EXPAND,
    Content,
    ListedPage,
    Space,
    Version,
    day_of,
    every_result,
    text_of,
)
from ingest.sources.json_api import JsonApi, Parameters

_PAGE_SIZE = 100


class DataCenterApi:
    def __init__(self, api: JsonApi, base_url: str) -> None:
        self._api = api
        self._base_url = base_url

    async def spaces(self, keys: tuple[str, ...]) -> list[Space]:
        parameters: Parameters = (
            {"limit": _PAGE_SIZE, "spaceKey": keys}
            if keys
            else {"limit": _PAGE_SIZE, "type": "global", "status": "current"}
        )
        return [
            parsed(Space, space) async for space in every_result(self._api, "/rest/api/space", parameters)
        ]

    async def pages(self, space: Space, *, archived: bool, blog: bool) -> list[ListedPage]:
        wanted = [("page", "current")]
        wanted += [("page", "archived")] if archived else []
        wanted += [("blogpost", "current")] if blog else []
        listed = []
        for kind, status in wanted:
            parameters: Parameters = {
                "spaceKey": space.key, "type": kind, "status": status, "limit": _PAGE_SIZE, "expand": EXPAND,
            }  # fmt: skip
            listed += [
                self._listed(result, space.key, blog=kind == "blogpost")
                async for result in every_result(self._api, "/rest/api/content", parameters)
            ]
        return listed

    async def page(self, space: str, page_id: str, *, blog: bool) -> tuple[ListedPage, str]:
        found = await self._api.get(f"/rest/api/content/{page_id}", {"expand": f"body.storage,{EXPAND}"})
        return self._listed(found, space, blog=blog), text_of(found.get("body") or {})

    def _listed(self, found: dict[str, Any], space: str, *, blog: bool) -> ListedPage:
        above: dict[str, Any] = {"ancestors": []} if blog else {}  # no page is above a blog post
        content = parsed(Content, {**found, **above})
        version = parsed(Version, content.version)
        return ListedPage(
            id=content.id,
            space=space,
            title=content.title,
            version=version.number,
            edited=day_of(version.when),
            url=f"{self._base_url}{content.links.get('webui') or f'/pages/viewpage.action?pageId={content.id}'}",
            labels=content.labels,
            limits=content.limits,
            blog=blog,
            parents=content.parents,
        )
