"""Describes the playground to a newcomer: who writes the answers, how many pages there are, what to try."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from bot.playground.questions import Suggestion


@dataclass(frozen=True, kw_only=True, slots=True)
class Guide:
    """`model`: the one that writes; None where the pages are quoted. `pages`: how many are indexed; None: unknown."""

    model: str | None = None
    pages: int | None = None
    questions: tuple[Suggestion, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "pages": self.pages,
            "questions": [{"text": question.text, "kind": question.kind} for question in self.questions],
        }


AskGuide = Callable[[], Awaitable[Guide]]
