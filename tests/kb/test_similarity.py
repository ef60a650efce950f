"""How alike two sentences are, whatever a model's cosines mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from kb.sentence_vectors import REMEMBERED
from kb.similarity import UNRELATED, EmbeddingSimilarity


class Crowded:
    """An embedder in whose space everything is alike: cosines of different texts are `floor`."""

    def __init__(self, floor: float) -> None:
        self.batches: list[list[str]] = []
        self._floor = floor
        self._axes: dict[str, int] = {}

    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.batches.append(list(texts))
        rows = np.zeros((len(texts), 10_000), dtype=np.float32)
        rows[:, 0] = np.sqrt(self._floor)
        for row, text in zip(rows, texts, strict=True):
            row[1 + self._axes.setdefault(text, len(self._axes))] = np.sqrt(1 - self._floor)
        return rows


@pytest.mark.parametrize("floor", [0.0, 0.05, 0.8])
async def test_the_same_is_one_and_unrelated_is_zero_with_every_model(floor: float) -> None:
    similarity = EmbeddingSimilarity(Crowded(floor))

    assert await similarity([("a", "a"), ("a", "b")]) == pytest.approx([1.0, 0.0], abs=1e-5)


async def test_all_that_is_new_is_embedded_at_once_and_only_once() -> None:
    embedder = Crowded(0.1)
    similarity = EmbeddingSimilarity(embedder)

    await similarity([("a", "b"), ("a", "c")])
    await similarity([("d", "b")])

    assert embedder.batches == [list(UNRELATED), ["a", "b", "c"], ["d"]]


async def test_memory_is_bounded() -> None:
    embedder = Crowded(0.1)
    similarity = EmbeddingSimilarity(embedder)
    await similarity([("first", "second")])
    for at in range(0, REMEMBERED, 500):
        await similarity([(f"x{n}", "y") for n in range(at, at + 500)])

    await similarity([("first", "y")])

    assert embedder.batches[-1] == ["first"]


async def test_no_pairs_ask_nothing() -> None:
    embedder = Crowded(0.1)

    assert await EmbeddingSimilarity(embedder)([]) == []
    assert embedder.batches == []
