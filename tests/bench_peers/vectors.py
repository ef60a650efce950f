"""Vectors of passages, kept for the next peer: the model is the same for
all, and on a busy machine it is most of a run.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.bench_peers.driver import ENCODER, VECTORS


class KnownVectors:
    """By text and by what ran the model. Without `PEERS_VECTORS`, a file
    that ends in .npz, nothing is known and nothing kept.
    """

    def __init__(self) -> None:
        named = os.environ.get(VECTORS)
        self._file = Path(named) if named else None
        self._known: dict[str, NDArray[np.float32]] = {}
        if self._file is not None and self._file.is_file():
            with np.load(self._file) as kept:
                self._known = dict(zip(kept["keys"].tolist(), kept["vectors"], strict=True))

    def of(self, texts: Sequence[str]) -> NDArray[np.float32] | None:
        """None unless all are known."""
        known = [self._known.get(_key(text)) for text in texts] if self._known else []
        found = [vector for vector in known if vector is not None]
        return np.stack(found) if found and len(found) == len(texts) else None

    def keep(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        if self._file is None:
            return
        self._known.update(zip(map(_key, texts), vectors, strict=True))
        with self._file.open("wb") as output:
            np.savez(output, keys=np.array(list(self._known)), vectors=np.stack(list(self._known.values())))


def _key(text: str) -> str:
    return hashlib.sha256(f"{os.environ[ENCODER]}\x1f{text}".encode()).hexdigest()
