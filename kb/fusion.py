"""How a passage's likeness and its words become one score. Pure.

Likeness comes as standard scores (`kb.standard_scores`), words as BM25; both are put on the scale of the question's own
candidates first, so that nothing here knows an embedding model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kb.index.port import Candidate
from kb.models import Hit, Scores
from kb.settings import SearchSettings
from kb.wordings import WeightedQuery

Floats = NDArray[np.float64]


def fuse(
    candidates: Sequence[Candidate], queries: Sequence[WeightedQuery], settings: SearchSettings
) -> list[Hit]:
    """Candidates as hits, best first, equal ones by chunk id so that the order is always the same.

    The scores of a candidate are in the order of `queries`, `dense` as standard scores; `fused` is at most 1, and below 0
    for what the average candidate leaves behind. The thread's words weigh the less the better the question finds without
    them: that is how a new topic in an old thread is told from a follow-up.
    """
    if not candidates:
        return []
    dense = np.array([candidate.dense for candidate in candidates], dtype=float)
    lexical = np.array([candidate.lexical for candidate in candidates], dtype=float)
    own = np.array([0.0 if query.context else query.weight for query in queries])
    evidence = own / own.sum()
    need = context_need(candidates, queries, settings)
    weights = np.array([query.weight * (need if query.context else 1.0) for query in queries])
    shares = weights / weights.sum()
    if settings.fusion == "rrf":
        fused = by_rank(dense, lexical, dense_weight=settings.dense_weight, k=settings.rrf_k)
    else:
        fused = by_score(dense, lexical, dense_weight=settings.dense_weight)
    columns = zip(candidates, dense @ evidence, lexical @ evidence, fused @ shares, strict=True)
    hits = [
        Hit(
            chunk=candidate.chunk,
            scores=Scores(
                dense=float(of_dense), lexical=float(of_lexical), fused=float(of_both), final=float(of_both)
            ),
        )
        for candidate, of_dense, of_lexical, of_both in columns
    ]
    return sorted(hits, key=lambda hit: (-hit.scores.final, hit.chunk.id))


def context_need(
    candidates: Sequence[Candidate], queries: Sequence[WeightedQuery], settings: SearchSettings
) -> float:
    """How much a question needs the words of its thread, 0..1, by the best standard score that its own wordings find."""
    own = [at for at, query in enumerate(queries) if not query.context]
    if not candidates or len(own) == len(queries):
        return 0.0
    best = max(candidate.dense[at] for candidate in candidates for at in own)
    span = settings.context_strong - settings.context_weak
    return min(1.0, max(0.0, (settings.context_strong - best) / span)) if span > 0 else 1.0


def by_score(dense: Floats, lexical: Floats, *, dense_weight: float) -> Floats:
    """Likeness and BM25 blended. All arrays have the shape (candidates, queries).

    Of each query, the best candidate's likeness counts as 1 and the average one's as 0: how far the best stands out is
    what a question's scores tell. BM25 begins at 0 and has no upper end: it is divided by the best.
    """
    return dense_weight * _relative(dense - dense.mean(axis=0)) + (1 - dense_weight) * _relative(lexical)


def by_rank(dense: Floats, lexical: Floats, *, dense_weight: float, k: int) -> Floats:
    """Weighted reciprocal rank fusion (Cormack et al. 2009), scaled so that first in both is 1. Shapes as `by_score`.

    A passage without a term of the query has no lexical rank. Equal scores share the better rank.
    """
    of_dense = (k + 1) / (k + _ranks(dense))
    of_lexical = np.where(lexical > 0, (k + 1) / (k + _ranks(lexical)), 0.0)
    return dense_weight * of_dense + (1 - dense_weight) * of_lexical


def _relative(scores: Floats) -> Floats:
    """Beside the best of each column; all 0 where none is above 0."""
    best = scores.max(axis=0)
    relative: Floats = np.divide(scores, best, out=np.zeros_like(scores), where=best > 0)
    return relative


def _ranks(scores: Floats) -> Floats:
    """1 for the best of each column."""
    better = np.sum(scores[:, None, :] < scores[None, :, :], axis=1, dtype=np.float64)
    return np.add(better, 1.0)
