"""What a Qdrant server calls points and filters, and which of a page's points are its newest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from qdrant_client import models

from kb.index.payload import (
    AUDIENCE,
    DENSE,
    LEXICAL,
    PAGE_ID,
    POSITION,
    SOURCE,
    Scored,
    from_payload,
    point_id,
    to_payload,
)
from kb.index.port import IndexedChunk, SparseVector, StoredPassage
from kb.models import Audience

WRITTEN = "written"
"""When a page was put in (nanoseconds since 1970), the same on all its points: which of two versions is the newer."""


class _Stored(Protocol):
    """A point as any of the engine's answers has it."""

    @property
    def payload(self) -> Mapping[str, Any] | None: ...


_Found = TypeVar("_Found", bound=_Stored)


def point_of(page_id: str, indexed: IndexedChunk, written: int) -> models.PointStruct:
    if indexed.chunk.page.id != page_id:
        raise ValueError(f"a chunk of page {indexed.chunk.page.id!r} cannot replace page {page_id!r}")
    return models.PointStruct(
        id=point_id(indexed.chunk.id),
        vector={
            DENSE: [float(value) for value in indexed.dense],
            LEXICAL: sparse(indexed.lexical),
        },
        payload=to_payload(indexed.chunk) | {WRITTEN: written},
    )


def delete(matching: models.Filter) -> models.DeleteOperation:
    return models.DeleteOperation(delete=models.FilterSelector(filter=matching))


def is_readable(audience: Audience) -> list[models.FieldCondition]:
    """All of them."""
    readable = [models.FieldCondition(key=AUDIENCE, match=models.MatchAny(any=audience.marks))]
    if audience.sources:
        of_source = models.MatchAny(any=sorted(audience.sources))
        readable.append(models.FieldCondition(key=SOURCE, match=of_source))
    return readable


def is_page(page_ids: Sequence[str]) -> models.FieldCondition:
    return models.FieldCondition(key=PAGE_ID, match=models.MatchAny(any=list(page_ids)))


def sparse(vector: SparseVector) -> models.SparseVector:
    return models.SparseVector(indices=list(vector.indices), values=list(vector.values))


def rows(points: Sequence[models.ScoredPoint]) -> list[Scored]:
    return [Scored(point=point.id, score=point.score, payload=point.payload) for point in points]


def stored(record: models.Record) -> StoredPassage:
    vectors: Any = record.vector
    return StoredPassage(chunk=from_payload(record.payload), dense=list(vectors[DENSE]))


def newest(found: Sequence[_Found]) -> list[_Found]:
    """Without passages of a page that is being replaced, where newer ones of it were found."""
    latest: dict[str, int] = {}
    for one in found:
        page, written = _version(one)
        latest[page] = max(latest.get(page, 0), written)
    return [one for one in found if latest[_version(one)[0]] == _version(one)[1]]


def _version(one: _Stored) -> tuple[str, int]:
    fields = one.payload or {}
    return str(fields.get(PAGE_ID)), int(fields.get(WRITTEN, 0))


def is_spot(page_id: str, positions: Iterable[int]) -> models.Filter:
    at = models.FieldCondition(key=POSITION, match=models.MatchAny(any=sorted(positions)))
    return models.Filter(must=[is_page([page_id]), at])
