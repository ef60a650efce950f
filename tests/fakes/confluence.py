"""Confluence on loopback, Cloud or Data Center, answering as the published APIs do: paging, permissions, rate limits.

Written from Atlassian's reference of REST v2 (Cloud) and v1 (Data Center, and
what v2 lacks). Never compared with the real products, which cannot be had here.
"""

from __future__ import annotations

import base64
import json
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

from tests.fakes.served import Served

MOST = 2
"""Results on a page, whatever was asked for, so that every list is paged."""


@dataclass(kw_only=True)
class Page:
    id: str
    space: str = "ENG"
    title: str = "Leave"
    body: str = "<p>Text.</p>"
    version: int = 1
    when: str = "2026-03-04T10:00:00.000Z"
    status: str = "current"
    labels: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    parent: str | None = None
    blog: bool = False
    files: dict[str, bytes] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)


@dataclass(kw_only=True)
class Confluence(Served):
    """`spaces`: key -> id. `failing`: what the next requests get instead. `unindexed`: pages that search does
    not know yet. A page's `files` and `comments`: name of a file -> what it holds, id of a comment -> its
    text. `people`: id -> name. `untold`: pages whose restrictions v1 does not expand within those of others,
    or at all in Data Center.
    """

    cloud: bool = True
    pages: dict[str, Page] = field(default_factory=dict)
    spaces: dict[str, str] = field(default_factory=lambda: {"ENG": "11", "HR": "12"})
    personal: dict[str, str] = field(default_factory=lambda: {"~joe": "13"})
    failing: deque[tuple[str, int, dict[str, str]]] = field(default_factory=deque)
    unindexed: set[str] = field(default_factory=set)
    people: dict[str, str] = field(default_factory=dict)
    untold: set[str] = field(default_factory=set)
    requests: Counter[str] = field(default_factory=Counter)
    email: str = "bot@acme.example"
    token: str = "secret-token"
    url: str = ""

    def add(self, *pages: Page) -> None:
        self.pages |= {page.id: page for page in pages}

    def edit(self, page_id: str, **changes: Any) -> None:
        for name, value in {"version": self.pages[page_id].version + 1, **changes}.items():
            setattr(self.pages[page_id], name, value)

    def fail(self, where: str, *statuses: int, **headers: str) -> None:
        """The next requests whose path holds `where` get these statuses."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.failing.extend((where, status, named) for status in statuses)

    async def __aenter__(self) -> Self:
        context = "/wiki" if self.cloud else "/confluence"
        app = web.Application(middlewares=[self._guarded])
        routes = {
            "/api/v2/spaces": self._spaces_v2,
            "/api/v2/spaces/{id}/{kind:pages|blogposts}": self._pages_v2,
            "/api/v2/{kind:pages|blogposts}/{id}": self._page_v2,
            "/api/v2/{kind:pages|blogposts}/{id}/labels": self._labels_v2,
            "/rest/api/content/{id}/child/attachment/{file}/download": self._download,
            "/media/{id}/{file}": self._media,
            "/api/v2/pages/{id}/ancestors": self._ancestors_v2,
            "/rest/api/content/search": self._search,
            "/rest/api/content/{id}/restriction/byOperation/read": self._restriction,
            "/rest/api/user": self._user,
        }
        if not self.cloud:
            routes = {
                "/rest/api/space": self._spaces_v1,
                "/rest/api/content/search": self._search,
                "/rest/api/content": self._pages_v1,
                "/download/attachments/{id}/{file}": self._media,
                "/rest/api/content/{id}": self._page_v1,
                "/rest/api/user": self._user,
            }
        for path, handler in routes.items():
            app.router.add_get(context + path, handler)
        self.url = await self.serve(app) + context
        self._context = context
        return self

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.requests[request.path.removeprefix(self._context)] += 1
        pair = base64.b64encode(f"{self.email}:{self.token}".encode()).decode()
        wanted = f"Basic {pair}" if self.cloud else f"Bearer {self.token}"
        if request.headers.get("Authorization") != wanted:
            return web.json_response({"code": 401, "message": "Unauthorized"}, status=401)
        if self.failing and self.failing[0][0] in request.path_qs:
            _, status, headers = self.failing.popleft()
            return web.json_response({"message": "scripted"}, status=status, headers=headers)
        response: web.StreamResponse = await handler(request)
        return response

    def _paged(self, request: web.Request, results: list[dict[str, Any]], by: str) -> web.Response:
        """`by`: "cursor" or "start", whose value the next link carries."""
        given = request.query.get(by, "0")
        at = int(base64.urlsafe_b64decode(given).decode()) if by == "cursor" and given != "0" else int(given)
        size = min(MOST, int(request.query.get("limit", "25")))
        links: dict[str, str] = {"base": self.url, "context": self._context}
        if at + size < len(results):
            following = str(at + size)
            if by == "cursor":
                following = base64.urlsafe_b64encode(following.encode()).decode()
            relative = str(request.rel_url.update_query({by: following}))
            links["next"] = relative if "/api/v2/" in relative else relative.removeprefix(self._context)
        return web.json_response({"results": results[at : at + size], "_links": links})

    async def _spaces_v2(self, request: web.Request) -> web.Response:
        keys = request.query["keys"].split(",") if "keys" in request.query else None
        found = (
            {**self.spaces, **self.personal} if keys or request.query.get("type") != "global" else self.spaces
        )
        results = [{"id": number, "key": key} for key, number in found.items() if keys is None or key in keys]
        return self._paged(request, results, "cursor")

    async def _pages_v2(self, request: web.Request) -> web.Response:
        key = next(
            (
                key
                for key, number in {**self.spaces, **self.personal}.items()
                if number == request.match_info["id"]
            ),
            None,
        )
        statuses = request.query.getall("status", ["current", "archived"])
        blog = request.match_info["kind"] == "blogposts"
        found = [
            page
            for page in self.pages.values()
            if page.space == key and page.status in statuses and page.blog == blog
        ]
        return self._paged(request, [self._v2(page) for page in found], "cursor")

    async def _page_v2(self, request: web.Request) -> web.Response:
        page = self._found(request)
        told = self._v2(page)
        if request.query.get("body-format") == "storage":
            told["body"] = {"storage": {"representation": "storage", "value": page.body}}
        if request.query.get("include-labels") == "true":
            told["labels"] = {
                "results": [{"id": "1", "name": name, "prefix": "global"} for name in page.labels]
            }
        return web.json_response(told)

    async def _labels_v2(self, request: web.Request) -> web.Response:
        labels = [{"id": "1", "name": name, "prefix": "global"} for name in self._found(request).labels]
        return self._paged(request, labels, "cursor")

    async def _ancestors_v2(self, request: web.Request) -> web.Response:
        above = [{"id": page.id, "type": "page"} for page in self._ancestors(self._found(request))]
        return self._paged(request, above, "cursor")

    async def _restriction(self, request: web.Request) -> web.Response:
        parts = request.query.get("expand", "").split(",")
        told = _restrictions(self._found(request), [part.removeprefix("restrictions.") for part in parts])
        return web.json_response(told["read"])

    async def _user(self, request: web.Request) -> web.Response:
        name = self.people.get(request.query["accountId" if self.cloud else "key"])
        if name is None:
            raise web.HTTPNotFound(text="{}", content_type="application/json")
        return web.json_response({"type": "known", "displayName": name})

    async def _search(self, request: web.Request) -> web.Response:
        """CQL of the forms that we use. As in the product, archived pages and those not yet indexed are missing."""
        cql, expand, by = request.query["cql"], request.query["expand"], "cursor" if self.cloud else "start"
        current = [
            page for page in self.pages.values() if page.status == "current" and page.id not in self.unindexed
        ]
        if "container = " in cql:
            wanted = cql.rpartition("container = ")[2]
            within = [page for page in current if page.id == wanted]
        else:
            within = [page for page in current if page.space == cql.split('"')[1]]
        if "type = attachment" in cql:
            return self._paged(request, [one for page in within for one in self._files(page)], by)
        if "type = comment" in cql:
            return self._paged(request, [one for page in within for one in self._comments(page)], by)
        found = [page for page in within if not page.blog or "blogpost" in cql]
        return self._paged(request, [self._v1(page, expand) for page in found], by)

    def _files(self, page: Page) -> list[dict[str, Any]]:
        return [
            {
                "id": f"{'att' if self.cloud else ''}{page.id}0{at}", "type": "attachment", "title": name,
                "container": {"id": page.id}, "version": {"number": page.version, "when": page.when},
                "extensions": {"fileSize": len(content)},
                "_links": {"webui": f"/pages/{page.id}?preview={at}", "download": f"/download/attachments/{page.id}/{name}"},
            }
            for at, (name, content) in enumerate(page.files.items())
        ]  # fmt: skip

    def _comments(self, page: Page) -> list[dict[str, Any]]:
        return [
            {
                "id": comment_id, "type": "comment", "title": "Re: it", "container": {"id": page.id},
                "version": {"number": 1}, "body": {"storage": {"value": text}},
            }
            for comment_id, text in page.comments.items()
        ]  # fmt: skip

    async def _download(self, request: web.Request) -> web.Response:
        page, file = self._found(request), request.match_info["file"]
        at = int(file.removeprefix(f"att{page.id}0"))
        raise web.HTTPFound(f"{self._context}/media/{page.id}/{list(page.files)[at]}?token=a%2Fb")

    async def _media(self, request: web.Request) -> web.Response:
        content = self._found(request).files.get(request.match_info["file"])
        if content is None:
            raise web.HTTPNotFound
        return web.Response(body=content, content_type="application/octet-stream")

    async def _spaces_v1(self, request: web.Request) -> web.Response:
        keys = request.query.getall("spaceKey", [])
        found = {**self.spaces, **self.personal} if keys else self.spaces
        results = [
            {"id": int(number), "key": key} for key, number in found.items() if not keys or key in keys
        ]
        return self._paged(request, results, "start")

    async def _pages_v1(self, request: web.Request) -> web.Response:
        wanted = (request.query["spaceKey"], request.query.get("status", "current"))
        blog = request.query["type"] == "blogpost"
        found = [
            page for page in self.pages.values() if (page.space, page.status, page.blog) == (*wanted, blog)
        ]
        return self._paged(request, [self._v1(page, request.query["expand"]) for page in found], "start")

    async def _page_v1(self, request: web.Request) -> web.Response:
        page = self._found(request)
        if page.status == "trashed":
            raise web.HTTPNotFound
        return web.json_response(self._v1(page, request.query["expand"]))

    def _found(self, request: web.Request) -> Page:
        page = self.pages.get(request.match_info["id"])
        if page is None:
            raise web.HTTPNotFound(
                text=json.dumps({"message": "no content"}), content_type="application/json"
            )
        return page

    def _ancestors(self, page: Page) -> list[Page]:
        above = []
        while page.parent is not None:
            page = self.pages[page.parent]
            above.insert(0, page)
        return above

    def _v2(self, page: Page) -> dict[str, Any]:
        return {
            "id": page.id,
            "status": page.status,
            "title": page.title,
            "parentId": page.parent,
            "version": {"number": page.version, "createdAt": page.when, "message": "", "minorEdit": False},
            "body": {},
            "_links": {"webui": f"/spaces/{page.space}/pages/{page.id}/{page.title.replace(' ', '+')}"},
        }

    def _v1(self, page: Page, expand: str) -> dict[str, Any]:
        told: dict[str, Any] = {
            "id": page.id,
            "type": "page",
            "status": page.status,
            "title": page.title,
            "_links": {"webui": f"/spaces/{page.space}/pages/{page.id}"},
        }
        if "version" in expand:
            told["version"] = {"number": page.version, "when": page.when}
        if "body.storage" in expand:
            told["body"] = {"storage": {"value": page.body, "representation": "storage"}}
        if "metadata.labels" in expand:
            told["metadata"] = {"labels": {"results": [{"name": name} for name in page.labels]}}
        if "restrictions.read" in expand:
            told["restrictions"] = self._expanded(page)
            told["ancestors"] = [
                {"id": one.id, "title": one.title, "restrictions": self._expanded(one)}
                for one in self._ancestors(page)
            ]
        return told

    def _expanded(self, page: Page) -> dict[str, Any]:
        return _restrictions(page, () if page.id in self.untold else ("user", "group"))


def _restrictions(page: Page, expanded: Sequence[str]) -> dict[str, Any]:
    """What was not asked for is named under `_expandable` alone."""
    subjects = {
        "user": {"results": [{"type": "known", "accountId": user} for user in page.users]},
        "group": {"results": [{"type": "group", "name": group, "id": group} for group in page.groups]},
    }
    told: dict[str, Any] = {name: found for name, found in subjects.items() if name in expanded}
    told["_expandable"] = {name: "" for name in subjects if name not in expanded}
    return {"read": {"operation": "read", "restrictions": told}}
