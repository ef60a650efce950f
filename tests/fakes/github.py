"""GitHub on loopback: REST, GraphQL and the wikis' git, answering as the published APIs do.

Written from docs.github.com (REST API version 2022-11-28; the schema of discussions;
rate limits; apps). Never compared with the real product, which cannot be had here.
"""

from __future__ import annotations

import json
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import jwt
from aiohttp import web

from tests.fakes.git_server import GitServer
from tests.fakes.served import Served

MOST = 2
"""Results on a page, whatever was asked for, so that every list is paged."""


@dataclass(kw_only=True)
class Post:
    body: str
    author: str | None = "asker"
    association: str = "NONE"
    created: str = "2026-03-04T10:00:00Z"
    edited: str | None = None
    bot: bool = False
    minimized: bool = False
    pinned: bool = False
    reactions: dict[str, int] = field(default_factory=dict)
    replies: list[Post] = field(default_factory=list)
    id: int = 0


@dataclass(kw_only=True)
class Thread:
    """An issue, a pull request or a discussion. `answer`: the place of the comment that is marked, in a discussion."""

    number: int
    title: str
    question: Post
    comments: list[Post] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    answer: int | None = None
    updated: str = "2026-03-05T10:00:00Z"
    is_pull: bool = False
    moved_to: str | None = None
    deleted: bool = False


@dataclass(kw_only=True)
class Repo:
    name: str
    private: bool = False
    visibility: str = "public"
    issues: dict[int, Thread] = field(default_factory=dict)
    discussions: dict[int, Thread] = field(default_factory=dict)
    wiki: GitServer | None = None
    renamed_to: str | None = None


