"""Builders of what an answerer gets, the pages around it, and one that quotes them by the words that they share."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kb.answer import Citation, Sentence
from kb.answering.answerer import Asked, AskedPart
from kb.answering.progress import Stage
from kb.answering.quoted import QuotedAnswerer
from kb.answering.quoting import Librarian
from kb.conflicts.statements import Similarity
from kb.models import Audience, Chunk, Hit, Question, Rewrite, Scores, Turn
from kb.pages.freshness import FreshnessPolicy
from kb.retrieval.confidence import Evidence
from kb.retrieval.lexical import LexicalEncoder

POLICY = FreshnessPolicy(clock=lambda: datetime(2026, 11, 27, 12, tzinfo=UTC))
THRESHOLD = 0.3
STANDARD = 10.0
"""The standard score of a similarity of 1."""


def a_hit(chunk: Chunk, *, score: float = 0.8) -> Hit:
    return Hit(chunk=chunk, scores=Scores(dense=STANDARD * score, lexical=3.0, fused=score, final=score))


def hits_of(*chunks: Chunk) -> tuple[Hit, ...]:
    """As they are found, the best first."""
    return tuple(a_hit(chunk, score=0.8 - at / 100) for at, chunk in enumerate(chunks))


def evidence_for(hits: Sequence[Hit], confidence: float) -> Evidence:
    return Evidence(found=bool(hits), confidence=confidence, threshold=THRESHOLD)


def an_asked(
    question: str,
    *chunks: Chunk,
    confidence: float = 0.9,
    language: str = "en",
    turns: Sequence[Turn] = (),
    parts: Sequence[AskedPart] = (),
    audience: Audience | None = None,
    **rewrite: Any,
) -> Asked:
    """`confidence`: of `THRESHOLD` or more is enough. `rewrite` changes the rewrite's fields."""
    hits = hits_of(*chunks)
    return Asked(
        question=Question(id="q1", text=question, audience=audience or Audience()),
        language=language,
        rewrite=Rewrite(**{"query": question, **rewrite}),
        turns=turns,
        hits=hits,
        evidence=evidence_for(hits, confidence),
        parts=tuple(parts),
    )


def a_part(question: str, *chunks: Chunk, confidence: float = 0.9) -> AskedPart:
    hits = hits_of(*chunks)
    return AskedPart(question=question, hits=hits, evidence=evidence_for(hits, confidence))


class Shelf:
    """Pages of which the neighbours of a passage can be had. Remembers who asked."""

    def __init__(self, *chunks: Chunk) -> None:
        self._chunks = chunks
        self.audiences: list[Audience] = []

    async def neighbours(
        self, spots: Mapping[str, Collection[int]], *, audience: Audience
    ) -> Sequence[Chunk]:
        self.audiences.append(audience)
        return [
            chunk
            for chunk in self._chunks
            if chunk.position in spots.get(chunk.page.id, ()) and audience.may_read(chunk.page.audience)
        ]


class BagOfWords:
    """Texts are near a question by the words that they share: enough to see what is chosen, with no model."""

    def __init__(self, error: Exception | None = None) -> None:
        self.asked: list[list[str]] = []
        self._error = error

    async def nearness(self, query: str, texts: Sequence[str], *, language: str) -> Sequence[float]:
        self.asked.append(list(texts))
        if self._error is not None:
            raise self._error
        wanted = self._vector(query)
        return [STANDARD * float(self._vector(text) @ wanted) for text in texts]

    def _vector(self, text: str) -> NDArray[np.float32]:
        vector = np.full(512, 1e-3, dtype=np.float32)
        for word in text.lower().replace(":", " ").replace(".", " ").replace("?", " ").split():
            vector[sum(map(ord, word)) % 512] += 1.0
        return vector / np.float32(np.linalg.norm(vector))


async def alike(pairs: list[tuple[str, str]]) -> list[float]:
    """Every two statements are about the same thing."""
    return [0.9] * len(pairs)


def a_quoted_answerer(shelf: Shelf | None = None, *, similarity: Similarity | None = alike) -> QuotedAnswerer:
    librarian = Librarian(nearness=BagOfWords(), coverage=LexicalEncoder().coverage)
    return QuotedAnswerer(
        librarian=librarian, index=shelf or Shelf(), freshness=POLICY, similarity=similarity
    )


class Watcher:
    """Writes down what it is told of an answer in the making."""

    def __init__(self) -> None:
        self.stages: list[tuple[Stage, int]] = []
        self.drafts: list[str] = []
        self.citations: Sequence[Citation] = ()

    async def stage(self, stage: Stage, *, pages: int = 0) -> None:
        self.stages.append((stage, pages))

    async def written(self, sentences: Sequence[Sentence], citations: Sequence[Citation]) -> None:
        self.drafts.append(" ".join(sentence.text for sentence in sentences))
        self.citations = citations
