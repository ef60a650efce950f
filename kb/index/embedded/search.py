"""The embedded engine's side of a search: what each wording finds, and
what every wording makes of all that was found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import qdrant_edge as engine

from kb.index.embedded.filters import is_page, is_readable, readable
from kb.index.embedded.vectors import scores, sparse_query
from kb.index.fields import DENSE
from kb.index.payload import FoundPoints
from kb.index.port import QueryVectors
from kb.models import Audience

NEAREST = engine.SearchParams(quantization=engine.QuantizationSearchParams(rescore=True, oversampling=2.0))
"""Where vectors are quantized: twice as many by 8 bits, the best of those by the vectors. Elsewhere it says nothing."""
EXACTLY = engine.SearchParams(quantization=engine.QuantizationSearchParams(ignore=True))


def score(
    shard: engine.EdgeShard,
    queries: Sequence[QueryVectors],
    *,
    audience: Audience,
    limit: int,
    anchor_pages: Sequence[str],
) -> FoundPoints:
    """Finds the best `limit` points of each vector of each wording, over all pages and the anchors, with every score.

    Two batches, not prefetches: those run every leg anew for every query (30 ms against 10). Nothing may be written
    between, nor before what is chosen of them is read.
    """
    scopes = [readable(audience)]
    if anchor_pages:
        scopes.append(readable(audience, is_page(anchor_pages)))
    dense = [engine.Query.Nearest(list(query.dense), using=DENSE) for query in queries]
    lexical = [sparse_query(query.lexical) for query in queries]
    asked = [*dense, *filter(None, lexical)]
    legs = [
        engine.QueryRequest(limit, query=query, filter=scope, with_payload=False, params=NEAREST)
        for scope in scopes
        for query in asked
    ]
    points = [
        {point.id for point in results} for results in shard.query_batch(engine.QueryBatchRequest(legs))
    ]
    # A point of an anchor page that any leg finds is among the best of that page too.
    anchored = set().union(*points[len(asked) :])
    found = anchored.union(*points)
    every = engine.Filter(must=[engine.HasIdCondition(found), *is_readable(audience)])
    scoring = [
        engine.QueryRequest(max(1, len(found)), query=query, filter=every, with_payload=False, params=EXACTLY)
        for query in asked
    ]
    results = iter(shard.query_batch(engine.QueryBatchRequest(scoring)))
    return FoundPoints.of(
        [scores(next(results)) for _ in dense],
        [scores(next(results)) if query is not None else {} for query in lexical],
        anchored,
    )


def read(shard: engine.EdgeShard, points: Sequence[Any]) -> Mapping[Any, Mapping[str, Any]]:
    """Returns the payloads of these points, by id."""
    records = shard.retrieve(list(points), True, False) if points else []
    return {record.id: record.payload or {} for record in records}
