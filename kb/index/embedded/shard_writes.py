"""Writes into one generation of the embedded index, and its end: points on the disk, words counted."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import qdrant_edge as engine

from kb.errors import IndexMismatchError
from kb.index.embedded import shard_words
from kb.index.embedded.filters import is_page, is_readable
from kb.index.embedded.rwlock import ReadWriteLock
from kb.index.embedded.shard_files import ROOM_TO_DELETE, ROOM_TO_WRITE, engine_failures, require_room
from kb.index.embedded.shard_words import PointWords, ShardWords
from kb.index.embedded.soundness import begin_writing, leave
from kb.index.embedded.vectors import point_of
from kb.index.fields import LEXICAL
from kb.index.payload import point_id
from kb.index.port import IndexedChunk, IndexManifest
from kb.index.word_counts import PUBLIC

SCROLL_PAGE = 2000
"""Points a read lock is held for while all are listed; about 5 ms."""
DROPPED_TOGETHER = 256
DELETED_TOGETHER = 64
"""Pages: some 20 ms, in which their words are read too."""
COUNTED_TOGETHER = 256
"""Passages whose words are counted anew in one step: some 20 ms."""


class ShardWrites:
    def __init__(
        self,
        shard: engine.EdgeShard,
        manifest: IndexManifest,
        folder: Path,
        words: ShardWords,
        *,
        is_new: bool,
    ) -> None:
        """Takes a shard; `is_new`: it has no points yet."""
        self._shard = shard
        self._folder = folder
        self._lock = ReadWriteLock()
        self._writes = 0
        self._is_left = False
        """Whether its record is of how the points are."""
        self._leaving = threading.Lock()
        self._counting = threading.Lock()
        self._written: set[str] | None = set() if is_new else None
        """The pages that there may be; None: nobody knows. Two requests a
        page are spared while an index is first filled.
        """
        self.manifest = manifest
        self.words = words

    def replace_pages(self, pages: Mapping[str, Sequence[IndexedChunk]]) -> None:
        """Replaces pages in one step; `kb.index.embedded.steps` says how many, and how a page of hundreds of chunks."""
        points = [
            point_of(page_id, chunk, self.manifest) for page_id, chunks in pages.items() for chunk in chunks
        ]
        ids: list[engine.PointId] = [point.id for point in points]
        came = shard_words.of_chunks(ids, [chunk for chunks in pages.values() for chunk in chunks])
        with self._writing():
            held = [page_id for page_id in pages if self._may_hold(page_id)]
            of_pages = is_page(held)
            gone = self._words_of(engine.Filter(must=[of_pages])) if held else []
            if points:
                self._shard.update(engine.UpdateOperation.upsert_points(points))
            if held:
                stale = engine.Filter(
                    must=[of_pages], must_not=[engine.HasIdCondition(set(ids))] if ids else None
                )
                self._shard.update(engine.UpdateOperation.delete_points_by_filter(stale))
            self.words.change(gone=gone, came=came)

    def add(self, page_id: str, chunks: Sequence[IndexedChunk]) -> None:
        """Adds chunks to those of the page; a chunk that is there already is written anew."""
        points = [point_of(page_id, chunk, self.manifest) for chunk in chunks]
        ids: list[engine.PointId] = [point.id for point in points]
        came = shard_words.of_chunks(ids, chunks)
        with self._writing():
            self._may_hold(page_id)
            gone = self._words_at(ids)
            self._shard.update(engine.UpdateOperation.upsert_points(points))
            self.words.change(gone=gone, came=came)

    def drop_others(self, page_id: str, chunk_ids: frozenset[str]) -> None:
        """Deletes all chunks of the page but these, named one by one: a filter of thousands takes the engine a quarter
        of a second.
        """
        kept = {point_id(chunk_id) for chunk_id in chunk_ids}
        of_page = engine.Filter(must=[is_page([page_id])])
        others = [record.id for record in self._records([], of_page) if record.id not in kept]
        for first in range(0, len(others), DROPPED_TOGETHER):
            some = others[first : first + DROPPED_TOGETHER]
            with self._writing():
                gone = self._words_at(some)
                self._shard.update(engine.UpdateOperation.delete_points(some))
                self.words.change(gone=gone)

    def delete_pages(self, page_ids: Sequence[str]) -> None:
        for first in range(0, len(page_ids), DELETED_TOGETHER):
            pages = engine.Filter(must=[is_page(page_ids[first : first + DELETED_TOGETHER])])
            with self._writing(room=ROOM_TO_DELETE):
                gone = self._words_of(pages)
                self._shard.update(engine.UpdateOperation.delete_points_by_filter(pages))
                self.words.change(gone=gone)

    @property
    def folder(self) -> Path:
        return self._folder

    @property
    def writes(self) -> int:
        """The number of writes since it was opened."""
        return self._writes

    def passages(self) -> int:
        with self._lock.read(), engine_failures(self._folder):
            return self._shard.count(engine.CountRequest(exact=True))

    def count_words(self) -> bool:
        """Counts the words of some more passages that have to be counted anew; returns whether there are more."""
        with self._counting:
            if self.words.are_whole:
                return False
            public = engine.Filter(must=[*is_readable(PUBLIC)])
            with self._lock.read(), engine_failures(self._folder):
                records, following = self._scroll(public, self.words.following, COUNTED_TOGETHER)
                counts = self.words.reached(following)
            counts.change(came=[words for _, words in shard_words.of_records(records)])
            if following is not None:
                return True
            self.words.end(counts)
        self.leave()
        return False

    def leave(self) -> None:
        """Makes what was written survive a power cut, and records how many points there are."""
        with self._leaving:
            with self._lock.write():
                if not self._is_left:
                    leave(self._folder, points=self._flushed())
                    self._is_left = True
                packed = self.words.pack(self._folder)
            if packed is not None:
                self.words.keep(self._folder, packed)

    def close(self, *, keep: bool = True) -> None:
        """Waits for the readers and writers under way. `keep`: it will be opened again."""
        with self._leaving, self._lock.write():
            points = self._flushed() if keep else None
            with engine_failures(self._folder):
                self._shard.close()
            if points is not None:
                leave(self._folder, points=points)
                packed = self.words.pack(self._folder)
                if packed is not None:
                    self.words.keep(self._folder, packed)

    def _flushed(self) -> int:
        """Flushes all points to the disk and counts them."""
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
            try:
                with engine_failures(self._folder):
                    yield
            except BaseException:
                self.words.doubt()
                raise

    def _may_hold(self, page_id: str) -> bool:
        """Whether the page may have points; from here on it may."""
        if self._written is None or page_id in self._written:
            return True
        self._written.add(page_id)
        return False

    def _words_of(self, scope: engine.Filter) -> list[PointWords]:
        found: list[PointWords] = []
        offset: engine.PointId | None = None
        while True:
            records, offset = self._scroll(scope, offset, SCROLL_PAGE)
            found += self._read_words(records)
            if offset is None:
                return found

    def _words_at(self, ids: list[engine.PointId]) -> list[PointWords]:
        return self._read_words(self._shard.retrieve(ids, with_payload=True, with_vector=[LEXICAL]))

    def _read_words(self, records: Sequence[engine.Record]) -> list[PointWords]:
        """Reads the words of points; those that another version wrote can be replaced, though no longer read."""
        try:
            return shard_words.of_records(records)
        except IndexMismatchError:
            self.words.doubt()
            return []

    def _scroll(
        self, scope: engine.Filter, offset: engine.PointId | None, limit: int
    ) -> tuple[list[engine.Record], engine.PointId | None]:
        request = engine.ScrollRequest(
            offset=offset, limit=limit, filter=scope, with_payload=True, with_vector=[LEXICAL]
        )
        return self._shard.scroll(request)

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
