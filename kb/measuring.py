"""Measures a generation of the index: what unrelated passages score, and whether a cross-encoder helps there.

    passages from all over -> their headings -> the headings' vectors -> background (`kb.calibration`)
                                            -> a search for each -> a trial of the cross-encoder (`kb.rerank_trial`)

Nothing that was measured depends on chance: the same index is measured to the same figures.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kb.calibration import Background, Calibration, Reranking, space_background
from kb.embed import Space
from kb.errors import RerankerUnavailableError
from kb.heading_search import HeadingHit, HeadingSearch, Searched
from kb.headings import Heading, headings_of, unheaded
from kb.index.port import IndexCounts, StoredPassage
from kb.rerank_trial import CANDIDATES, Trial, decide, is_worth_more

logger = logging.getLogger(__name__)

PASSAGES = 3000
"""Passages that are looked at: 9 MB of vectors at 768 numbers."""
RELATED = 80
"""Headings whose own passage is embedded again: one costs as much as a dozen headings."""
TRIED = 100
"""Headings that a cross-encoder is tried on."""

Vectors = NDArray[np.float32]


class Generation(Searched, Protocol):
    """The live index or one that is being built. Methods as in `kb.index.port`."""

    async def counts(self) -> IndexCounts: ...
    async def sample(self, limit: int) -> Sequence[StoredPassage]: ...


class BackgroundEmbedder(Protocol):
    """`kb.embed.BackgroundEmbedder`, as this uses it."""

    @property
    def spaces(self) -> tuple[Space, ...]: ...
    async def embed_queries(self, texts: Sequence[str]) -> Vectors: ...
    async def embed_documents(self, texts: Sequence[str]) -> Vectors: ...


class TriedReranker(Protocol):
    """`kb.rerank.Reranker`, as this uses it."""

    @property
    def available(self) -> bool: ...
    @property
    def model(self) -> str: ...
    async def ready(self) -> None: ...
    async def score_in_background(self, query: str, texts: Sequence[str]) -> list[float]: ...


class Calibrator:
    """`reranker` None: no cross-encoder is tried. `clock` tells when something was measured."""

    def __init__(
        self,
        *,
        embedder: BackgroundEmbedder,
        search: HeadingSearch,
        clock: Callable[[], datetime],
        reranker: TriedReranker | None = None,
    ) -> None:
        self._embedder = embedder
        self._search = search
        self._clock = clock
        self._reranker = reranker

    async def is_due(self, known: Calibration | None, passages: int) -> bool:
        """Whether an index of so many passages, of which this is known, should be measured (anew)."""
        if known is None or known.outgrown(passages):
            return passages > 0
        reranker = await self._available()
        tried = known.reranking.model if known.reranking else None
        return reranker is not None and reranker.model != tried

    async def measure(self, generation: Generation) -> Calibration:
        """
        Raises:
            UnavailableError: the index or the embedder does not answer.
        """
        counts = await generation.counts()
        sample = await generation.sample(PASSAGES)
        headings = await asyncio.to_thread(headings_of, sample)
        background = reranking = None
        if headings:
            asked = await self._embedder.embed_queries([heading.text for heading in headings])
            background = await self._background(headings, asked, sample)
            reranking = await self._reranking(headings[:TRIED], sample, generation)
        return Calibration(
            background=background, reranking=reranking, passages=counts.chunks, measured=self._clock()
        )

    async def _available(self) -> TriedReranker | None:
        if self._reranker is None:
            return None
        await self._reranker.ready()
        return self._reranker if self._reranker.available else None

    async def _background(
        self, headings: Sequence[Heading], asked: Vectors, sample: Sequence[StoredPassage]
    ) -> Background | None:
        """None for a single page: nothing is unrelated to it."""
        if len({one.chunk.page.id for one in sample}) < 2:
            return None
        stored = await asyncio.to_thread(lambda: np.array([one.dense for one in sample], dtype=np.float32))
        best = await asyncio.to_thread(_best, headings[:RELATED], asked, stored)
        own = await self._embedder.embed_documents([unheaded(sample[at].chunk) for at in best])
        return await asyncio.to_thread(_measured, self._embedder.spaces, headings, asked, sample, stored, own)

    async def _reranking(
        self,
        headings: Sequence[Heading],
        sample: Sequence[StoredPassage],
        generation: Generation,
    ) -> Reranking | None:
        """None where there is no cross-encoder, or it failed."""
        reranker = await self._available()
        if reranker is None:
            return None
        found = await self._search.hits(headings, sample, generation)
        try:
            return await self._tried(reranker, headings, found)
        except RerankerUnavailableError as error:
            logger.warning("calibration.reranker_failed", extra={"cause": repr(error)})
            return None

    async def _tried(
        self, reranker: TriedReranker, headings: Sequence[Heading], found: Sequence[Sequence[HeadingHit]]
    ) -> Reranking:
        """With more and more candidates, for as long as that seems to help: each pair costs some 25 ms."""
        scores: list[list[float]] = [[] for _ in headings]
        seconds, trials, tried = 0.0, list[Trial](), list[int]()
        for depth in CANDIDATES:
            started = time.perf_counter()
            for heading, hits, known in zip(headings, found, scores, strict=True):
                texts = [hit.text for hit in hits[len(known) : depth]]
                known += await reranker.score_in_background(heading.text, texts)
            seconds += time.perf_counter() - started
            tried.append(depth)
            trials = [_trial(hits, known) for hits, known in zip(found, scores, strict=True)]
            if not await asyncio.to_thread(is_worth_more, trials, depth):
                break
        each = 1000 * seconds / max(1, sum(map(len, scores)))
        return await asyncio.to_thread(
            decide, trials, model=reranker.model, milliseconds_each=each, tried=tried
        )


def unit(vectors: Vectors) -> Vectors:
    """Rows of length 1; rows of nothing stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


def _best(headings: Sequence[Heading], asked: Vectors, stored: Vectors) -> list[int]:
    """The place in the sample of each heading's own passage that is nearest to it."""
    return [
        heading.own[int(np.argmax(stored[list(heading.own)] @ asked[row]))]
        for row, heading in enumerate(headings)
    ]


def _trial(hits: Sequence[HeadingHit], scores: Sequence[float]) -> Trial:
    return Trial(fused=[hit.fused for hit in hits], scores=tuple(scores), right=[hit.right for hit in hits])


def _measured(
    spaces: Sequence[Space],
    headings: Sequence[Heading],
    asked: Vectors,
    sample: Sequence[StoredPassage],
    stored: Vectors,
    own: Vectors,
) -> Background:
    """`own`: the first headings' own passages, one each."""
    pages = np.array([one.chunk.page.id for one in sample])
    other = np.array([pages != heading.page for heading in headings])
    measured = []
    for space in spaces:
        part = space.part
        questions, passages = unit(asked[:, part]), unit(stored[:, part])
        related = np.full(len(headings), np.nan, dtype=np.float32)
        related[: len(own)] = np.sum(questions[: len(own)] * unit(own[:, part]), axis=1)
        unrelated = np.where(other, questions @ passages.T, np.nan).astype(np.float32)
        measured.append(
            space_background(
                space.model,
                unrelated,
                related,
                asked=[heading.language for heading in headings],
                pages=[one.chunk.page.language for one in sample],
            )
        )
    return Background(spaces=tuple(measured))
