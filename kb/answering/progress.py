"""Reports progress while a question is answered: a status line, sentences as they are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from kb.answer import Citation, Sentence

Stage = Literal["searching", "reading", "writing", "checking"]


class Progress(Protocol):
    """Told in order; awaited, so that a slow display slows the stream and not the memory. Must not raise."""

    async def stage(self, stage: Stage, *, pages: int = 0) -> None:
        """Reports a stage. `pages`: how many are read, where it is "reading"."""

    async def written(self, sentences: Sequence[Sentence], citations: Sequence[Citation]) -> None:
        """Reports everything that is written and checked by the letter so far, and its sources; it only grows.

        The finished answer may still lose sentences: it is the answer that counts, this is its draft.
        """


class Unwatched:
    """Ignores progress: for the command line and evaluation."""

    async def stage(self, stage: Stage, *, pages: int = 0) -> None:
        """Does nothing."""

    async def written(self, sentences: Sequence[Sentence], citations: Sequence[Citation]) -> None:
        """Does nothing."""
