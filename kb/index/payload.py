"""What a chunk looks like inside an engine, shared by both engines. Its fields' names: `kb.index.fields`."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from kb.calibration import Calibration, from_text, to_text
from kb.errors import IndexMismatchError
from kb.index.fields import CHUNK_ID, DENSE, LEXICAL, PAGE_ID, PAGE_URL, REVISION, TITLE
from kb.index.port import (
    Candidate,
    Choose,
    FoundScores,
    IndexedChunk,
    IndexManifest,
    PageAddress,
    PageHeld,
    SparseVector,
    StoredPassage,
)
from kb.index.word_counts import PassageWords
from kb.models import Chunk, Page, PageDates
from kb.pages.versions import as_name, names_of, series_of

CALIBRATION = "calibration"
"""The key of a collection's metadata beside the manifest's; a text, for the server merges what has parts."""

_MANIFEST: TypeAdapter[IndexManifest] = TypeAdapter(IndexManifest)


class StoredChunk(BaseModel):
    """The payload of one point: a chunk and its page, flat, so that filters need no paths."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    chunk_id: str
    position: int
    text: str
    section: tuple[str, ...] = ()
    chunk_url: str
    page_id: str
    source: str
    path: str
    title: str
    place: str = ""
    page_url: str
    language: str
    revision: str
    owner: str | None = None
    audience: tuple[str, ...]
    edited: date | None = None
    reviewed: date | None = None
    review_due: date | None = None
    expires: date | None = None
    superseded_by: str | None = None
    retired: str | None = None
    replaces: tuple[str, ...] = ()
    version: str | None = None
    names: tuple[str, ...] | None = None
    replaced_names: tuple[str, ...] | None = None
    series: str | None = None

    @classmethod
    def of(cls, chunk: Chunk) -> Self:
        page = chunk.page
        first = chunk.position == 0
        return cls(
            chunk_id=chunk.id,
            position=chunk.position,
            text=chunk.text,
            section=chunk.section,
            chunk_url=chunk.url,
            page_id=page.id,
            source=page.source,
            path=page.path,
            title=page.title,
            place=page.place,
            page_url=page.url,
            language=page.language,
            revision=page.revision,
            owner=page.owner,
            audience=page.audience,
            edited=page.dates.edited,
            reviewed=page.dates.reviewed,
            review_due=page.dates.review_due,
            expires=page.dates.expires,
            superseded_by=page.superseded_by,
            retired=page.retired,
            replaces=page.replaces,
            version=page.version,
            names=names_of(page) if first else None,
            replaced_names=tuple(map(as_name, page.replaces)) if first and page.replaces else None,
            series=series_of(page) if first else None,
        )

    def chunk(self) -> Chunk:
        return Chunk(
            id=self.chunk_id,
            page=self.page(),
            position=self.position,
            text=self.text,
            section=self.section,
            url=self.chunk_url,
        )

    def page(self) -> Page:
        return Page(
            id=self.page_id,
            source=self.source,
            path=self.path,
            title=self.title,
            place=self.place,
            url=self.page_url,
            language=self.language,
            revision=self.revision,
            owner=self.owner,
            audience=self.audience,
            dates=PageDates(
                edited=self.edited,
                reviewed=self.reviewed,
                review_due=self.review_due,
                expires=self.expires,
            ),
            superseded_by=self.superseded_by,
            retired=self.retired,
            replaces=self.replaces,
            version=self.version,
        )


def to_payload(chunk: Chunk) -> dict[str, Any]:
    """Returns a chunk as JSON-compatible fields, without defaults: the engine takes 4 µs to read each field."""
    return StoredChunk.of(chunk).model_dump(mode="json", exclude_defaults=True)


def from_payload(payload: Mapping[str, Any] | None) -> Chunk:
    """
    Raises:
        IndexMismatchError: the payload was written by another version of Footnote.
    """
    try:
        return StoredChunk.model_validate(payload).chunk()
    except ValidationError as error:
        fields = sorted({".".join(map(str, problem["loc"])) for problem in error.errors(include_input=False)})
        raise IndexMismatchError(f"the index holds passages without {fields}: reindex in full") from error


def indexed_from(payload: Mapping[str, Any] | None, vectors: Any) -> IndexedChunk:
    """Returns a chunk as it was written, except that the engines scale dense vectors to length 1."""
    terms = vectors.get(LEXICAL)
    return IndexedChunk(
        chunk=from_payload(payload),
        dense=list(vectors[DENSE]),
        lexical=SparseVector(
            indices=tuple(terms.indices) if terms else (), values=tuple(terms.values) if terms else ()
        ),
    )


def stored_from(payload: Mapping[str, Any] | None, vectors: Any) -> StoredPassage:
    return StoredPassage(chunk=from_payload(payload), dense=list(vectors[DENSE]))


def words_from(payload: Mapping[str, Any] | None, vectors: Any) -> PassageWords | None:
    """Returns what a passage adds to the word counts; None where not everyone may read it.

    Raises:
        IndexMismatchError: the payload was written by another version of Footnote.
    """
    terms = vectors[LEXICAL].indices if vectors and LEXICAL in vectors else ()
    return PassageWords.of(from_payload(payload), terms)


def require_page(page_id: str, indexed: IndexedChunk) -> None:
    if indexed.chunk.page.id != page_id:
        raise ValueError(f"a chunk of page {indexed.chunk.page.id!r} cannot replace page {page_id!r}")


