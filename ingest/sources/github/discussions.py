"""Discussions by GraphQL, which alone has them: those whose answer was marked, and those with one of the labels."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ingest.sources.github.connection import Connection, GithubError
from ingest.sources.github.issues import lowered, parsed
from ingest.sources.github.threads import GHOST, MAINTAINERS, Post, Thread, chosen_answer
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


class _Shape(BaseModel):
    model_config = ConfigDict(extra="ignore", populate_by_name=True)


class _Author(_Shape):
    login: str = GHOST
    kind: str = Field(default="User", alias="__typename")


class _Answer(_Shape):
    id: str
    hidden: bool = Field(default=False, alias="isMinimized")
    updated_at: datetime = Field(alias="updatedAt")


class _Count(_Shape):
    total: int = Field(default=0, alias="totalCount")


class _Label(_Shape):
    name: str


class _Labels(_Shape):
    nodes: list[_Label | None] = Field(default_factory=list)


class DiscussionHead(_Shape):
    number: int
    title: str
    url: str
    updated_at: datetime = Field(alias="updatedAt")
    answer: _Answer | None = None
    comments: _Count = _Count()
    labels: _Labels | None = None

    @property
    def marked(self) -> str | None:
        """The id of the answer that a reader sees marked."""
        return self.answer.id if self.answer is not None and not self.answer.hidden else None

    @property
    def label_names(self) -> frozenset[str]:
        return lowered(label.name for label in (self.labels.nodes if self.labels else ()) if label)

    @property
    def state(self) -> tuple[str, ...]:
        """What changes when the discussion, its answer or the number of comments does."""
        answer = f"{self.answer.id} {self.answer.updated_at.isoformat()}" if self.answer else ""
        return (self.updated_at.isoformat(), answer, str(self.comments.total), self.title, self.url)


class _Post(_Shape):
    id: str
    body: str = ""
    created_at: datetime = Field(alias="createdAt")
    edited_at: datetime | None = Field(default=None, alias="lastEditedAt")
    association: str = Field(default="NONE", alias="authorAssociation")
    author: _Author | None = None
    hidden: bool = Field(default=False, alias="isMinimized")

    def post(self) -> Post:
        author = self.author or _Author()
        return Post(
            id=self.id,
            author=author.login,
            text=self.body,
            day=(self.edited_at or self.created_at).date(),
            is_bot=author.kind == "Bot",
            is_maintainer=self.association in MAINTAINERS,
            hidden=self.hidden,
        )


class Discussion(DiscussionHead, _Post):
    """A head with the text of its question."""


class Discussions:
    """`repository`: its present name ("owner/name")."""

    def __init__(self, connection: Connection, settings: GithubSettings, repository: str) -> None:
        self._connection = connection
        self._settings = settings
        self._repository = repository
        self._named = dict(zip(("owner", "name"), repository.split("/"), strict=True))

    async def listed(self) -> AsyncIterator[DiscussionHead]:
        """Every discussion with an answer. For labels all of them must be asked for: there is no filter by label."""
        chosen = {"answered": None if self._settings.labels else True}
        async for found in self._every(_LIST, chosen, "repository", "discussions"):
            head = parsed(DiscussionHead, found)
            if self._is_answered(head):
                yield head

    async def discussion(self, number: int) -> Discussion | None:
        """The discussion as it is now; None: it has no answer any more.

        Raises:
            GithubError: among others with status 404 where it is gone.
        """
        told = await self._connection.graphql(_ONE, self._named | {"number": number}, self._repository)
        found = _within(told, "repository", "discussion")
        if found is None:
            raise GithubError("it is gone", status=404)
        discussion = parsed(Discussion, found)
        return discussion if self._is_answered(discussion) else None

    async def thread(self, discussion: Discussion) -> Thread:
        replies: list[Post] = []
        chosen = {"number": discussion.number}
        async for found in self._every(_COMMENTS, chosen, "repository", "discussion", "comments"):
            comment = parsed(_Post, found)
            below = [reply async for reply in self._replies(found)]
            if comment.hidden:  # what hangs on it is not shown either
                below = [replace(reply, hidden=True) for reply in below]
            replies += [comment.post(), *below]
        question = discussion.post()
        answer = discussion.marked
        if answer is None:
            answer = chosen_answer(question, replies, reaction=None)
        return Thread(title=discussion.title, question=question, replies=tuple(replies), answer=answer)

    async def _replies(self, comment: dict[str, Any]) -> AsyncIterator[Post]:
        connected = comment.get("replies") or {}
        for found in _nodes(connected):
            yield parsed(_Post, found).post()
        following = _following(connected)
        if following is None:
            return
        chosen = {"id": comment["id"]}
        async for found in self._every(_MORE_REPLIES, chosen, "node", "replies", after=following):
            yield parsed(_Post, found).post()

    async def _every(
        self, query: str, chosen: dict[str, Any], *way: str, after: str | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        """Every node of the connection at the end of `way`, along the cursors."""
        while True:
            variables = self._named | chosen | {"after": after}
            if "id" in chosen:
                variables = chosen | {"after": after}
            connected = _within(await self._connection.graphql(query, variables, self._repository), *way)
            if connected is None:
                raise GithubError("it is gone", status=404)
            for found in _nodes(connected):
                yield found
            after = _following(connected)
            if after is None:
                return

    def _is_answered(self, head: DiscussionHead) -> bool:
        return head.marked is not None or bool(head.label_names & lowered(self._settings.labels))


def _within(told: Any, *way: str) -> Any:
    for name in way:
        told = told.get(name) if isinstance(told, dict) else None
    return told


def _nodes(connected: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """A node that may not be seen is null."""
    return (node for node in connected.get("nodes") or () if node is not None)


def _following(connected: dict[str, Any]) -> str | None:
    info = connected.get("pageInfo") or {}
    return str(info["endCursor"]) if info.get("hasNextPage") and info.get("endCursor") else None
