"""Word frequencies of the index: which words are rare enough to matter, and which are no typos.

Counted over the pages that everyone may read, and only those: a correction towards a word of a private page would hint
at it. The index counts them (`kb.index.word_counts`) and keeps the counts; here they are queried.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Collection, Iterable

from kb.errors import FootnoteError
from kb.index.port import VectorIndex
from kb.index.word_counts import PassageWords, WordCounts
from kb.models import Chunk
from kb.retrieval.lexical import LexicalEncoder
from kb.runtime.tasks import cancelled, happened

logger = logging.getLogger(__name__)

WAIT_S = 1.0
"""Seconds that a start waits for counts that are not there yet: a thousand passages or so are counted by then."""
LOOK_S = 10.0
"""Seconds between two checks whether another process changed the index or whether it is back."""


class FixedCounts:
    """Word counts of passages that no index holds, in the place of an index."""

    def __init__(self, words: WordCounts | None = None) -> None:
        self.words = words or WordCounts()

    async def count_words(self) -> None:
        """Does nothing: the words are counted."""


class Vocabulary:
    """Tells the word frequencies of an index. Until passages are counted every word is equally rare, and none known."""

    def __init__(self, index: VectorIndex | FixedCounts | None = None, *, look_s: float = LOOK_S) -> None:
        self._index = index or FixedCounts()
        self._look_s = look_s
        self._following: asyncio.Task[None] | None = None
        self._due, self._looked = asyncio.Event(), asyncio.Event()

    async def start(self) -> None:
        """Follows the counts of the index from now on, whoever writes it. Returns once they are, or after `WAIT_S`."""
        if self._following is None:
            self._following = asyncio.create_task(self._follow(), name="vocabulary")
        await self.look()

    async def look(self) -> None:
        """Counts again after a write. Returns when the words are counted, or after `WAIT_S`; at once before a start."""
        if self._following is not None:
            self._looked.clear()
            self._due.set()
            await happened(self._looked, within_s=WAIT_S)

    async def close(self) -> None:
        if self._following is not None:
            await cancelled(self._following)

    def frequency(self, word: str) -> int:
        """Returns the number of passages that hold exactly this word (lower case)."""
        return self._index.words.frequency(word)

    def rarity(self, terms: Collection[int]) -> float:
        """Returns BM25's inverse document frequency of a word, by its commonest form; 1 where nothing is counted.

        Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), with the 1 that keeps it above 0.
        """
        words = self._index.words
        if words.passages <= 0:
            return 1.0
        frequency = min(max((words.holding(term) for term in terms), default=0), words.passages)
        return math.log(1 + (words.passages - frequency + 0.5) / (frequency + 0.5))

    async def _follow(self) -> None:
        """Counts until it is cancelled. An index that is down is only logged; questions report it."""
        is_away = False
        while True:
            self._due.clear()
            try:
                await self._index.count_words()
                is_away = False
            except FootnoteError as error:
                if not is_away:
                    logger.warning("vocabulary.unavailable", extra={"cause": str(error)})
                is_away = True
            if not self._due.is_set():
                self._looked.set()
            await happened(self._due, within_s=self._look_s)


def count(passages: Iterable[Chunk], lexical: LexicalEncoder) -> FixedCounts:
    """Counts passages that no index holds."""
    words = WordCounts()
    for chunk in passages:
        terms = lexical.document(chunk.embedded_text, chunk.page.language).indices
        words.change(came=[PassageWords.of(chunk, terms)])
    return FixedCounts(words)
