"""What a Qdrant server calls points and filters."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from qdrant_client import models

from kb.index.fields import AUDIENCE, DENSE, LEXICAL, NAMES, PAGE_ID, POSITION, REPLACED_NAMES, SERIES, SOURCE
from kb.index.payload import point_id, require_page, to_payload
from kb.index.port import IndexedChunk, PagesWanted, SparseVector
from kb.index.server.page_versions import WRITTEN, is_version
from kb.models import Audience


def point_of(page_id: str, indexed: IndexedChunk, version: int) -> models.PointStruct:
    """Returns a chunk as a point, whose id depends on the version: two versions of a page exist side by side."""
    require_page(page_id, indexed)
    return models.PointStruct(
        id=point_id(f"{indexed.chunk.id}\0{version}"),
        vector={
            DENSE: [float(value) for value in indexed.dense],
            LEXICAL: sparse(indexed.lexical),
        },
        payload=to_payload(indexed.chunk) | {WRITTEN: version},
    )


def is_readable(audience: Audience) -> list[models.FieldCondition]:
    """Returns conditions of which all must hold."""
    readable = [models.FieldCondition(key=AUDIENCE, match=models.MatchAny(any=audience.principals))]
    if audience.sources:
        of_source = models.MatchAny(any=sorted(audience.sources))
        readable.append(models.FieldCondition(key=SOURCE, match=of_source))
    return readable


def is_page(page_ids: Sequence[str]) -> models.FieldCondition:
    return models.FieldCondition(key=PAGE_ID, match=models.MatchAny(any=list(page_ids)))


def sparse(vector: SparseVector) -> models.SparseVector:
    return models.SparseVector(indices=list(vector.indices), values=list(vector.values))


def scores(points: Sequence[models.ScoredPoint]) -> dict[models.ExtendedPointId, float]:
    """Scores by id."""
    return {point.id: point.score for point in points}


def versions(points: Iterable[models.Record | models.ScoredPoint]) -> frozenset[int]:
    """Returns the versions of these points; 0 for those of an earlier Footnote."""
    return frozenset(int((point.payload or {}).get(WRITTEN, 0)) for point in points)


def is_version_of(page_ids: Sequence[str], *, other_than: int) -> models.Filter:
    return models.Filter(must=[is_page(page_ids)], must_not=[is_version([other_than])])


def is_wanted(wanted: PagesWanted) -> list[models.FieldCondition]:
    """Returns conditions of which any may hold."""
    fields = ((NAMES, wanted.named), (REPLACED_NAMES, wanted.replacing), (SERIES, wanted.series))
    return [
        models.FieldCondition(key=field, match=models.MatchAny(any=list(names)))
        for field, names in fields
        if names
    ]


def are_spots(spots: Mapping[str, Collection[int]]) -> list[models.Filter]:
    """Returns conditions of which any may hold.

    Pages of which the same positions are asked share a condition: strict mode counts them.
    """
    pages: dict[tuple[int, ...], list[str]] = {}
    for page_id, wanted in spots.items():
        if wanted:
            pages.setdefault(tuple(sorted(set(wanted))), []).append(page_id)
    return [
        models.Filter(
            must=[
                is_page(page_ids),
                models.FieldCondition(key=POSITION, match=models.MatchAny(any=list(positions))),
            ]
        )
        for positions, page_ids in pages.items()
    ]
