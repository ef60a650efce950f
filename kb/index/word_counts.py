"""In how many passages that everyone may read each word, and each term of the lexical vectors, occurs.

Kept as two sorted arrays of 12 bytes a key, which are read in milliseconds at any size, with
what changed since beside them. A word's key is a hash: nothing here can be read as text.
"""

from __future__ import annotations

import hashlib
import io
import re
import threading
import unicodedata
import zipfile
import zlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import filterfalse
from typing import Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt

from kb.models import Audience, Chunk

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_APART = bytes(byte if chr(byte).isalpha() or chr(byte) in "'-" else ord(" ") for byte in range(128))
_APART += bytes(range(128, 256))
"""ASCII, with a space for all that is in no word."""
VERSION = f"1, Unicode {unicodedata.unidata_version}"
"""Version of what a word is, and of the arrays. Terms need none: they are counted as passages' vectors have them."""
FOLD = 20_000
"""Keys that changed until they are folded into the arrays, which takes some 50 ms: some 2 MB."""
PUBLIC = Audience()

_Key = TypeVar("_Key", bytes, int)
_Keys = npt.NDArray[np.uint64]
_Counts = npt.NDArray[np.uint32]
_Kept = tuple[_Keys, _Counts, memoryview, Counter[_Key]]


@dataclass(frozen=True, kw_only=True, slots=True)
class PassageWords:
    """What one passage adds to the counts."""

    words: AbstractSet[bytes]
    """UTF-8, case folded."""
    terms: Sequence[int]

    @classmethod
    def of(cls, chunk: Chunk, terms: Sequence[int]) -> Self | None:
        """Counts the words of a chunk; None where not everyone may read it, as it must not even be hinted at. `terms`:
        the indices of its lexical vector.
        """
        if not PUBLIC.may_read(chunk.page.audience):
            return None
        return cls(words=words_of(chunk.embedded_text), terms=terms)


def words_of(text: str) -> set[bytes]:
    """Returns the distinct words. Most texts are ASCII, which is three times as fast."""
    folded = text.casefold()
    if not folded.isascii():
        return {word.encode() for word in _WORD.findall(folded)}
    found = set(folded.encode().translate(_APART).split())
    joined = set(filterfalse(bytes.isalpha, found))
    found -= joined
    found.update(part.encode() for word in joined for part in _WORD.findall(word.decode()))
    return found


class WordCounts:
    """Threads may read while one writes."""

    def __init__(
        self, passages: int = 0, words: _Table[bytes] | None = None, terms: _Table[int] | None = None
    ) -> None:
        self.passages = passages
        self._words = words or _WordTable()
        self._terms = terms or _TermTable()
        self._changing = threading.Lock()

    @classmethod
    def from_bytes(cls, packed: bytes) -> Self | None:
        """Unpacks counts; None where they are of another version, or cut off."""
        try:
            with np.load(io.BytesIO(packed), allow_pickle=False) as held:
                if str(held["version"]) != VERSION:
                    return None
                words = _WordTable(held["words"], held["of_words"])
                return cls(int(held["passages"]), words, _TermTable(held["terms"], held["of_terms"]))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
            return None

    def to_bytes(self) -> bytes:
        with self._changing:
            words, of_words = self._words.folded()
            terms, of_terms = self._terms.folded()
            passages = self.passages
        packed = io.BytesIO()
        np.savez(
            packed,
            version=np.array(VERSION),
            passages=np.array(passages),
            words=words,
            of_words=of_words,
            terms=terms,
            of_terms=of_terms,
        )
        return packed.getvalue()

    def frequency(self, word: str) -> int:
        """Counts the passages that hold this very word (case folded)."""
        return self._words.count(word.encode())

    def holding(self, term: int) -> int:
        """Counts the passages whose lexical vector has the term."""
        return self._terms.count(term)

    def change(
        self, *, gone: Iterable[PassageWords | None] = (), came: Iterable[PassageWords | None] = ()
    ) -> None:
        """Adds and subtracts passages; None is one that does not count."""
        with self._changing:
            for passage in came:
                if passage is not None:
                    self.passages += 1
                    self._words.add(passage.words)
                    self._terms.add(passage.terms)
            for passage in gone:
                if passage is not None:
                    self.passages -= 1
                    self._words.take_off(passage.words)
                    self._terms.take_off(passage.terms)

    @property
    def is_sound(self) -> bool:
        """Whether nothing was subtracted that had not been added, as of the last fold."""
        return self.passages >= 0 and self._words.is_sound and self._terms.is_sound


