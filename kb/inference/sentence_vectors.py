"""Vectors of sentences, remembered: the sentences of pages that are asked about come again and again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kb.inference.embedder import Embedder

REMEMBERED = 4096
"""Vectors kept in memory: 6 MB, the most asked-about hundred pages or so."""


class SentenceVectors:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    async def of(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Maps each text to its vector. All that are not remembered are embedded in one batch.

        Raises:
            EmbedderUnavailableError: the embedder does not answer.
        """
        wanted = dict.fromkeys(texts)
        found = {text: self._kept[text] for text in wanted if text in self._kept}
        if missing := [text for text in wanted if text not in found]:
            vectors = await self._embedder.embed_documents(missing)
            # A row alone would keep its whole batch in memory, for as long as one of its sentences is remembered.
            found.update((text, row.copy()) for text, row in zip(missing, vectors, strict=True))
        for text, vector in found.items():
            self._kept[text] = vector
            self._kept.move_to_end(text)
        while len(self._kept) > REMEMBERED:
            self._kept.popitem(last=False)
        return found
