"""Measures of a ranking and their uncertainty. Pure.

Relevance is binary. Passages with the same text ("twins") are one: the first of them is the hit, a second one is worth
nothing and keeps its rank, since a reader gets nothing from it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

METRICS = ("recall@5", "ndcg@5", "recall@20", "mrr")
"""The order of every row of figures here. `mrr` is 1 / rank of the first hit, 0 where none is in the first 20."""
SAMPLES = 10_000
SEED = 20260701


@dataclass(frozen=True, kw_only=True, slots=True)
class Interval:
    """Ends of the 95% intervals, one of each metric."""

    low: tuple[float, ...]
    high: tuple[float, ...]


def measure(ranking: Sequence[str], relevant: Iterable[str], twins: Mapping[str, str]) -> tuple[float, ...]:
    """Returns one figure (0..1) for each of `METRICS`. `ranking` is passage ids, best first.

    Raises:
        ValueError: nothing is relevant; such a question measures nothing.
    """
    wanted = {twins.get(passage, passage) for passage in relevant}
    if not wanted:
        raise ValueError("a question without relevant passages cannot be measured")
    ranks = hit_ranks(ranking, wanted, twins)
    in_5 = [rank for rank in ranks if rank <= 5]
    in_20 = [rank for rank in ranks if rank <= 20]
    ideal = sum(_gain(rank) for rank in range(1, min(5, len(wanted)) + 1))
    return (
        len(in_5) / len(wanted),
        sum(_gain(rank) for rank in in_5) / ideal,
        len(in_20) / len(wanted),
        1 / in_20[0] if in_20 else 0.0,
    )


def hit_ranks(ranking: Sequence[str], wanted: Iterable[str], twins: Mapping[str, str]) -> list[int]:
    """Returns the ranks, from 1, at which each wanted group is first met, in their order."""
    left = set(wanted)
    ranks = []
    for rank, passage in enumerate(ranking, start=1):
        group = twins.get(passage, passage)
        if group in left:
            left.discard(group)
            ranks.append(rank)
    return ranks


def mean(figures: NDArray[np.float64]) -> tuple[float, ...]:
    """Returns the mean row. `figures` has the shape (turns, metrics) and at least one row."""
    return tuple(float(value) for value in figures.mean(axis=0))


def interval(figures: NDArray[np.float64], conversations: Sequence[str], *, seed: int = SEED) -> Interval:
    """Computes 95% percentile bootstrap intervals of the means (Efron and Tibshirani 1993).

    Whole conversations are drawn: their turns share a topic, and a wrong anchor in one carries into the next, so
    turns drawn alone would promise more certainty than there is. For a paired comparison `figures` holds the
    differences, turn by turn.

    Args:
        figures: shape (turns, metrics).
        conversations: the conversation of each row.
    """
    _, group = np.unique(np.asarray(conversations), return_inverse=True)
    number = int(group.max()) + 1
    sums = np.zeros((number, figures.shape[1]))
    np.add.at(sums, group, figures)
    sizes = np.bincount(group, minlength=number).astype(float)
    # How often each conversation is drawn: the same as drawing them one by one, in one call.
    drawn = np.random.default_rng(seed).multinomial(number, np.full(number, 1 / number), size=SAMPLES)
    means = (drawn @ sums) / (drawn @ sizes)[:, None]
    low, high = np.percentile(means, [2.5, 97.5], axis=0)
    return Interval(low=tuple(map(float, low)), high=tuple(map(float, high)))


def rouge_l(written: Sequence[str], gold: Sequence[str]) -> float:
    """Computes F1 of the longest common subsequence of two lists of words (Lin 2004), 0..1."""
    common = _longest_common(written, gold)
    return 2 * common / (len(written) + len(gold)) if common else 0.0


def _longest_common(words: Sequence[str], others: Sequence[str]) -> int:
    row = [0] * (len(others) + 1)
    for word in words:
        above = row
        row = [0]
        for column, candidate in enumerate(others):
            row.append(above[column] + 1 if word == candidate else max(above[column + 1], row[column]))
    return row[-1]


def _gain(rank: int) -> float:
    return 1 / math.log2(rank + 1)