class _Table(Generic[_Key]):
    """Counts by key. `_kept` is replaced as a whole, so that a reader sees all of a fold or nothing of it."""

    def __init__(self, keys: _Keys | None = None, counts: _Counts | None = None) -> None:
        if keys is None or counts is None:
            keys, counts = np.empty(0, np.uint64), np.empty(0, np.uint32)
        self._kept: _Kept[_Key] = (keys, counts, keys.data, Counter())
        self.is_sound = True

    def count(self, key: _Key) -> int:
        _, counts, view, changes = self._kept
        place = self._place(view, key)
        return changes[key] + (0 if place is None else int(counts[place]))

    def add(self, keys: Iterable[_Key]) -> None:
        changes = self._kept[-1]
        changes.update(keys)
        if len(changes) > FOLD:
            self.folded()

    def take_off(self, keys: Iterable[_Key]) -> None:
        changes = self._kept[-1]
        changes.subtract(keys)
        if len(changes) > FOLD:
            self.folded()

    def folded(self) -> tuple[_Keys, _Counts]:
        """Returns the keys and their counts, with all changes in them."""
        keys, counts, _, changes = self._kept
        if changes:
            keys, counts = self._fold(keys, counts.astype(np.int64), self._by_number(changes))
            self._kept = (keys, counts, keys.data, Counter())
        return keys, counts

    def _fold(
        self, keys: _Keys, counts: npt.NDArray[np.int64], changes: Mapping[int, int]
    ) -> tuple[_Keys, _Counts]:
        changed = np.fromiter(changes.keys(), np.uint64, len(changes))
        order = np.argsort(changed)
        changed = changed[order]
        by = np.fromiter(changes.values(), np.int64, len(changes))[order]
        places = np.searchsorted(keys, changed)
        known = np.zeros(len(changed), np.bool_)
        inside = places < len(keys)
        known[inside] = keys[places[inside]] == changed[inside]
        counts[places[known]] += by[known]
        keys = np.insert(keys, places[~known], changed[~known])
        counts = np.insert(counts, places[~known], by[~known])
        self.is_sound = self.is_sound and bool((counts >= 0).all())
        left = counts > 0
        return np.ascontiguousarray(keys[left]), counts[left].astype(np.uint32)

    def _place(self, view: memoryview, key: _Key) -> int | None:
        raise NotImplementedError

    def _by_number(self, changes: Mapping[_Key, int]) -> Mapping[int, int]:
        raise NotImplementedError


class _TermTable(_Table[int]):
    def _place(self, view: memoryview, key: int) -> int | None:
        return _found(view, key)

    def _by_number(self, changes: Mapping[int, int]) -> Mapping[int, int]:
        return changes


class _WordTable(_Table[bytes]):
    """A word's number is a cheap hash, by which most unknown words are
    told (a correction asks for hundreds), then a good one.
    """

    def _place(self, view: memoryview, key: bytes) -> int | None:
        cheap = zlib.crc32(key)
        place = bisect_left(view, cheap << 32)
        if place == len(view) or view[place] >> 32 != cheap:
            return None
        return _found(view, _number(key), place)

    def _by_number(self, changes: Mapping[bytes, int]) -> Mapping[int, int]:
        numbers = Counter[int]()
        for word, by in changes.items():
            numbers[_number(word)] += by
        return numbers


def _found(view: memoryview, number: int, first: int = 0) -> int | None:
    place: int = bisect_left(view, number, first)
    return place if place < len(view) and view[place] == number else None


def _number(word: bytes) -> int:
    return zlib.crc32(word) << 32 | int.from_bytes(hashlib.blake2b(word, digest_size=4).digest())
