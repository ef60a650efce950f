"""What a Qdrant server calls points and filters."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from qdrant_client import models

from kb.index.fields import AUDIENCE, DENSE, LEXICAL, NAMES, PAGE_ID, POSITION, REPLACED_NAMES, SERIES, SOURCE
from kb.index.payload import from_payload, point_id, to_payload
from kb.index.port import IndexedChunk, PagesWanted, SparseVector, StoredPassage
from kb.index.server.page_versions import WRITTEN, is_version
from kb.models import Audience


def point_of(page_id: str, indexed: IndexedChunk, version: int) -> models.PointStruct:
    """Its id goes with the version: two versions of a page stand side by side."""
    if indexed.chunk.page.id != page_id:
        raise ValueError(f"a chunk of page {indexed.chunk.page.id!r} cannot replace page {page_id!r}")
    return models.PointStruct(
        id=point_id(f"{indexed.chunk.id}\0{version}"),
        vector={
            DENSE: [float(value) for value in indexed.dense],
            LEXICAL: sparse(indexed.lexical),
        },
        payload=to_payload(indexed.chunk) | {WRITTEN: version},
    )


def is_readable(audience: Audience) -> list[models.FieldCondition]:
    """All of them."""
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


def stored(record: models.Record) -> StoredPassage:
    vectors: Any = record.vector
    return StoredPassage(chunk=from_payload(record.payload), dense=list(vectors[DENSE]))


def indexed(record: models.Record) -> IndexedChunk:
    """As it was written, but for what the engine does to vectors: it scales dense ones to 1."""
    vectors: Any = record.vector
    terms = vectors.get(LEXICAL)
    return IndexedChunk(
        chunk=from_payload(record.payload),
        dense=list(vectors[DENSE]),
        lexical=SparseVector(
            indices=tuple(terms.indices) if terms else (), values=tuple(terms.values) if terms else ()
        ),
    )


def versions(points: Iterable[models.Record | models.ScoredPoint]) -> frozenset[int]:
    """0 for points of an earlier Footnote."""
    return frozenset(int((one.payload or {}).get(WRITTEN, 0)) for one in points)


def is_version_of(page_ids: Sequence[str], *, other_than: int) -> models.Filter:
    return models.Filter(must=[is_page(page_ids)], must_not=[is_version([other_than])])


def is_wanted(wanted: PagesWanted) -> list[models.FieldCondition]:
    """Any of them."""
    fields = ((NAMES, wanted.named), (REPLACED_NAMES, wanted.replacing), (SERIES, wanted.series))
    return [
        models.FieldCondition(key=field, match=models.MatchAny(any=list(names)))
        for field, names in fields
        if names
    ]


def are_spots(spots: Mapping[str, Collection[int]]) -> list[models.Filter]:
    """Any of them. Pages of which the same positions are asked share a condition: strict mode counts them."""
    pages: dict[tuple[int, ...], list[str]] = {}
    for page_id, positions in spots.items():
        if positions:
            pages.setdefault(tuple(sorted(set(positions))), []).append(page_id)
    return [
        models.Filter(
            must=[is_page(of), models.FieldCondition(key=POSITION, match=models.MatchAny(any=list(at)))]
        )
        for at, of in pages.items()
    ]
