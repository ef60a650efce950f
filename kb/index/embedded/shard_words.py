"""The counts of words of one generation of the embedded index, and their file beside its points.

The file names the record that the generation was left with (`kb.index.embedded.soundness`), which is another one
as soon as something is written. Where the two differ, after kill -9 or a version that knew of no counts,
all is counted anew, a few passages at a time in the order of their ids, while others read and write.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self
from uuid import UUID

import qdrant_edge as engine

from kb.index.embedded.generations import write_atomically
from kb.index.embedded.soundness import record_name
from kb.index.payload import words_from
from kb.index.port import IndexedChunk
from kb.index.word_counts import PassageWords, WordCounts

logger = logging.getLogger(__name__)

FILE = "words"
_NUMBERS = 2**64
"""Ids that are numbers come before those that are UUIDs."""
_ALL = 2**129

PointWords = tuple[int, PassageWords | None]
"""Where a point stands in the order of ids, and what it adds to the counts."""


class ShardWords:
    """Changed by the holder of the shard's lock, and by the one thread that counts anew."""

    def __init__(self, counts: WordCounts | None = None) -> None:
        """Takes the `counts` of every passage in the shard; None where they are unknown."""
        self.counts = counts or WordCounts()
        self.are_whole = counts is not None
        self._until = _ALL if self.are_whole else 0
        """Points from here on, in the order of ids, are not counted."""
        self.following: engine.PointId | None = None
        """Where counting anew goes on."""
        self._kept_for = ""
        self._changing = threading.Lock()

    @classmethod
    def load(cls, folder: Path) -> Self:
        try:
            name, _, packed = (folder / FILE).read_bytes().partition(b"\n")
        except OSError:
            return cls()
        if not name or name.decode(errors="replace") != record_name(folder):
            return cls()
        words = cls(WordCounts.from_bytes(packed))
        words._kept_for = name.decode() if words.are_whole else ""
        return words

    def pack(self, folder: Path) -> bytes | None:
        """Packs the counts for `keep` right after the generation was left; None if there is nothing new."""
        name = record_name(folder)
        if not self.are_whole or not name or name == self._kept_for:
            return None
        packed = self.counts.to_bytes()
        if not self.counts.is_sound:
            logger.error("words.miscounted", extra={"folder": str(folder)})
            self.doubt()
            return None
        self._kept_for = name
        return name.encode() + b"\n" + packed

    def keep(self, folder: Path, packed: bytes) -> None:
        """Writes the packed counts. If the disk refuses, words are counted anew at the next start, no more."""
        try:
            write_atomically(folder / FILE, packed)
        except OSError as error:
            logger.warning("words.not_kept", extra={"folder": str(folder), "cause": str(error)})

    def change(self, *, gone: Iterable[PointWords] = (), came: Iterable[PointWords] = ()) -> None:
        with self._changing:
            self.counts.change(
                gone=[words for place, words in gone if place < self._until],
                came=[words for place, words in came if place < self._until],
            )

    def doubt(self) -> None:
        """Drops the counts, as what was written is unknown: words are counted anew, from nothing, so that no page that
        is private now shows.
        """
        with self._changing:
            self.counts, self.are_whole, self._until, self.following = WordCounts(), False, 0, None

    def reached(self, following: engine.PointId | None) -> WordCounts:
        """Records that all points before `following` are read, and returns the counts to add them to."""
        with self._changing:
            self._until = _ALL if following is None else _place(following)
            self.following = following
            return self.counts

    def end(self, counts: WordCounts) -> None:
        """Ends the counting, after every point was added to `counts`."""
        with self._changing:
            self.are_whole = self.counts is counts and self._until == _ALL


def of_records(records: Iterable[engine.Record]) -> list[PointWords]:
    """Counts words of points that are read with their payload and their lexical vector.

    Raises:
        IndexMismatchError: another version of Footnote wrote them.
    """
    return [(_place(record.id), words_from(record.payload, record.vector)) for record in records]


def of_chunks(ids: Sequence[engine.PointId], chunks: Sequence[IndexedChunk]) -> list[PointWords]:
    return [
        (_place(point_id), PassageWords.of(indexed.chunk, indexed.lexical.indices))
        for point_id, indexed in zip(ids, chunks, strict=True)
    ]


def _place(point_id: engine.PointId) -> int:
    if isinstance(point_id, int):
        return point_id
    return _NUMBERS + (point_id if isinstance(point_id, UUID) else UUID(str(point_id))).int