@dataclass(kw_only=True)
class Github(Served):
    """`token`: the one that sees everything; None is a stranger, who sees public repositories, but no GraphQL.

    `failing`: what the next requests get instead. `app_key`: the app's public key; `installed`: accounts that
    have the app.
    `sees`: repositories that tokens see; None: all of them.
    """

    repos: dict[str, Repo] = field(default_factory=dict)
    token: str = "ghp_secret_token"
    app_id: str = "4711"
    app_key: Any = None
    installed: dict[str, int] = field(default_factory=dict)
    issued: list[str] = field(default_factory=list)
    sees: set[str] | None = None
    failing: deque[tuple[str, int, dict[str, Any], dict[str, str]]] = field(default_factory=deque)
    requests: Counter[str] = field(default_factory=Counter)
    url: str = ""
    down: bool = False
    _last_id: int = 0
    _servers: list[GitServer] = field(default_factory=list)

    def repo(self, name: str, **more: Any) -> Repo:
        self.repos[name] = Repo(name=name, **more)
        return self.repos[name]

    def fail(self, where: str, status: int, body: dict[str, Any] | None = None, **headers: str) -> None:
        """The next request whose path (or GraphQL field) holds `where` gets this answer."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.failing.append((where, status, body if body is not None else {"message": "scripted"}, named))

    async def __aenter__(self) -> Self:
        app = web.Application(middlewares=[self._guarded])
        app.router.add_get("/repos/{owner}/{name}", self._repository)
        app.router.add_get("/repositories/{id}", self._by_id)
        app.router.add_get("/repos/{owner}/{name}/issues", self._issues)
        app.router.add_get("/repos/{owner}/{name}/issues/{number}", self._issue)
        app.router.add_get("/repos/{owner}/{name}/issues/{number}/comments", self._comments)
        app.router.add_get("/repos/{owner}/{name}/installation", self._installation)
        app.router.add_post("/app/installations/{id}/access_tokens", self._access_token)
        app.router.add_post("/graphql", self._graphql)
        app.router.add_route("*", "/{owner}/{name}.wiki.git/{rest:.*}", self._git)
        self.url = await self.serve(app)
        return self

    async def __aexit__(self, *_: object) -> None:
        await super().__aexit__()
        for server in self._servers:
            await server.__aexit__()

    async def wiki(self, name: str, root: Path) -> GitServer:
        """An author's place to write the wiki of a repository in."""
        server = await GitServer(root).__aenter__()
        self._servers.append(server)
        self.repos[name].wiki = server
        return server

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.requests[request.path] += 1
        if self.down:
            return web.json_response({"message": "down"}, status=503)
        what = request.path
        if request.path == "/graphql":
            what += f" {(await request.json())['query']}"
        bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if bearer and ".git/" not in request.path and not self._knows(request, bearer):
            return web.json_response(
                {"message": "Bad credentials", "documentation_url": "https://docs.github.com/rest"},
                status=401,
            )
        if self.failing and self.failing[0][0] in what:
            _, status, body, headers = self.failing.popleft()
            return web.json_response(body, status=status, headers=headers)
        response: web.StreamResponse = await handler(request)
        return response

    def _knows(self, request: web.Request, bearer: str) -> bool:
        if request.path.startswith("/app/") or request.path.endswith("/installation"):
            try:
                claims = jwt.decode(bearer, self.app_key, algorithms=["RS256"], options={"verify_iat": False})
            except jwt.PyJWTError:
                return False
            return claims["iss"] == self.app_id and claims["exp"] - time.time() <= 600
        return bearer == self.token or bearer in self.issued

    def _found(self, request: web.Request) -> Repo:
        name = f"{request.match_info['owner']}/{request.match_info['name']}"
        repo = next((repo for key, repo in self.repos.items() if key.lower() == name.lower()), None)
        known = "Authorization" in request.headers and (self.sees is None or name in self.sees)
        if repo is None or (repo.private and not known):
            raise _refused(web.HTTPNotFound, "Not Found")
        if repo.renamed_to is not None:
            rest = request.path.partition(name)[2]
            number = list(self.repos).index(repo.renamed_to)
            raise web.HTTPMovedPermanently(f"{self.url}/repositories/{number}{rest}")
        return repo

    async def _repository(self, request: web.Request) -> web.Response:
        return web.json_response(self._shown(self._found(request)))

    async def _by_id(self, request: web.Request) -> web.Response:
        return web.json_response(self._shown(list(self.repos.values())[int(request.match_info["id"])]))

    def _shown(self, repo: Repo) -> dict[str, Any]:
        return {
            "id": 1, "full_name": repo.name, "private": repo.private, "visibility": repo.visibility,
            "has_issues": True, "has_discussions": True, "has_wiki": True, "archived": False,
            "html_url": f"{self.url}/{repo.name}",
        }  # fmt: skip

    async def _issues(self, request: web.Request) -> web.Response:
        labels = [name for name in request.query.get("labels", "").lower().split(",") if name]
        repo = self._found(request)
        found = [
            self._rest_issue(repo, issue)
            for issue in repo.issues.values()
            if not issue.deleted
            and issue.moved_to is None
            and set(labels) <= {name.lower() for name in issue.labels}
        ]
        return self._paged(request, found)

    async def _issue(self, request: web.Request) -> web.Response:
        repo = self._found(request)
        issue = repo.issues.get(int(request.match_info["number"]))
        if issue is None:
            raise _refused(web.HTTPNotFound, "Not Found")
        if issue.deleted:
            raise _refused(web.HTTPGone, "This issue was deleted")
        if issue.moved_to is not None:
            raise web.HTTPMovedPermanently(f"{self.url}/repositories/9/issues/{issue.moved_to}")
        return web.json_response(self._rest_issue(repo, issue))

    async def _comments(self, request: web.Request) -> web.Response:
        issue = self._found(request).issues[int(request.match_info["number"])]
        return self._paged(request, [self._rest_post(post) for post in issue.comments])

    def _paged(self, request: web.Request, results: list[Any]) -> web.Response:
        page = int(request.query.get("page", "1"))
        shown = results[(page - 1) * MOST : page * MOST]
        headers = {"x-ratelimit-remaining": "4999"}
        if page * MOST < len(results):
            following = request.url.update_query(page=str(page + 1))
            last = request.url.update_query(page="99")
            headers["Link"] = f'<{following}>; rel="next", <{last}>; rel="last"'
        return web.json_response(shown, headers=headers)

    def _rest_issue(self, repo: Repo, issue: Thread) -> dict[str, Any]:
        told = self._rest_post(issue.question) | {
            "number": issue.number, "title": issue.title, "state": "closed", "updated_at": issue.updated,
            "labels": [{"id": 1, "name": name, "color": "ededed"} for name in issue.labels],
            "comments": len(issue.comments), "html_url": f"{self.url}/{repo.name}/issues/{issue.number}",
        }  # fmt: skip
        return told | ({"pull_request": {"url": "..."}} if issue.is_pull else {})

    def _rest_post(self, post: Post) -> dict[str, Any]:
        user = post.author and {"login": post.author, "id": 1, "type": "Bot" if post.bot else "User"}
        names = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")
        return {
            "id": self._id(post), "node_id": f"IC_{self._id(post)}", "body": post.body, "user": user,
            "author_association": post.association, "created_at": post.created,
            "updated_at": post.edited or post.created,
            "reactions": {"url": "...", "total_count": sum(post.reactions.values())}
            | {name: post.reactions.get(name, 0) for name in names},
            "pin": {"pinned_at": "2026-03-06T10:00:00Z", "pinned_by": None} if post.pinned else None,
            "minimized": {"reason": "spam"} if post.minimized else None,
        }  # fmt: skip

    def _id(self, post: Post) -> int:
        if not post.id:
            self._last_id += 1
            post.id = self._last_id
        return post.id

    async def _installation(self, request: web.Request) -> web.Response:
        number = self.installed.get(request.match_info["owner"])
        if number is None:
            raise _refused(web.HTTPNotFound, "Not Found")
        return web.json_response({"id": number, "app_id": int(self.app_id)})

    async def _access_token(self, request: web.Request) -> web.Response:
        token = f"ghs_installation_{request.match_info['id']}_{len(self.issued)}"
        self.issued.append(token)
        until = datetime.fromtimestamp(time.time() + 3600, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return web.json_response({"token": token, "expires_at": until}, status=201)

    async def _graphql(self, request: web.Request) -> web.Response:
        """The queries that we use, by the fields that they name. Fields
        come as the schema has them, whatever was chosen.
        """
        if "Authorization" not in request.headers:
            raise _refused(web.HTTPUnauthorized, "This endpoint requires you to be authenticated.")
        asked = await request.json()
        query, variables = asked["query"], asked["variables"]
        if "node(id:" in query:
            return self._more_replies(variables)
        repo = self.repos.get(f"{variables['owner']}/{variables['name']}")
        if repo is None or (self.sees is not None and repo.name not in self.sees):
            error = {
                "type": "NOT_FOUND",
                "path": ["repository"],
                "message": "Could not resolve to a Repository.",
            }
            return web.json_response({"data": {"repository": None}, "errors": [error]})
        if "discussions(" in query:
            wanted = variables["answered"]
            found = [
                self._discussion(repo, one)
                for one in repo.discussions.values()
                if not one.deleted and (wanted is None or (one.answer is not None) == wanted)
            ]
            return _data({"repository": {"discussions": _connection(found, variables["after"])}})
        thread = repo.discussions.get(variables["number"])
        if thread is None or thread.deleted:
            error = {
                "type": "NOT_FOUND",
                "path": ["repository", "discussion"],
                "message": "Could not resolve.",
            }
            return web.json_response({"data": {"repository": {"discussion": None}}, "errors": [error]})
        if "comments(" in query.replace("comments { totalCount }", ""):
            nodes = [self._comment(post) for post in thread.comments]
            return _data({"repository": {"discussion": {"comments": _connection(nodes, variables["after"])}}})
        return _data({"repository": {"discussion": self._discussion(repo, thread)}})

    def _discussion(self, repo: Repo, thread: Thread) -> dict[str, Any]:
        answer = None if thread.answer is None else thread.comments[thread.answer]
        return self._node(thread.question) | {
            "number": thread.number, "title": thread.title, "updatedAt": thread.updated,
            "url": f"{self.url}/{repo.name}/discussions/{thread.number}",
            "answer": answer and self._node(answer),
            "comments": {"totalCount": len(thread.comments)},
            "labels": {"nodes": [{"name": name} for name in thread.labels]},
        }  # fmt: skip

    def _comment(self, post: Post) -> dict[str, Any]:
        return self._node(post) | {"replies": _connection([self._node(one) for one in post.replies], None)}

    def _node(self, post: Post) -> dict[str, Any]:
        author = post.author and {"login": post.author, "__typename": "Bot" if post.bot else "User"}
        return {
            "id": f"DC_{self._id(post)}", "body": post.body, "createdAt": post.created,
            "lastEditedAt": post.edited, "updatedAt": post.edited or post.created, "author": author,
            "authorAssociation": post.association, "isMinimized": post.minimized,
        }  # fmt: skip

    def _more_replies(self, variables: dict[str, Any]) -> web.Response:
        posts = [
            post for repo in self.repos.values() for one in repo.discussions.values() for post in one.comments
        ]
        post = next(post for post in posts if f"DC_{post.id}" == variables["id"])
        nodes = [self._node(one) for one in post.replies]
        return _data({"node": {"replies": _connection(nodes, variables["after"])}})

    async def _git(self, request: web.Request) -> web.StreamResponse:
        repo = self.repos.get(f"{request.match_info['owner']}/{request.match_info['name']}")
        if repo is None or repo.wiki is None or (repo.private and "Authorization" not in request.headers):
            return web.Response(status=404)
        rest = f"/docs.git/{request.match_info['rest']}"
        return await repo.wiki.answer(
            request.clone(rel_url=rest + (f"?{request.query_string}" if request.query_string else ""))
        )


def _connection(nodes: list[Any], after: str | None) -> dict[str, Any]:
    start = int(after or 0)
    end = min(start + MOST, len(nodes))
    return {
        "totalCount": len(nodes),
        "pageInfo": {"hasNextPage": end < len(nodes), "endCursor": str(end)},
        "nodes": nodes[start:end],
    }


def _data(data: dict[str, Any]) -> web.Response:
    return web.json_response({"data": data})


def _refused(kind: type[web.HTTPException], message: str) -> web.HTTPException:
    body = json.dumps({"message": message, "documentation_url": "https://docs.github.com/rest"})
    return kind(text=body, content_type="application/json")
