"""A question with the passages that were found for it: the input of both answerers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kb.models import Audience, Hit, Question, Rewrite, Turn
from kb.retrieval.confidence import Evidence


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedPart:
    """One question of several, what was found for it, and what that is worth."""

    question: str
    hits: Sequence[Hit]
    evidence: Evidence


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """`hits` are the passages, best first; `language` is the question's; `turns` are the earlier ones, oldest first."""

    question: Question
    language: str
    rewrite: Rewrite
    turns: Sequence[Turn]
    hits: Sequence[Hit]
    evidence: Evidence
    parts: tuple[AskedPart, ...] = ()

    @property
    def words(self) -> str:
        """The question as typed and as rewritten: the answer may repeat a figure of the user's own."""
        return f"{self.question.text}\n{self.rewrite.query}"

    @property
    def reply_in(self) -> str:
        """The language of what is written for the reader; quotes stay in that of their pages."""
        return self.question.reply_in or self.language

    @property
    def audience(self) -> Audience:
        return self.question.audience
