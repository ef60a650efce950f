"""A passage as one line of a file, with its vectors: what an index is carried in from one machine to another."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np

from kb.index.payload import from_payload, to_payload
from kb.index.port import IndexedChunk, SparseVector


def to_fields(passage: IndexedChunk) -> dict[str, Any]:
    """Returns a passage as JSON-compatible fields, its vectors in 32 bits, as the engines keep them."""
    return {
        "payload": to_payload(passage.chunk),
        "dense": _packed(passage.dense, "<f4"),
        "terms": _packed(passage.lexical.indices, "<u4"),
        "weights": _packed(passage.lexical.values, "<f4"),
    }


def from_fields(fields: Mapping[str, Any]) -> IndexedChunk:
    """
    Raises:
        IndexMismatchError: the payload was written by another version of Footnote.
        ValueError, KeyError, TypeError: these are not the fields of a passage.
    """
    return IndexedChunk(
        chunk=from_payload(fields["payload"]),
        dense=_numbers(fields["dense"], "<f4").tolist(),
        lexical=SparseVector(
            indices=tuple(_numbers(fields["terms"], "<u4").tolist()),
            values=tuple(_numbers(fields["weights"], "<f4").tolist()),
        ),
    )


def _packed(numbers: Any, kind: str) -> str:
    return base64.b64encode(np.asarray(numbers, dtype=kind).tobytes()).decode()


def _numbers(packed: str, kind: str) -> Any:
    return np.frombuffer(base64.b64decode(packed, validate=True), dtype=kind)
