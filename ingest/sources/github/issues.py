"""Issues by REST: those with one of the labels, and their comments. Pull
requests, which the API lists among them, are left out.

An issue that was transferred answers 301, one that was deleted 410, one that may not be seen 404
(https://docs.github.com/en/rest/issues/issues#get-an-issue).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

from pydantic import Field

from ingest.errors import PageError
from ingest.sources.api_responses import Shape, parsed
from ingest.sources.github.connection import RepositoryApi
from ingest.sources.github.threads import GHOST, MAINTAINERS, Post, Thread, chosen_answer, lowered
from kb.config.sources import GithubSettings


class _User(Shape):
    login: str = GHOST
    type: str = "User"


class Comment(Shape):
    """What issues and their comments have in common."""

    id: int
    body: str | None = None
    user: _User | None = None
    author_association: str = "NONE"
    created_at: datetime
    updated_at: datetime
    reactions: dict[str, Any] = Field(default_factory=dict)
    pin: Any = None
    minimized: Any = None

    def post(self, *, edited: datetime) -> Post:
        user = self.user or _User()
        return Post(
            id=str(self.id),
            author=user.login,
            text=self.body or "",
            day=edited.date(),
            is_bot=user.type == "Bot",
            is_maintainer=self.author_association in MAINTAINERS,
            hidden=bool(self.minimized),
            pinned=bool(self.pin),
            reactions=frozenset(name for name, times in self.reactions.items() if times and name != "url"),
        )


class Issue(Comment):
    """`comments`: how many there are."""

    number: int
    title: str
    html_url: str
    comments: int = 0
    labels: list[Any] = Field(default_factory=list)
    pull_request: dict[str, Any] | None = None

    @property
    def url(self) -> str:
        return self.html_url

    @property
    def label_names(self) -> frozenset[str]:
        """In lower case: GitHub does not tell labels apart by case."""
        return lowered(
            str(label.get("name", "") if isinstance(label, dict) else label) for label in self.labels
        )

    @property
    def state(self) -> tuple[str, ...]:
        """What changes when the issue or one of its comments does: editing a comment sets the issue's
        `updated_at` as well (https://github.com/microsoft/TypeScript-Twoslash-Repro-Action/issues/17).
        """
        return (self.updated_at.isoformat(), str(self.comments), self.title, self.html_url)


class Issues:
    """`repository`: its present name ("owner/name")."""

    def __init__(self, api: RepositoryApi, settings: GithubSettings, repository: str) -> None:
        self._api = api
        self._settings = settings
        self._path = f"/repos/{repository}/issues"

    async def listed(self) -> AsyncIterator[Issue]:
        """Yields every answered one. Labels in one request must all be there, so each is asked for by itself."""
        seen: set[int] = set()
        for label in self._settings.labels:
            chosen = {"state": "all", "labels": label, "sort": "created", "direction": "asc"}
            async for result in self._api.every(self._path, chosen):
                issue = parsed(Issue, result)
                if issue.pull_request is None and issue.number not in seen:
                    seen.add(issue.number)
                    yield issue

    async def read(self, number: int) -> tuple[Issue, Thread]:
        """Returns an issue as it is now, and its thread: a comment that comes in between is read at the next sync.

        Raises:
            ApiError: it cannot be read.
            PageError: it is no answered issue any more.
        """
        issue = parsed(Issue, await self._api.api.get(f"{self._path}/{number}"))
        if issue.pull_request is not None or not issue.label_names & lowered(self._settings.labels):
            raise PageError("the issue has none of the labels any more", withdraw=True)
        comments = self._api.every(f"{self._path}/{number}/comments", {})
        question = issue.post(edited=issue.created_at)  # its `updated_at` covers its comments too
        replies = [
            comment.post(edited=comment.updated_at)
            async for comment in (parsed(Comment, result) async for result in comments)
        ]
        answer = chosen_answer(question, replies, reaction=self._settings.answer_reaction)
        return issue, Thread(title=issue.title, question=question, replies=tuple(replies), answer=answer)
