"""One generation of the embedded index: a Qdrant Edge shard in a folder, beside the manifest it was built with.

Everything blocks; `index.py` keeps it off the event loop. Threads may share a shard: a reader sees a page before or
after its replacement, never half of it.

`EdgeShard.optimize` is never called here: it holds the GIL for seconds (10.6 s at 20,000 points). See
`kb.index.embedded.quantizing`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Self

import qdrant_edge as engine

from kb.calibration import Calibration
from kb.errors import IndexMismatchError, IndexUnavailableError
from kb.index.embedded.filters import is_page, is_readable, is_spot, is_wanted
from kb.index.embedded.search import read, score
from kb.index.embedded.shard_files import (
    ROOM_TO_BEGIN,
    ROOM_TO_OPEN,
    engine_failures,
    points_folder,
    read_calibration,
    read_manifest,
    require_room,
    write_calibration,
    write_manifest,
)
from kb.index.embedded.shard_words import ShardWords
from kb.index.embedded.shard_writes import SCROLL_PAGE, ShardWrites
from kb.index.embedded.soundness import check
from kb.index.embedded.vectors import check_dimension, config
from kb.index.fields import DENSE, KEYWORD_FIELDS, LANGUAGE, PAGE_ID, PAGE_URL, REVISION, TITLE
from kb.index.payload import (
    INVENTORY_FIELDS,
    PAGE_FIELDS,
    addresses_of,
    from_payload,
    indexed_from,
    inventory_of,
    pages_of,
    revisions_of,
    stored_from,
)
from kb.index.port import (
    Candidate,
    Choose,
    IndexCounts,
    IndexedChunk,
    IndexManifest,
    PageAddress,
    PageHeld,
    PagesWanted,
    QueryVectors,
    StoredPassage,
)
from kb.index.word_counts import WordCounts
from kb.models import Audience, Chunk, Page

ALL = 10_000_000
"""More facet values than any knowledge base has pages."""


class Shard(ShardWrites):
    """Every method raises `IndexUnavailableError` when the engine fails."""

    def __init__(
        self,
        shard: engine.EdgeShard,
        manifest: IndexManifest,
        folder: Path,
        *,
        words: ShardWords,
        is_new: bool = False,
        calibration: Calibration | None = None,
    ) -> None:
        super().__init__(shard, manifest, folder, words, is_new=is_new)
        self._revisions: tuple[int, Mapping[str, str]] | None = None
        """As they were after so many writes: a sync that changes nothing asks for them, and no more."""
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
        return cls(shard, manifest, folder, words=ShardWords(WordCounts()), is_new=True)

    @classmethod
    def load(cls, folder: Path, words: ShardWords | None = None) -> Self:
        """Opens a shard; `words` are its counts, where another shard of the same passages has them.

        Raises:
            IndexDamagedError: files are cut or gone.
        """
        manifest = read_manifest(folder)
        require_room(folder, ROOM_TO_OPEN)
        check(folder)
        with engine_failures(folder):
            shard = engine.EdgeShard.load(str(points_folder(folder)))
        words = words or ShardWords.load(folder)
        return cls(shard, manifest, folder, words=words, calibration=read_calibration(folder))

    def calibrate(self, calibration: Calibration) -> None:
        try:
            write_calibration(self._folder, calibration)
        except OSError as error:
            raise IndexUnavailableError(f"{self._folder} cannot be written: {error}") from error
        self.calibration = calibration

    def sample(self, limit: int) -> list[StoredPassage]:
        """Returns the first passages by point id, which is a hash of the passage's id: they are from all over."""
        request = engine.ScrollRequest(limit=limit, with_payload=True, with_vector=[DENSE])
        with self._lock.read(), engine_failures(self._folder):
            records, _ = self._shard.scroll(request)
        return [stored_from(record.payload, record.vector) for record in records]

    def revisions(self) -> Mapping[str, str]:
        writes, known = self._writes, self._revisions
        if known is None or known[0] != writes:
            known = writes, revisions_of(record.payload for record in self._records([PAGE_ID, REVISION]))
            self._revisions = known  # read again next time if somebody wrote meanwhile
        return dict(known[1])

    def inventory(self) -> Mapping[str, PageHeld]:
        return inventory_of(record.payload for record in self._records(INVENTORY_FIELDS))

    def stored(self, page_ids: Sequence[str]) -> list[IndexedChunk]:
        wanted = engine.Filter(must=[is_page(page_ids)])
        return [
            indexed_from(record.payload, record.vector)
            for record in self._records(True, wanted, vectors=True)
        ]

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
        """Returns the passages from `offset` on, and where the next batch begins: None after the last."""
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
        choose: Choose | None = None,
    ) -> list[Candidate]:
        if made_with not in (None, self.manifest.embedder):
            raise IndexMismatchError(
                f"the index was made with {self.manifest.embedder}, not with {made_with}"
            )
        for query in queries:
            check_dimension(query.dense, self.manifest)
        with self._lock.read():  # no write in between
            with engine_failures(self._folder):
                found = score(self._shard, queries, audience=audience, limit=limit, anchor_pages=anchor_pages)
            rows = found.rows(choose)
            with engine_failures(self._folder):
                payloads = read(self._shard, [found.points[row] for row in rows])
        return found.candidates(rows, payloads)

    def _values(self, field: str, scope: engine.Filter | None = None) -> dict[str, int]:
        """Counts the points of each value. The engine still lists a value whose points are deleted, with 0."""
        hits = self._shard.facet(engine.FacetRequest(field, limit=ALL, exact=True, filter=scope)).hits
        return {str(hit.value): hit.count for hit in hits if hit.count}
