"""What an answerer hands over before it is verified. Two implement it: the model, and extraction from the pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kb.citations.sentence import DraftSentence
from kb.confidence import Evidence
from kb.models import Turn

__all__ = ["Draft", "DraftSentence", "Drafter"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """`declined`: the answerer says that the passages do not answer. `dropped_markers`: citations of nothing."""

    sentences: tuple[DraftSentence, ...]
    declined: bool = False
    dropped_markers: int = 0


class Drafter(Protocol):
    async def draft(
        self, question: str, query: str, evidence: Evidence, turns: Sequence[Turn], *, language: str
    ) -> Draft:
        """Answers the user's own `question`. `query` is its standalone form, for choosing sentences by."""