def point_id(chunk_id: str) -> int:
    """Hashes a chunk id, which is any text, since engines take numbers or UUIDs alone.

    A number, since a search reads about a thousand ids and a UUID object each costs more than the engine's own work. 63
    bits: among a million passages two share one with a chance of 5 in 100 million.
    """
    return int.from_bytes(hashlib.blake2b(chunk_id.encode(), digest_size=8).digest()) >> 1


def manifest_to_fields(manifest: IndexManifest) -> dict[str, Any]:
    fields: dict[str, Any] = _MANIFEST.dump_python(manifest, mode="json")
    return fields


def manifest_from_fields(fields: Mapping[str, Any] | None) -> IndexManifest:
    """
    Raises:
        IndexMismatchError: this is not a manifest.
    """
    try:
        return _MANIFEST.validate_python(fields)
    except ValidationError as error:
        raise IndexMismatchError("the index does not say what it was built with: reindex in full") from error


def calibration_to_fields(calibration: Calibration) -> dict[str, Any]:
    return {CALIBRATION: to_text(calibration)}


def calibration_from_fields(fields: Mapping[str, Any] | None) -> Calibration | None:
    """Returns the calibration; None if it is missing or unreadable, in which case it is measured anew."""
    text = (fields or {}).get(CALIBRATION)
    return from_text(text) if isinstance(text, str) else None


ScoreOf: TypeAlias = Mapping[Any, float]
"""Score by the id of a point: one result list of a search, whichever engine it came from."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundPoints:
    """What a search found: the ids of points, and their scores in the same order."""

    points: Sequence[Any]
    scores: FoundScores

    @classmethod
    def of(cls, dense: Sequence[ScoreOf], lexical: Sequence[ScoreOf], anchored: Collection[Any]) -> Self:
        """Joins the result lists, one a query and kind. The first dense list holds every point.

        A point that a lexical list lacks shares no term with that query: its BM25 is 0.
        """
        points = list(dense[0])
        return cls(
            points=points,
            scores=FoundScores(
                dense=_columns(dense, points),
                lexical=_columns(lexical, points),
                anchored=np.array([point in anchored for point in points], dtype=np.bool_),
            ),
        )

    def rows(self, choose: Choose | None) -> Sequence[int]:
        """Returns the rows to read: those that `choose` wants, or all of them without it."""
        return choose(self.scores) if choose is not None and self.points else range(len(self.points))

    def candidates(self, rows: Sequence[int], payloads: Mapping[Any, Mapping[str, Any]]) -> list[Candidate]:
        """Returns the candidates at these rows; `payloads` has no entry for a point that was deleted meanwhile.

        Raises:
            IndexMismatchError: they were written by another version of Footnote.
        """
        return [
            Candidate(
                chunk=from_payload(payload),
                dense=tuple(self.scores.dense[row].tolist()),
                lexical=tuple(self.scores.lexical[row].tolist()),
                row=row,
            )
            for row in rows
            if (payload := payloads.get(self.points[row])) is not None
        ]


def _columns(scores: Sequence[ScoreOf], points: Sequence[Any]) -> NDArray[np.float64]:
    columns = [[of_query.get(point, 0.0) for point in points] for of_query in scores]
    by_query = np.array(columns, dtype=np.float64).reshape(len(scores), len(points))
    return np.ascontiguousarray(
        by_query.T
    )  # sums come out the same to the last bit whichever engine gave them


def revisions_of(payloads: Iterable[Mapping[str, Any] | None]) -> dict[str, str]:
    """Maps page ids to revisions; "" for a page that was half written, with chunks of two revisions."""
    found: dict[str, str] = {}
    for payload in payloads:
        fields = payload or {}
        page, revision = str(fields[PAGE_ID]), str(fields.get(REVISION, ""))
        found[page] = revision if found.get(page, revision) == revision else ""
    return found


def inventory_of(payloads: Iterable[Mapping[str, Any] | None]) -> dict[str, PageHeld]:
    """Builds an inventory by page id, from `INVENTORY_FIELDS`."""
    found: dict[str, tuple[str, int, int]] = {}
    for payload in payloads:
        fields = payload or {}
        page, revision = str(fields[PAGE_ID]), str(fields.get(REVISION, ""))
        before, passages, ids = found.get(page, (revision, 0, 0))
        found[page] = (revision if before == revision else "", passages + 1, ids + point_id(fields[CHUNK_ID]))
    return {
        page: PageHeld(revision=revision, passages=passages, ids=ids)
        for page, (revision, passages, ids) in found.items()
    }


INVENTORY_FIELDS = [PAGE_ID, REVISION, CHUNK_ID]

PAGE_FIELDS = sorted(set(StoredChunk.model_fields) - {"text", "section", "names", "replaced_names", "series"})
"""What a page's own facts are read from, without the texts of its passages."""


def pages_of(payloads: Iterable[Mapping[str, Any] | None]) -> list[Page]:
    """Returns each page once, in no particular order.

    Raises:
        IndexMismatchError: they were written by another version of Footnote.
    """
    first = {str((fields or {}).get(PAGE_ID)): fields for fields in payloads}
    return [from_payload({**(fields or {}), "text": ""}).page for fields in first.values()]


def addresses_of(payloads: Iterable[Mapping[str, Any] | None]) -> list[PageAddress]:
    """Returns each page's address once, in no particular order."""
    found: dict[str, PageAddress] = {}
    for payload in payloads:
        fields = payload or {}
        page = str(fields[PAGE_ID])
        found[page] = PageAddress(
            page_id=page, url=str(fields.get(PAGE_URL, "")), title=str(fields.get(TITLE, ""))
        )
    return list(found.values())
