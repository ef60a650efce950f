"""An embedder without a model: words hashed into a small space, so that like texts lie close, the same on every run."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from kb.inference.embedder import Space

_WORD = re.compile(r"\w+")


class HashEmbedder:
    """Counts words as tokens. A test that clears `gate` holds every call; `arrived` says that one is waiting there."""

    dimension = 32
    counted_models = None

    def __init__(self, *, name: str = "hash", max_tokens: int = 60) -> None:
        self.name = name
        self.max_tokens = max_tokens
        self.calls: list[list[str]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.arrived = asyncio.Event()

    @property
    def spaces(self) -> tuple[Space, ...]:
        return (Space(model=self.name, part=slice(0, self.dimension)),)

    async def ready(self) -> None:
        """Nothing to load."""

    def count_tokens(self, text: str) -> int:
        return len(_WORD.findall(text))

    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.arrived.set()
        await self.gate.wait()
        self.calls.append(list(texts))
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in _WORD.findall(text.lower()):
                vectors[row, crc32(word.encode()) % self.dimension] += 1.0
            vectors[row] /= max(float(np.linalg.norm(vectors[row])), 1.0)
        return vectors
