"""What an answerer hands over before it is verified. Two implement it: the model, and extraction from the pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kb.confidence import Evidence
from kb.models import Turn


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftSentence:
    """A sentence, list item, table row or fence, and the passages that it is said to rest on.

    `hits` are 0-based indices into the evidence, each once. `quotes` has one entry for each of them, in the same
    order: the words of the passage that carry the sentence, to the letter, or "" where the whole passage is meant.
    """

    text: str
    hits: tuple[int, ...] = ()
    quotes: tuple[str, ...] = ()


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
