"""The newcomer's guide on the playground's page, made from the running knowledge base."""

from __future__ import annotations

import asyncio

from bot.cli.composition.runtime import Runtime
from bot.playground.guide import Guide
from bot.playground.questions import Suggestion, suggestions
from kb.errors import UnavailableError
from kb.index.port import IndexCounts
from kb.models import Audience, Chunk

MOST_PASSAGES = 5_000
"""Questions are made of these at most: more pages make no better ones."""


class PlaygroundGuide:
    """The questions are made anew when the index has other counts than before."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._made_of: IndexCounts | None = None
        self._questions: tuple[Suggestion, ...] = ()
        self._making = asyncio.Lock()

    async def __call__(self) -> Guide:
        model = self._runtime.model.name if self._runtime.model else None
        try:
            counts = await self._runtime.index.counts()
            async with self._making:
                if counts != self._made_of:
                    self._questions = await asyncio.to_thread(suggestions, await self._open_to_all())
                    self._made_of = counts
        except UnavailableError:
            return Guide(model=model)
        return Guide(model=model, pages=counts.pages, questions=self._questions)

    async def _open_to_all(self) -> list[Chunk]:
        """Passages that everybody may read: a suggestion must not tell what is on a limited page."""
        found: list[Chunk] = []
        async for batch in self._runtime.index.passages(audience=Audience()):
            found.extend(batch)
            if len(found) >= MOST_PASSAGES:
                break
        return found
