"""Issues by REST: those with one of the labels, and their comments. Pull
requests, which the API lists among them, are left out.

An issue that was transferred answers 301, one that was deleted 410, one that may not be seen 404
(https://docs.github.com/en/rest/issues/issues#get-an-issue).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from datetime import datetime
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ingest.sources.github.connection import Connection, GithubError
from ingest.sources.github.threads import GHOST, MAINTAINERS, Post, Thread, chosen_answer
from kb.config.sources import GithubSettings

M = TypeVar("M", bound=BaseModel)


class _User(BaseModel):
    model_config = ConfigDict(extra="ignore")

    login: str = GHOST
    type: str = "User"


class Comment(BaseModel):
    """What issues and their comments have in common."""

    model_config = ConfigDict(extra="ignore")

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
    def label_names(self) -> frozenset[str]:
        """In lower case: GitHub does not tell labels apart by case."""
        return lowered(str(one.get("name", "") if isinstance(one, dict) else one) for one in self.labels)

    @property
    def state(self) -> tuple[str, ...]:
        """What changes when the issue or one of its comments does: editing a comment sets the issue's
        `updated_at` as well (https://github.com/microsoft/TypeScript-Twoslash-Repro-Action/issues/17).
        """
        return (self.updated_at.isoformat(), str(self.comments), self.title, self.html_url)


def lowered(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)


class Issues:
    """`repository`: its present name ("owner/name")."""

    def __init__(self, connection: Connection, settings: GithubSettings, repository: str) -> None:
        self._connection = connection
        self._settings = settings
        self._repository = repository

    async def listed(self) -> AsyncIterator[Issue]:
        """Every answered issue. Labels in one request must all be there, so each is asked for by itself."""
        seen: set[int] = set()
        for label in self._settings.labels:
            chosen = {"state": "all", "labels": label, "sort": "created", "direction": "asc"}
            async for found in self._connection.every(
                f"/repos/{self._repository}/issues", chosen, self._repository
            ):
                issue = parsed(Issue, found)
                if issue.pull_request is None and issue.number not in seen:
                    seen.add(issue.number)
                    yield issue

    async def issue(self, number: int) -> Issue | None:
        """The issue as it is now; None: it is no answered issue any more."""
        found = await self._connection.get(f"/repos/{self._repository}/issues/{number}", self._repository)
        issue = parsed(Issue, found)
        answered = issue.pull_request is None and issue.label_names & lowered(self._settings.labels)
        return issue if answered else None

    async def thread(self, issue: Issue) -> Thread:
        path = f"/repos/{self._repository}/issues/{issue.number}/comments"
        comments = [
            parsed(Comment, found) async for found in self._connection.every(path, {}, self._repository)
        ]
        question = issue.post(edited=issue.created_at)  # its `updated_at` is that of everything on it
        replies = tuple(comment.post(edited=comment.updated_at) for comment in comments)
        answer = chosen_answer(question, replies, reaction=self._settings.answer_reaction)
        return Thread(title=issue.title, question=question, replies=replies, answer=answer)


def parsed(model: type[M], found: object) -> M:
    """
    Raises:
        GithubError: it has another form than the published one.
    """
    try:
        return model.model_validate(found)
    except ValidationError as error:
        raise GithubError("it answers in a form that Footnote does not know") from error
