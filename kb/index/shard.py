"""One generation of the embedded index: a Qdrant Edge shard in a folder, beside the manifest it was built with.

Everything blocks; `edge.py` keeps it off the event loop. Threads may share a shard: a reader sees a page before or
after its replacement, never half of it.

`EdgeShard.optimize` is never called: it holds the GIL for seconds (10.6 s at 20,000 points) and plain scans stay
under 3 ms to 50,000 passages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import qdrant_edge as engine

from kb.calibration import Calibration
from kb.errors import IndexMismatchError, IndexUnavailableError
from kb.index.edge_filters import is_page, is_readable, is_spot, is_wanted
from kb.index.edge_search import search
from kb.index.edge_vectors import check_dimension, config, dense_of, indexed_of, point_of
from kb.index.fields import DENSE, KEYWORD_FIELDS, LANGUAGE, PAGE_ID, PAGE_URL, REVISION, TITLE
from kb.index.payload import (
    INVENTORY_FIELDS,
    PAGE_FIELDS,
    addresses_of,
    from_payload,
    inventory_of,
    pages_of,
    point_id,
    revisions_of,
)
from kb.index.port import (
    Candidate,
    IndexCounts,
    IndexedChunk,
    IndexManifest,
    PageAddress,
    PageHeld,
    PagesWanted,
    QueryVectors,
    StoredPassage,
)
from kb.index.rwlock import ReadWriteLock
from kb.index.shard_files import (
    ROOM_TO_BEGIN,
    ROOM_TO_DELETE,
    ROOM_TO_OPEN,
    ROOM_TO_WRITE,
    engine_failures,
    points_folder,
    read_calibration,
    read_manifest,
    require_room,
    write_calibration,
    write_manifest,
)
from kb.index.soundness import begin_writing, check, leave
from kb.models import Audience, Chunk, Page

SCROLL_PAGE = 2000
"""Points a read lock is held for while all are listed; about 5 ms."""
DROPPED_TOGETHER = 256
ALL = 10_000_000
"""More facet values than any knowledge base has pages."""


class Shard:
    """Every method raises `IndexUnavailableError` when the engine fails."""

    def __init__(
        self,
        shard: engine.EdgeShard,
        manifest: IndexManifest,
        folder: Path,
        *,
        calibration: Calibration | None = None,
    ) -> None:
        self._shard = shard
        self._folder = folder
        self._lock = ReadWriteLock()
        self._writes = 0
        self._is_left = False
        """Whether its record is of how the points are."""
        self._revisions: tuple[int, Mapping[str, str]] | None = None
        """As they were after so many writes: a sync that changes nothing asks for them, and no more."""
        self.manifest = manifest
        self.calibration = calibration

    @classmethod
    def create(cls, folder: Path, manifest: IndexManifest) -> Self:
        """Makes an empty shard in `folder`, which exists and is empty."""
        require_room(folder, ROOM_TO_BEGIN)
        with engine_failures(folder):
            shard = engine.EdgeShard.create(str(points_folder(folder)), config(manifest.dimension))
            for field in KEYWORD_FIELDS:
                shard.update(
                    engine.UpdateOperation.create_field_index(field, engine.PayloadSchemaType.Keyword)
                )
        write_manifest(folder, manifest)
        return cls(shard, manifest, folder)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """
        Raises:
            IndexDamagedError: files are cut or gone.
        """
        manifest = read_manifest(folder)
        require_room(folder, ROOM_TO_OPEN)
        check(folder)
        with engine_failures(folder):
            shard = engine.EdgeShard.load(str(points_folder(folder)))
        return cls(shard, manifest, folder, calibration=read_calibration(folder))

    def replace_page(self, page_id: str, chunks: Sequence[IndexedChunk]) -> None:
        """In one go; see `kb.index.steps` for a page of hundreds of chunks."""
        points = [point_of(page_id, chunk, self.manifest) for chunk in chunks]
        keep: list[engine.PointId] = [point.id for point in points]
        stale = engine.Filter(
            must=[is_page([page_id])], must_not=[engine.HasIdCondition(set(keep))] if keep else None
        )
        with self._writing():
            if points:
                self._shard.update(engine.UpdateOperation.upsert_points(points))
            self._shard.update(engine.UpdateOperation.delete_points_by_filter(stale))

    def add(self, page_id: str, chunks: Sequence[IndexedChunk]) -> None:
        """Beside what there is of the page; a chunk that is there already is written anew."""
        points = [point_of(page_id, chunk, self.manifest) for chunk in chunks]
        with self._writing():
            self._shard.update(engine.UpdateOperation.upsert_points(points))

    def drop_others(self, page_id: str, chunk_ids: frozenset[str]) -> None:
        """All chunks of the page but these. Named one by one: a filter of thousands takes the engine a quarter of a second."""
        kept = {point_id(one) for one in chunk_ids}
        of_page = engine.Filter(must=[is_page([page_id])])
        gone = [record.id for record in self._records([], of_page) if record.id not in kept]
        for first in range(0, len(gone), DROPPED_TOGETHER):
            with self._writing():
                self._shard.update(
                    engine.UpdateOperation.delete_points(gone[first : first + DROPPED_TOGETHER])
                )

    def delete_pages(self, page_ids: Sequence[str]) -> None:
        if not page_ids:
            return
        gone = engine.Filter(must=[is_page(page_ids)])
        with self._writing(room=ROOM_TO_DELETE):
            self._shard.update(engine.UpdateOperation.delete_points_by_filter(gone))

    def calibrate(self, calibration: Calibration) -> None:
        try:
            write_calibration(self._folder, calibration)
        except OSError as error:
            raise IndexUnavailableError(f"{self._folder} cannot be written: {error}") from error
        self.calibration = calibration

    def sample(self, limit: int) -> list[StoredPassage]:
        """The engine lists by point id, which is a hash of the passage's id: the first ones are from all over."""
        request = engine.ScrollRequest(limit=limit, with_payload=True, with_vector=[DENSE])
        with self._lock.read(), engine_failures(self._folder):
            records, _ = self._shard.scroll(request)
        return [
            StoredPassage(chunk=from_payload(record.payload), dense=dense_of(record)) for record in records
        ]

    def revisions(self) -> Mapping[str, str]:
        writes, known = self._writes, self._revisions
        if known is None or known[0] != writes:
            known = writes, revisions_of(record.payload for record in self._records([PAGE_ID, REVISION]))
            self._revisions = known  # of a count that is over by now, where somebody wrote meanwhile
        return dict(known[1])

    def inventory(self) -> Mapping[str, PageHeld]:
        return inventory_of(record.payload for record in self._records(INVENTORY_FIELDS))

    def stored(self, page_ids: Sequence[str]) -> list[IndexedChunk]:
        wanted = engine.Filter(must=[is_page(page_ids)])
        return [indexed_of(record) for record in self._records(True, wanted, vectors=True)]

    def addresses(self) -> list[PageAddress]:
        return addresses_of(record.payload for record in self._records([PAGE_ID, PAGE_URL, TITLE]))

    def every_page(self) -> list[Page]:
        return pages_of(record.payload for record in self._records(PAGE_FIELDS))

    def counts(self) -> IndexCounts:
        with self._lock.read(), engine_failures(self._folder):
            chunks = self._shard.count(engine.CountRequest(exact=True))
            pages = self._values(PAGE_ID)
        return IndexCounts(pages=len(pages), chunks=chunks)

    def pages(self, wanted: PagesWanted, audience: Audience) -> list[Page]:
        scope = engine.Filter(must=[*is_readable(audience)], should=[*is_wanted(wanted)])
        request = engine.ScrollRequest(limit=SCROLL_PAGE, filter=scope, with_payload=True)
        with self._lock.read(), engine_failures(self._folder):
            records, _ = self._shard.scroll(request)
        return [from_payload(record.payload).page for record in records]

    def languages(self) -> list[str]:
        with self._lock.read(), engine_failures(self._folder):
            counts = self._values(LANGUAGE)
        return sorted(counts, key=lambda language: (-counts[language], language))

    def readable(self, page_ids: Collection[str], audience: Audience) -> frozenset[str]:
        if not page_ids:
            return frozenset()
        asked = engine.Filter(must=[*is_readable(audience), is_page(list(page_ids))])
        with self._lock.read(), engine_failures(self._folder):
            return frozenset(self._values(PAGE_ID, asked))

    def neighbours(self, spots: Mapping[str, Collection[int]], audience: Audience) -> list[Chunk]:
        wanted = [is_spot(page_id, positions) for page_id, positions in spots.items() if positions]
        if not wanted:
            return []
        limit = sum(map(len, spots.values()))  # a page has one passage at a position
        asked = engine.Filter(must=[*is_readable(audience)], should=[*wanted])
        request = engine.ScrollRequest(limit=limit, filter=asked, with_payload=True)
        with self._lock.read(), engine_failures(self._folder):
            records, _ = self._shard.scroll(request)
        return [from_payload(record.payload) for record in records]

    def batch(
        self, audience: Audience, of_pages: Sequence[str] | None, offset: engine.PointId | None
    ) -> tuple[list[Chunk], engine.PointId | None]:
        """Passages from `offset` on, and where the next batch begins: None after the last."""
        chosen = [is_page(of_pages)] if of_pages else []
        asked = engine.Filter(must=[*is_readable(audience), *chosen])
        request = engine.ScrollRequest(offset=offset, limit=SCROLL_PAGE, filter=asked, with_payload=True)
        with self._lock.read(), engine_failures(self._folder):
            records, following = self._shard.scroll(request)
        return [from_payload(record.payload) for record in records], following

    def search(
        self,
        queries: Sequence[QueryVectors],
        *,
        audience: Audience,
        limit: int,
        anchor_pages: Sequence[str],
        made_with: str | None = None,
    ) -> list[Candidate]:
        if made_with not in (None, self.manifest.embedder):
            raise IndexMismatchError(
                f"the index was made with {self.manifest.embedder}, not with {made_with}"
            )
        for query in queries:
            check_dimension(query.dense, self.manifest)
        with self._lock.read(), engine_failures(self._folder):
            return search(self._shard, queries, audience=audience, limit=limit, anchor_pages=anchor_pages)

    def leave(self) -> None:
        """Makes what was written survive a power cut, and records how many points there are (`kb.index.soundness`)."""
        with self._lock.write():
            if not self._is_left:
                leave(self._folder, points=self._flushed())
                self._is_left = True

    def close(self, *, keep: bool = True) -> None:
        """Waits for the readers and writers under way. `keep`: it will be opened again."""
        with self._lock.write():
            points = self._flushed() if keep else None
            with engine_failures(self._folder):
                self._shard.close()
            if points is not None:
                leave(self._folder, points=points)

    def _flushed(self) -> int:
        """How many points there are, all of them on the disk."""
        with engine_failures(self._folder):
            self._shard.flush()
            return self._shard.count(engine.CountRequest(exact=True))

    @contextmanager
    def _writing(self, *, room: int = ROOM_TO_WRITE) -> Iterator[None]:
        with self._lock.write():
            require_room(self._folder, room)
            if self._is_left or not self._writes:
                begin_writing(self._folder)
            self._is_left = False
            self._writes += 1
            with engine_failures(self._folder):
                yield

    def _values(self, field: str, scope: engine.Filter | None = None) -> dict[str, int]:
        """How many points each value has. The engine goes on listing a value whose points are deleted, with 0."""
        hits = self._shard.facet(engine.FacetRequest(field, limit=ALL, exact=True, filter=scope)).hits
        return {str(hit.value): hit.count for hit in hits if hit.count}

    def _records(
        self, fields: list[str] | bool, scope: engine.Filter | None = None, *, vectors: bool = False
    ) -> Iterator[engine.Record]:
        offset: engine.PointId | None = None
        while True:
            request = engine.ScrollRequest(
                offset=offset, limit=SCROLL_PAGE, filter=scope, with_payload=fields, with_vector=vectors
            )
            with self._lock.read(), engine_failures(self._folder):
                records, offset = self._shard.scroll(request)
            yield from records
            if offset is None:
                return
