"""What the embedded engine calls vectors and their results: the shape of a shard, and one wording's query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import qdrant_edge as engine

from kb.index.payload import DENSE, LEXICAL, Scored
from kb.index.port import SparseVector


def config(dimension: int) -> engine.EdgeConfig:
    return engine.EdgeConfig(
        vectors={DENSE: engine.EdgeVectorParams(size=dimension, distance=engine.Distance.Cosine)},
        sparse_vectors={LEXICAL: engine.EdgeSparseVectorParams(modifier=engine.Modifier.Idf)},
        wal_enabled=True,
    )


def sparse(vector: SparseVector) -> engine.SparseVector:
    return engine.SparseVector(list(vector.indices), list(vector.values))


def sparse_query(vector: SparseVector) -> engine.Query | None:
    """None for a wording without terms: no leg, and a lexical score of 0 for everyone."""
    return engine.Query.Nearest(sparse(vector), using=LEXICAL) if vector.indices else None


def dense_of(record: engine.Record) -> list[float]:
    vectors: Any = record.vector
    return list(vectors[DENSE])


def rows(points: Sequence[engine.ScoredPoint]) -> list[Scored]:
    return [Scored(point=point.id, score=point.score, payload=point.payload) for point in points]
