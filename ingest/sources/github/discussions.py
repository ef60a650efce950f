"""Discussions by GraphQL, which alone has them: those whose answer was marked, and those with one of the labels."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from pydantic import Field

from ingest.errors import PageError
from ingest.sources.api_responses import ApiError, Shape, parsed
from ingest.sources.github.connection import RepositoryApi
from ingest.sources.github.threads import GHOST, MAINTAINERS, Post, Thread, chosen_answer, lowered
from kb.config.sources import GithubSettings

_POST = "id body createdAt lastEditedAt authorAssociation author { login __typename }"
_REPLIES = f"pageInfo {{ hasNextPage endCursor }} nodes {{ {_POST} isMinimized }}"
_HEAD = (
    "number title url updatedAt answer { id isMinimized updatedAt } comments { totalCount } "
    "labels(first: 20) { nodes { name } }"
)
_LIST = f"""
query ($owner: String!, $name: String!, $answered: Boolean, $after: String) {{
  repository(owner: $owner, name: $name) {{
    discussions(first: 100, after: $after, answered: $answered, orderBy: {{field: CREATED_AT, direction: ASC}}) {{
      pageInfo {{ hasNextPage endCursor }} nodes {{ {_HEAD} }}
    }}
  }}
}}"""
_ONE = f"""
query ($owner: String!, $name: String!, $number: Int!) {{
  repository(owner: $owner, name: $name) {{ discussion(number: $number) {{ {_HEAD} {_POST} }} }}
}}"""
_COMMENTS = f"""
query ($owner: String!, $name: String!, $number: Int!, $after: String) {{
  repository(owner: $owner, name: $name) {{ discussion(number: $number) {{
    comments(first: 50, after: $after) {{
      pageInfo {{ hasNextPage endCursor }} nodes {{ {_POST} isMinimized replies(first: 50) {{ {_REPLIES} }} }}
    }}
  }} }}
}}"""
_MORE_REPLIES = f"""
query ($id: ID!, $after: String) {{
  node(id: $id) {{ ... on DiscussionComment {{ replies(first: 100, after: $after) {{ {_REPLIES} }} }} }}
}}"""


class _Author(Shape):
    login: str = GHOST
    kind: str = Field(default="User", alias="__typename")


class _Answer(Shape):
    id: str
    is_minimized: bool = False
    updated_at: datetime


class _Count(Shape):
    total_count: int = 0


class _Label(Shape):
    name: str


class _Labels(Shape):
    nodes: list[_Label | None] = Field(default_factory=list)


class DiscussionHead(Shape):
    number: int
    title: str
    url: str
    updated_at: datetime
    answer: _Answer | None = None
    comments: _Count = _Count()
    labels: _Labels | None = None

    @property
    def marked(self) -> str | None:
        """The id of the answer that a reader sees marked."""
        return self.answer.id if self.answer is not None and not self.answer.is_minimized else None

    @property
    def label_names(self) -> frozenset[str]:
        return lowered(label.name for label in (self.labels.nodes if self.labels else ()) if label)

    @property
    def state(self) -> tuple[str, ...]:
        """What changes when the discussion, its answer or the number of comments does."""
        answer = f"{self.answer.id} {self.answer.updated_at.isoformat()}" if self.answer else ""
        return (self.updated_at.isoformat(), answer, str(self.comments.total_count), self.title, self.url)


class _Post(Shape):
    id: str
    body: str = ""
    created_at: datetime
    last_edited_at: datetime | None = None
    author_association: str = "NONE"
    author: _Author | None = None
    is_minimized: bool = False

    def post(self) -> Post:
        author = self.author or _Author()
        return Post(
            id=self.id,
            author=author.login,
            text=self.body,
            day=(self.last_edited_at or self.created_at).date(),
            is_bot=author.kind == "Bot",
            is_maintainer=self.author_association in MAINTAINERS,
            hidden=self.is_minimized,
        )


class Discussion(DiscussionHead, _Post):
    """A head with the text of its question."""


class Discussions:
    """`repository`: its present name ("owner/name")."""

    def __init__(self, api: RepositoryApi, settings: GithubSettings, repository: str) -> None:
        self._api = api
        self._settings = settings
        self._named = dict(zip(("owner", "name"), repository.split("/"), strict=True))

    async def listed(self) -> AsyncIterator[DiscussionHead]:
        """Yields every answered one. For labels all of them must be asked for: there is no filter by label."""
        chosen = {**self._named, "answered": None if self._settings.labels else True}
        async for node in self._every(_LIST, chosen, "repository", "discussions"):
            head = parsed(DiscussionHead, node)
            if self._is_answered(head):
                yield head

    async def read(self, number: int) -> tuple[Discussion, Thread]:
        """Returns a discussion as it is now, and its thread.

        Raises:
            ApiError: among others with status 404 where it is gone.
            PageError: it has no answer any more.
        """
        chosen = self._named | {"number": number}
        node = _within(await self._api.graphql(_ONE, chosen), "repository", "discussion")
        if node is None:
            raise ApiError("it is gone", status=404)
        discussion = parsed(Discussion, node)
        if not self._is_answered(discussion):
            raise PageError("the discussion has no answer any more", withdraw=True)
        replies: list[Post] = []
        async for node in self._every(_COMMENTS, chosen, "repository", "discussion", "comments"):
            comment = parsed(_Post, node)
            below = [reply async for reply in self._replies(node)]
            if comment.is_minimized:  # what hangs on it is not shown either
                below = [replace(reply, hidden=True) for reply in below]
            replies += [comment.post(), *below]
        question = discussion.post()
        answer = discussion.marked or chosen_answer(question, replies, reaction=None)
        return discussion, Thread(
            title=discussion.title, question=question, replies=tuple(replies), answer=answer
        )

    async def _replies(self, comment: dict[str, Any]) -> AsyncIterator[Post]:
        connection = comment.get("replies") or {}
        for node in _nodes(connection):
            yield parsed(_Post, node).post()
        if cursor := _next_cursor(connection):
            chosen = {"id": comment["id"]}
            async for node in self._every(_MORE_REPLIES, chosen, "node", "replies", after=cursor):
                yield parsed(_Post, node).post()

    async def _every(
        self, query: str, chosen: dict[str, Any], *way: str, after: str | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        """Yields every node of the connection at the end of `way`, along the cursors."""
        while True:
            connection = _within(await self._api.graphql(query, chosen | {"after": after}), *way)
            if connection is None:
                raise ApiError("it is gone", status=404)
            for node in _nodes(connection):
                yield node
            after = _next_cursor(connection)
            if after is None:
                return

    def _is_answered(self, head: DiscussionHead) -> bool:
        return head.marked is not None or bool(head.label_names & lowered(self._settings.labels))


def _within(payload: Any, *way: str) -> Any:
    for name in way:
        payload = payload.get(name) if isinstance(payload, dict) else None
    return payload


def _nodes(connection: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """Yields the nodes that may be seen; GitHub replaces the others by null."""
    return (node for node in connection.get("nodes") or () if node is not None)


def _next_cursor(connection: dict[str, Any]) -> str | None:
    info = connection.get("pageInfo") or {}
    return str(info["endCursor"]) if info.get("hasNextPage") and info.get("endCursor") else None
