"""How alike two sentences are, by the embedder: the last check of a citation.

Embedders do not agree on what a cosine means: unrelated sentences lie at 0.05 with one model and at 0.75 with another.
So the cosine is told as how far it is from unrelated (0) to the same (1), unrelated being measured on the model itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

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


class Scorer(Protocol):
    """kb.rerank.Reranker: 0..1 for each text."""

    async def score(self, query: str, texts: Sequence[str]) -> list[float]: ...


class CrossEncoderSimilarity:
    """The same by a cross-encoder, 0..1. It was trained on questions and passages, not on sentences that mean the same.

    Answers are not checked with it: see the measure in docs/citations.md.
    """

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer

    async def __call__(self, pairs: list[tuple[str, str]]) -> list[float]:
        """Raises RerankerUnavailableError."""
        others: dict[str, list[str]] = {}
        for one, other in pairs:
            others.setdefault(one, []).append(other)
        scores = {
            (one, other): score
            for one, listed in others.items()
            for other, score in zip(listed, await self._scorer.score(one, listed), strict=True)
        }
        return [scores[pair] for pair in pairs]


def _mean_cosine(vectors: NDArray[np.float32]) -> float:
    """Of every two different rows."""
    cosines = vectors @ vectors.T
    return float(cosines[~np.eye(len(vectors), dtype=bool)].mean())
