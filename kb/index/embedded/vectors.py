"""What the embedded engine calls vectors and their results: the shape of a shard, and one wording's query."""

from __future__ import annotations

from collections.abc import Sequence

import qdrant_edge as engine

from kb.errors import IndexMismatchError
from kb.index.fields import DENSE, LEXICAL
from kb.index.payload import point_id, require_page, to_payload
from kb.index.port import IndexedChunk, IndexManifest, SparseVector

QUANTILE = 0.99
"""Share of a vector's numbers that keep their scale: those beyond are as good as the greatest 8 bits can say."""


def config(dimension: int) -> engine.EdgeConfig:
    return engine.EdgeConfig(
        vectors={DENSE: engine.EdgeVectorParams(size=dimension, distance=engine.Distance.Cosine)},
        sparse_vectors={LEXICAL: engine.EdgeSparseVectorParams(modifier=engine.Modifier.Idf)},
        wal_enabled=True,
    )


def quantized_config(dimension: int) -> engine.EdgeConfig:
    """Configures a shard with dense vectors in memory as 8-bit integers, all else on the disk. No graph (m = 0)."""
    on_disk = engine.Memory.Cold
    return engine.EdgeConfig(
        vectors={
            DENSE: engine.EdgeVectorParams(size=dimension, distance=engine.Distance.Cosine, memory=on_disk)
        },
        sparse_vectors={LEXICAL: engine.EdgeSparseVectorParams(modifier=engine.Modifier.Idf, memory=on_disk)},
        payload_memory=on_disk,
        hnsw_config=engine.HnswIndexConfig(m=0, ef_construct=100, full_scan_threshold=10_000),
        quantization_config=engine.ScalarQuantizationConfig(
            engine.ScalarType.Int8, quantile=QUANTILE, memory=engine.Memory.Pinned
        ),
        optimizers=engine.EdgeOptimizersConfig(default_segment_number=1, indexing_threshold=1),
    )


def point_of(page_id: str, indexed: IndexedChunk, manifest: IndexManifest) -> engine.Point:
    """Returns a chunk of this page as a point of an index with this manifest."""
    require_page(page_id, indexed)
    check_dimension(indexed.dense, manifest)
    return engine.Point(
        point_id(indexed.chunk.id),
        {DENSE: list(indexed.dense), LEXICAL: sparse(indexed.lexical)},
        to_payload(indexed.chunk),
    )


def check_dimension(vector: Sequence[float], manifest: IndexManifest) -> None:
    if len(vector) != manifest.dimension:
        raise IndexMismatchError(
            f"the index holds vectors of {manifest.dimension} numbers ({manifest.embedder}), not {len(vector)}: "
            "reindex in full"
        )


def sparse(vector: SparseVector) -> engine.SparseVector:
    return engine.SparseVector(list(vector.indices), list(vector.values))


def sparse_query(vector: SparseVector) -> engine.Query | None:
    """Returns the lexical leg of a wording; None for one without terms, whose lexical score is 0 everywhere."""
    return engine.Query.Nearest(sparse(vector), using=LEXICAL) if vector.indices else None


def scores(points: Sequence[engine.ScoredPoint]) -> dict[engine.PointId, float]:
    """Scores by id."""
    return {point.id: point.score for point in points}
