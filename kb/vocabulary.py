"""How common words are in the index: for what is rare enough to matter, and for what is no slip of the keyboard.

Counted over the pages that everyone may read, and only those: a correction towards a word of a private page would hint
at it.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter
from collections.abc import AsyncIterator, Collection, Sequence
from typing import Protocol

from kb.index.port import VectorIndex
from kb.lexical import LexicalEncoder
from kb.models import Audience, Chunk

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


class Passages(Protocol):
    def passages(self, *, audience: Audience) -> AsyncIterator[Sequence[Chunk]]: ...


class Vocabulary:
    """Empty until the first `follow` or `refresh`: then every word is equally rare and none is known."""

    def __init__(self, lexical: LexicalEncoder) -> None:
        self._lexical = lexical
        self._words: Counter[str] = Counter()
        self._terms: Counter[int] = Counter()
        self._passages = 0
        self._counted: object = None

    async def follow(self, index: VectorIndex) -> None:
        """`refresh`, unless the index holds what was counted last: every page of it, as it is now.

        Raises:
            IndexUnavailableError: the counts stay as they were.
        """
        holds = (await index.manifest(), dict(await index.revisions()))
        if holds != self._counted:
            await self.refresh(index)
            self._counted = holds

    async def refresh(self, index: Passages) -> None:
        """Counts anew, off the event loop, and takes the new counts over at once.

        Raises:
            IndexUnavailableError: the counts stay as they were.
        """
        words: Counter[str] = Counter()
        terms: Counter[int] = Counter()
        passages = 0
        async for batch in index.passages(audience=Audience()):
            await asyncio.to_thread(self._count, batch, words, terms)
            passages += len(batch)
        self._words, self._terms, self._passages = words, terms, passages

    def frequency(self, word: str) -> int:
        """Passages that hold this very word (lower case)."""
        return self._words[word]

    def rarity(self, terms: Collection[int]) -> float:
        """BM25's inverse document frequency of a word, by its most common form; 1 for every word before a refresh.

        Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), with the 1 that keeps it above 0.
        """
        if not self._passages:
            return 1.0
        frequency = max((self._terms[term] for term in terms), default=0)
        return math.log(1 + (self._passages - frequency + 0.5) / (frequency + 0.5))

    def _count(self, batch: Sequence[Chunk], words: Counter[str], terms: Counter[int]) -> None:
        for chunk in batch:
            text = chunk.embedded_text
            words.update(set(_WORD.findall(text.casefold())))
            terms.update(self._lexical.document(text, chunk.page.language).indices)
