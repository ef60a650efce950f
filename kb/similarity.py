"""How alike two sentences are, by the embedder: the last check of a citation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class DocumentEmbedder(Protocol):
    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


class EmbeddingSimilarity:
    """Cosines (-1..1) of pairs of sentences. Every text is embedded once, however many pairs it is in."""

    def __init__(self, embedder: DocumentEmbedder) -> None:
        self._embedder = embedder

    async def __call__(self, pairs: list[tuple[str, str]]) -> list[float]:
        if not pairs:
            return []
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        vectors = dict(zip(texts, await self._embedder.embed_documents(texts), strict=True))
        return [float(vectors[one] @ vectors[other]) for one, other in pairs]
