"""A question and what was said to it, as issues and discussions both have it, and the page that is made of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from ingest.sources.github.posts import as_answer, as_remark, signed
from ingest.sources.markup import heading
from kb.models import ACCEPTED_ANSWER

MAINTAINERS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
"""GitHub's `author_association` of people who may decide what is an answer."""
GHOST = "ghost"
"""Whom GitHub shows in the place of a deleted account."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Post:
    """`hidden`: minimized as spam, outdated, off-topic or the like, so that a reader does not see it."""

    id: str
    author: str
    text: str
    day: date
    is_bot: bool = False
    is_maintainer: bool = False
    hidden: bool = False
    pinned: bool = False
    reactions: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class Thread:
    """`replies`: in the order in which they are shown, the answer among them. `answer`: its id, where there is one."""

    title: str
    question: Post
    replies: tuple[Post, ...]
    answer: str | None = None

    @property
    def edited(self) -> date:
        """The day of the answer: what is said to it later makes it no newer. Without one, of the last post."""
        answers = [post.day for post in self.replies if post.id == self.answer]
        return max(answers or [self.question.day, *(post.day for post in self.replies)])


def chosen_answer(question: Post, replies: Sequence[Post], *, reaction: str | None) -> str | None:
    """Returns the id of the reply to an issue that is its answer, since GitHub has no mark for that.

    Of the maintainers' comments: the one that is pinned; else the last with
    `reaction`; else the last by somebody who did not ask, who may have
    written thanks at the end; else the last. None: no maintainer wrote one.
    """
    theirs = [post for post in replies if post.is_maintainer and not post.is_bot and not post.hidden]
    preferred = (
        [post for post in replies if post.pinned and not post.hidden],
        [post for post in theirs if reaction in post.reactions],
        [post for post in theirs if post.author != question.author],
        theirs,
    )
    return next((posts[-1].id for posts in preferred if posts), None)


def page_of(thread: Thread) -> str:
    """Writes the thread as Markdown: question, answer, then what else was said. Bots are heard where they answer."""
    shown = [post for post in thread.replies if not post.hidden]
    answers = [post for post in shown if post.id == thread.answer]
    others = [post for post in shown if post.id != thread.answer and not post.is_bot]
    parts = [heading(thread.title), signed(thread.question.author, as_answer(thread.question.text))]
    if answers:
        parts += [heading(ACCEPTED_ANSWER, 2)]
        parts += [signed(post.author, as_answer(post.text)) for post in answers]
    replies = [signed(post.author, as_remark(post.text)) for post in others]
    if any(replies):
        parts += [heading("Other replies", 2), *replies]
    return "\n\n".join(part for part in parts if part) + "\n"


def lowered(names: Iterable[str]) -> frozenset[str]:
    """Lowercases the names of labels, which GitHub compares regardless of case."""
    return frozenset(name.lower() for name in names)
