"""A search as a Qdrant server takes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from qdrant_client import models

from kb.index.fields import DENSE, LEXICAL
from kb.index.payload import FoundPoints
from kb.index.port import QueryVectors
from kb.index.server.points import is_page, is_readable, scores, sparse
from kb.models import Audience

MOST = 1000
"""Points, results or values of one request: what strict mode takes on Qdrant Cloud (`max_query_limit`)."""

Hidden = Sequence[Any]
"""Conditions of points that do not count: see `kb.index.server.page_versions`."""


def query_requests(
    queries: Sequence[QueryVectors],
    audience: Audience,
    limit: int,
    anchor_pages: Sequence[str],
    hidden: Hidden,
) -> list[models.QueryRequest]:
    """Returns one request a query vector: all of them score what any leg finds. Where there are anchors, one more finds
    their points.

    None of them brings passages: some 300 of them would be sent and read, and 40 are wanted.
    """
    readable = is_readable(audience)
    scopes = [models.Filter(must=[*readable], must_not=[*hidden])]
    if anchor_pages:
        scopes.append(models.Filter(must=[*readable, is_page(anchor_pages)], must_not=[*hidden]))
    wordings: list[tuple[str, Any]] = [(DENSE, list(query.dense)) for query in queries]
    terms: list[tuple[str, Any]] = [
        (LEXICAL, sparse(query.lexical)) for query in queries if query.lexical.indices
    ]
    legs = [
        models.Prefetch(query=vector, using=using, filter=scope, limit=limit)
        for using, vector in (*wordings, *terms)
        for scope in scopes
    ]
    most = min(limit * len(legs), MOST)
    requests = [
        models.QueryRequest(prefetch=legs, query=vector, using=using, filter=scopes[0], limit=most)
        for using, vector in (*wordings, *terms)
    ]
    if anchor_pages:  # whatever any leg finds of these pages, one of the pages' own legs finds too
        using, vector = wordings[0]
        requests.append(
            models.QueryRequest(prefetch=legs[1::2], query=vector, using=using, filter=scopes[1], limit=most)
        )
    return requests


def found_by(queries: Sequence[QueryVectors], responses: Sequence[models.QueryResponse]) -> FoundPoints:
    """Combines the responses to `query_requests`."""
    results = iter([scores(response.points) for response in responses])
    dense = [next(results) for _ in queries]
    lexical = [next(results) if query.lexical.indices else {} for query in queries]
    return FoundPoints.of(dense, lexical, next(results, {}))


def are_found(found: FoundPoints, rows: Sequence[int], audience: Audience, hidden: Hidden) -> models.Filter:
    """Selects the points of these rows that the audience may read."""
    ids = models.HasIdCondition(has_id=[found.points[row] for row in rows])
    return models.Filter(must=[ids, *is_readable(audience)], must_not=[*hidden])
