"""A search as a Qdrant server takes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from qdrant_client import models

from kb.index.fields import DENSE, LEXICAL
from kb.index.port import QueryVectors
from kb.index.server_points import is_page, is_readable, sparse
from kb.models import Audience

MOST = 1000
"""Points, results or values of one request: what strict mode takes on Qdrant Cloud (`max_query_limit`)."""

Hidden = Sequence[Any]
"""Conditions of points that do not count: see `kb.index.server_flux`."""


def query_requests(
    queries: Sequence[QueryVectors],
    audience: Audience,
    limit: int,
    anchor_pages: Sequence[str],
    hidden: Hidden,
) -> list[models.QueryRequest]:
    """One request a query vector: all of them score what any leg finds. The first brings the passages themselves."""
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
    return [
        models.QueryRequest(
            prefetch=legs,
            query=vector,
            using=using,
            filter=scopes[0],
            limit=min(limit * len(legs), MOST),
            with_payload=at == 0,
        )
        for at, (using, vector) in enumerate((*wordings, *terms))
    ]
