"""How alike two sentences are, whatever the models' cosines mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from kb.conflicts.similarity import UNRELATED, EmbeddingSimilarity
from kb.inference.embedder import Space
from kb.inference.sentence_vectors import REMEMBERED

TEXTS = 5000
"""Different texts that a model tells apart."""


class Crowded:
    """An embedder in whose spaces everything is alike: cosines of different texts are `floors`, one for each model."""

    def __init__(self, *floors: float, same: frozenset[str] = frozenset()) -> None:
        """`same`: texts that the first model takes for one and the same."""
        self.batches: list[list[str]] = []
        self._floors = floors
        self._same = same
        self._axes: dict[str, int] = {}
        size = 1 + TEXTS
        self.spaces = [
            Space(model=f"model {at}", part=slice(at * size, (at + 1) * size)) for at in range(len(floors))
        ]

    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.batches.append(list(texts))
        return np.hstack([self._by_one(texts, floor, first=at == 0) for at, floor in enumerate(self._floors)])

    def _by_one(self, texts: Sequence[str], floor: float, *, first: bool) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), 1 + TEXTS), dtype=np.float32)
        rows[:, 0] = np.sqrt(floor)
        for row, text in zip(rows, texts, strict=True):
            seen_as = "the same" if first and text in self._same else text
            row[1 + self._axes.setdefault(seen_as, len(self._axes))] = np.sqrt(1 - floor)
        return rows


@pytest.mark.parametrize("floors", [(0.0,), (0.05,), (0.8,), (0.05, 0.8)])
async def test_the_same_is_one_and_unrelated_is_zero_with_every_model(floors: tuple[float, ...]) -> None:
    similarity = EmbeddingSimilarity(Crowded(*floors))

    assert await similarity([("a", "a"), ("a", "b")]) == pytest.approx([1.0, 0.0], abs=1e-5)


async def test_each_of_several_models_has_the_same_say_wherever_its_cosines_lie() -> None:
    similarity = EmbeddingSimilarity(Crowded(0.05, 0.8, same=frozenset({"a", "b"})))

    assert await similarity([("a", "b")]) == pytest.approx([0.5], abs=1e-5)


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
