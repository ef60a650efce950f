"""Score fusion: blends a passage's dense similarity and its BM25 into one score. Pure.

Similarity comes as standard scores (`kb.retrieval.standard_scores`). Both kinds of score are first put on the scale
of the question's own candidates, so that nothing here knows an embedding model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kb.config.search_settings import SearchSettings
from kb.index.port import Candidate
from kb.models import Hit, Scores
from kb.retrieval.queries import WeightedQuery

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class FusedScores:
    """One row a passage; all arrays have the shape (passages,).

    `dense` and `lexical` are those of the question's own queries. `context_share`: the share (0..1) of its weight with
    which the query of the thread's words counted.
    """

    dense: Floats
    lexical: Floats
    fused: Floats
    context_share: float = 0.0

    def of(self, row: int) -> Scores:
        both = float(self.fused[row])
        return Scores(dense=float(self.dense[row]), lexical=float(self.lexical[row]), fused=both, final=both)

    def best(self, count: int, among: NDArray[np.bool_] | None = None) -> list[int]:
        """Returns the rows of the best `count` passages and of all equal to the last; `among`: of these rows alone."""
        rows = np.arange(len(self.fused)) if among is None else np.flatnonzero(among)
        if len(rows) <= count:
            return [int(row) for row in rows]
        least = np.partition(self.fused[rows], -count)[-count]
        return [int(row) for row in rows[self.fused[rows] >= least]]


def fuse(
    candidates: Sequence[Candidate], queries: Sequence[WeightedQuery], settings: SearchSettings
) -> list[Hit]:
    """Fuses candidates into hits, in the order of `in_order`. Candidates have one score a query; `dense` are standard
    scores.
    """
    if not candidates:
        return []
    dense = np.array([candidate.dense for candidate in candidates], dtype=float)
    lexical = np.array([candidate.lexical for candidate in candidates], dtype=float)
    scores = fuse_scores(dense, lexical, queries, settings)
    return in_order(
        Hit(chunk=candidate.chunk, scores=scores.of(row)) for row, candidate in enumerate(candidates)
    )


def in_order(hits: Iterable[Hit]) -> list[Hit]:
    """Sorts hits best first, equal ones by chunk id so that the order is always the same."""
    return sorted(hits, key=lambda hit: (-hit.scores.final, hit.chunk.id))


def fuse_scores(
    dense: Floats, lexical: Floats, queries: Sequence[WeightedQuery], settings: SearchSettings
) -> FusedScores:
    """Fuses arrays of shape (passages, queries), at least one passage; `dense` as standard scores.

    `fused` is at most 1, and below 0 for passages worse than average. The better the question finds without the
    thread's words, the less they weigh: that tells a new topic in an old thread from a follow-up.
    """
    own = np.array([0.0 if query.context else query.weight for query in queries])
    evidence = own / own.sum()
    need = context_share(dense, queries, settings)
    weights = np.array([query.weight * (need if query.context else 1.0) for query in queries])
    shares = weights / weights.sum()
    if settings.fusion == "rrf":
        fused = by_rank(dense, lexical, dense_weight=settings.dense_weight, k=settings.rrf_k)
    else:
        fused = by_score(dense, lexical, dense_weight=settings.dense_weight)
    return FusedScores(
        dense=dense @ evidence, lexical=lexical @ evidence, fused=fused @ shares, context_share=need
    )


def context_share(dense: Floats, queries: Sequence[WeightedQuery], settings: SearchSettings) -> float:
    """Returns the share (0..1) of its weight that the query of the thread's words gets.

    1 where the best standard score of the question's own queries is weak, 0 where it is strong.
    """
    own = [column for column, query in enumerate(queries) if not query.context]
    if not len(dense) or len(own) == len(queries):
        return 0.0
    best = float(dense[:, own].max())
    span = settings.context_strong - settings.context_weak
    return min(1.0, max(0.0, (settings.context_strong - best) / span)) if span > 0 else 1.0


def by_score(dense: Floats, lexical: Floats, *, dense_weight: float) -> Floats:
    """Blends similarity and BM25. All arrays have the shape (candidates, queries).

    Each query's best candidate has similarity 1 and its average candidate 0, since what a question's scores tell is
    how far the best stands out. BM25 begins at 0 and has no upper end: it is divided by the best.
    """
    return dense_weight * _relative(dense - dense.mean(axis=0)) + (1 - dense_weight) * _relative(lexical)


def by_rank(dense: Floats, lexical: Floats, *, dense_weight: float, k: int) -> Floats:
    """Fuses by weighted reciprocal ranks (Cormack et al. 2009), so that first in both is 1. Shapes as `by_score`.

    A passage without a term of the query has no lexical rank. Equal scores share the better rank.
    """
    of_dense = (k + 1) / (k + _ranks(dense))
    of_lexical = np.where(lexical > 0, (k + 1) / (k + _ranks(lexical)), 0.0)
    return dense_weight * of_dense + (1 - dense_weight) * of_lexical


def spread(values: Sequence[float]) -> list[float]:
    """Scales scores so that the lowest is 0 and the highest 1; equal ones are all 1."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    return [(value - low) / (high - low) if high > low else 1.0 for value in values]


def _relative(scores: Floats) -> Floats:
    """Divides by the best of each column; all 0 where none is above 0."""
    best = scores.max(axis=0)
    relative: Floats = np.divide(scores, best, out=np.zeros_like(scores), where=best > 0)
    return relative


def _ranks(scores: Floats) -> Floats:
    """Ranks the scores of each column: 1 for the best."""
    better = np.sum(scores[:, None, :] < scores[None, :, :], axis=1, dtype=np.float64)
    return np.add(better, 1.0)
