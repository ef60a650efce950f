"""How alike two sentences are, by the embedder: whether two pages speak of the same.

Embedders do not agree on what a cosine means: unrelated sentences lie at 0.05 with one model and at 0.75 with another.
So the cosine is told as how far it is from unrelated (0) to the same (1), unrelated being measured on the model itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kb.sentence_vectors import DocumentEmbedder, SentenceVectors

UNRELATED = (
    "The invoice was sent on Tuesday.",
    "Giraffes sleep standing up.",
    "Press the red button to stop the machine.",
    "Her grandmother was born in Lisbon.",
    "The database keeps a log of every transaction.",
    "Add a pinch of salt to the soup.",
    "The match ended in a draw.",
    "Glaciers move a few metres a year.",
)
"""Sentences that have nothing to do with each other: what their cosines are is this model's zero."""


class EmbeddingSimilarity:
    """Likeness of pairs of sentences, 1 the same, about 0 unrelated. A text that was seen lately is not embedded again."""

    def __init__(self, embedder: DocumentEmbedder) -> None:
        self._embedder = embedder
        self._vectors = SentenceVectors(embedder)
        self._zero: float | None = None

    async def __call__(self, pairs: list[tuple[str, str]]) -> list[float]:
        if not pairs:
            return []
        if self._zero is None:
            self._zero = _mean_cosine(await self._embedder.embed_documents(UNRELATED))
        vectors = await self._vectors.of([text for pair in pairs for text in pair])
        cosines = (float(vectors[one] @ vectors[other]) for one, other in pairs)
        return [(cosine - self._zero) / (1.0 - self._zero) for cosine in cosines]


def _mean_cosine(vectors: NDArray[np.float32]) -> float:
    """Of every two different rows."""
    cosines = vectors @ vectors.T
    return float(cosines[~np.eye(len(vectors), dtype=bool)].mean())
