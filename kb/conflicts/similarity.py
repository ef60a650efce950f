"""How alike two sentences are, by the embedder: whether two pages speak of the same.

Embedding models do not agree on what a cosine means: unrelated sentences lie at 0.05 with one and at 0.75 with another.
So each model's cosine is scaled from unrelated (0) to the same (1); what is unrelated is measured on the model itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kb.inference.embedder import Embedder
from kb.inference.sentence_vectors import SentenceVectors

UNRELATED = (
    "The invoice was sent on Tuesday.",
    "Giraffes sleep standing up.",
    "Press the red button to stop the machine.",
    "Her grandmother was born in Lisbon.",
    "The database keeps a log of every transaction.",
    "Add a pinch of salt to the soup.",
    "The match ended in a draw.",
    "Glaciers move a few metres a year.",
    "Employees hand in their expenses by the end of the month.",
    "The train to the airport leaves every half hour.",
    "Version 3 changes how files are stored.",
    "A contract may be ended by either side in writing.",
    "The museum is closed on Mondays.",
    "Ask your manager before you book a training.",
    "The pump must be cleaned once a year.",
    "Passwords have at least twelve characters.",
)
"""Sentences that have nothing to do with each other: what their cosines are is a model's zero."""


class EmbeddingSimilarity:
    """Similarity of pairs of sentences, 1 the same, about 0 unrelated; the mean of several models' similarity.

    A text that was seen lately is not embedded again.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors = SentenceVectors(embedder)
        self._zeros: list[float] | None = None

    async def __call__(self, pairs: list[tuple[str, str]]) -> list[float]:
        if not pairs:
            return []
        parts, zeros = await self._spaces()
        vectors = await self._vectors.of([text for pair in pairs for text in pair])
        alike = [
            [
                (float(vectors[first][part] @ vectors[second][part]) - zero) / (1.0 - zero)
                for part, zero in zip(parts, zeros, strict=True)
            ]
            for first, second in pairs
        ]
        return [sum(by_model) / len(by_model) for by_model in alike]

    async def among(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Returns the similarity of each text to each, a row a text. For some thousands at most.

        Raises:
            EmbedderUnavailableError: the embedder does not answer.
        """
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        parts, zeros = await self._spaces()
        vectors = await self._vectors.of(texts)

        def compared() -> NDArray[np.float32]:
            rows = np.stack([vectors[text] for text in texts])
            by_model = [
                (rows[:, part] @ rows[:, part].T - zero) / (1.0 - zero)
                for part, zero in zip(parts, zeros, strict=True)
            ]
            return np.asarray(np.mean(by_model, axis=0, dtype=np.float32))

        return await asyncio.to_thread(compared)  # some thousands take a quarter of a second

    async def _spaces(self) -> tuple[list[slice], list[float]]:
        """Returns each model's part of a vector, and its zero."""
        parts = [space.part for space in self._embedder.spaces]
        if self._zeros is None:
            unrelated = await self._embedder.embed_documents(UNRELATED)
            self._zeros = [_mean_cosine(unrelated[:, part]) for part in parts]
        return parts, self._zeros


def _mean_cosine(vectors: NDArray[np.float32]) -> float:
    """Returns the mean cosine of every two different rows."""
    cosines = vectors @ vectors.T
    return float(cosines[~np.eye(len(vectors), dtype=bool)].mean())
