"""The embedded engine's side of a search: what each wording finds, and what every wording makes of all that was found."""

from __future__ import annotations

from collections.abc import Sequence

import qdrant_edge as engine

from kb.index.edge_filters import is_page, is_readable
from kb.index.edge_vectors import rows, sparse_query
from kb.index.fields import DENSE
from kb.index.payload import candidates
from kb.index.port import Candidate, QueryVectors
from kb.models import Audience


def search(
    shard: engine.EdgeShard,
    queries: Sequence[QueryVectors],
    *,
    audience: Audience,
    limit: int,
    anchor_pages: Sequence[str],
) -> list[Candidate]:
    """The best `limit` passages of each vector of each wording, over all pages and over the anchors, with every score.

    Two batches, not prefetches: those run every leg anew for every query (30 ms against 10). Nothing may be written between.
    """
    readable = is_readable(audience)
    scopes = [engine.Filter(must=[*readable])]
    if anchor_pages:
        scopes.append(engine.Filter(must=[*readable, is_page(anchor_pages)]))
    dense = [engine.Query.Nearest(list(query.dense), using=DENSE) for query in queries]
    lexical = [sparse_query(query.lexical) for query in queries]
    asked = [*dense, *filter(None, lexical)]
    legs = [
        engine.QueryRequest(limit, query=query, filter=scope, with_payload=False)
        for query in asked
        for scope in scopes
    ]
    found = {point.id for points in shard.query_batch(engine.QueryBatchRequest(legs)) for point in points}
    every = engine.Filter(must=[engine.HasIdCondition(found), *readable])
    scoring = [
        engine.QueryRequest(max(1, len(found)), query=query, filter=every, with_payload=at == 0)
        for at, query in enumerate(asked)
    ]
    results = iter(shard.query_batch(engine.QueryBatchRequest(scoring)))
    return candidates(
        [rows(next(results)) for _ in dense],
        [rows(next(results)) if query is not None else [] for query in lexical],
    )
