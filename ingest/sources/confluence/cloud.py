"""Confluence Cloud: REST v2 for spaces and pages; v1 for what v2 does not tell, which is who may read them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import Field

from ingest.sources.api_responses import ApiError, Shape, parsed
from ingest.sources.confluence.listing import (
    READERS,
    REFUSED,
    Content,
    Limit,
    ListedPage,
    Restrictions,
    Space,
    day_of,
    every_result,
    limits_of,
    text_of,
)
from ingest.sources.json_api import JsonApi, Parameters

_PAGE_SIZE = 250
_SEARCH_SIZE = 100
_KEYS_AT_ONCE = 50


class _Version(Shape):
    number: int
    created_at: str = ""


class _Page(Shape):
    """A page as v2 shows it."""

    id: str
    title: str
    status: str = "current"
    parent_id: str | None = None
    version: _Version
    body: dict[str, Any] = Field(default_factory=dict)
    labels: dict[str, Any] = Field(default_factory=dict)
    links: dict[str, Any] = Field(default_factory=dict, alias="_links")


class CloudApi:
    def __init__(self, api: JsonApi, base_url: str) -> None:
        self._api = api
        self._base_url = base_url

    async def spaces(self, keys: tuple[str, ...]) -> list[Space]:
        batches = [keys[start : start + _KEYS_AT_ONCE] for start in range(0, len(keys), _KEYS_AT_ONCE)]
        found = []
        for batch in batches or [()]:
            named: Parameters = (
                {"keys": ",".join(batch)} if batch else {"type": "global", "status": "current"}
            )
            found += [
                parsed(Space, space)
                async for space in every_result(self._api, "/api/v2/spaces", {"limit": _PAGE_SIZE, **named})
            ]
        return found

    async def pages(self, space: Space, *, archived: bool, blog: bool) -> list[ListedPage]:
        wanted = [("pages", "current")]
        wanted += [("pages", "archived")] if archived else []
        wanted += [("blogposts", "current")] if blog else []
        listed: list[ListedPage] = []
        by_id: dict[str, _Page] = {}
        for kind, status in wanted:
            path = f"/api/v2/spaces/{space.id}/{kind}"
            parameters: Parameters = {"limit": _PAGE_SIZE, "status": status}
            pages = [parsed(_Page, result) async for result in every_result(self._api, path, parameters)]
            by_id |= {page.id: page for page in pages if kind == "pages"}
            listed += [self._listed(page, space.key, blog=kind == "blogposts") for page in pages]
        listed = [replace(page, parents=_parents(page.id, by_id)) for page in listed]
        contents = await self._readers(space.key, "(page, blogpost)" if blog else "(page)")
        return [await self._with_readers(page, contents.get(page.id)) for page in listed]

    async def page(self, space: str, page_id: str, *, blog: bool) -> tuple[ListedPage, str]:
        path = f"/api/v2/{_kind(blog=blog)}/{page_id}"
        page = parsed(_Page, await self._api.get(path, {"body-format": "storage", "include-labels": "true"}))
        if page.status not in ("current", "archived"):
            raise ApiError("it was deleted", status=404)
        labels = frozenset(str(label["name"]) for label in page.labels.get("results", []))
        try:
            limits = await self._asked_limits(page_id, blog=blog)
        except ApiError as error:
            if error.status not in REFUSED:
                raise
            limits = None
        listed = replace(self._listed(page, space, blog=blog), labels=labels, limits=limits)
        return listed, text_of(page.body)

    def _listed(self, page: _Page, space: str, *, blog: bool) -> ListedPage:
        return ListedPage(
            id=page.id,
            space=space,
            title=page.title,
            version=page.version.number,
            edited=day_of(page.version.created_at),
            url=f"{self._base_url}{page.links.get('webui') or f'/pages/viewpage.action?pageId={page.id}'}",
            blog=blog,
        )

    async def _readers(self, space: str, kinds: str) -> dict[str, Content]:
        """Asks for labels and limits of a space's pages, a hundred at a time. The search index may lag behind."""
        query = f'space = "{space.replace(chr(34), "")}" and type in {kinds}'
        parameters: Parameters = {"cql": query, "limit": _SEARCH_SIZE, "expand": f"metadata.labels,{READERS}"}
        results = every_result(self._api, "/rest/api/content/search", parameters)
        contents = [parsed(Content, result) async for result in results]
        return {content.id: content for content in contents}

    async def _with_readers(self, page: ListedPage, content: Content | None) -> ListedPage:
        if content is not None and content.limits is not None:
            return replace(page, labels=content.labels, limits=content.limits)
        try:
            labels = await self._asked_labels(page.id, blog=page.blog)
            limits = await self._asked_limits(page.id, blog=page.blog)
        except ApiError as error:
            if error.status not in REFUSED:
                raise
            # One page, or one above it, that is closed to us closes no space.
            return replace(page, limits=None)
        return replace(page, labels=labels, limits=limits)

    async def _asked_labels(self, page_id: str, *, blog: bool) -> frozenset[str]:
        path = f"/api/v2/{_kind(blog=blog)}/{page_id}/labels"
        labels = every_result(self._api, path, {"limit": _PAGE_SIZE})
        return frozenset([str(label["name"]) async for label in labels])

    async def _asked_limits(self, page_id: str, *, blog: bool) -> tuple[Limit, ...] | None:
        """Returns the limits of a page and of all above it, each asked for by itself; None where one is not told."""
        above: list[str] = []
        if not blog:
            path = f"/api/v2/pages/{page_id}/ancestors"
            ancestors = every_result(self._api, path, {"limit": _PAGE_SIZE})
            above = [str(ancestor["id"]) async for ancestor in ancestors]
        levels = []
        for content_id in (page_id, *above):
            found = await self._api.get(
                f"/rest/api/content/{content_id}/restriction/byOperation/read",
                {"expand": "restrictions.user,restrictions.group"},
            )
            levels.append(parsed(Restrictions, {"read": found}).limits)
        return limits_of(levels)


def _parents(page_id: str, pages: dict[str, _Page]) -> tuple[str, ...]:
    """Lists the titles of the pages above, outermost first. A folder is no page: what is above it is not known."""
    titles: list[str] = []
    seen = {page_id}
    page = pages.get(page_id)
    while page is not None and page.parent_id is not None and page.parent_id not in seen:
        seen.add(page.parent_id)
        page = pages.get(page.parent_id)
        if page is not None:
            titles.insert(0, page.title)
    return tuple(titles)


def _kind(*, blog: bool) -> str:
    return "blogposts" if blog else "pages"
