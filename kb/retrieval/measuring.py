"""Measures whether a cross-encoder helps on a generation of the index.

    passages from all over -> their headings -> a search for each -> a trial of the cross-encoder
    (`kb.retrieval.rerank_trial`)

Nothing that was measured depends on chance: the same index is measured to the same figures.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import datetime

from kb.calibration import Calibration, Reranking
from kb.index.port import Rebuild, VectorIndex
from kb.retrieval.heading_search import Heading, HeadingHit, HeadingSearch, headings_of
from kb.retrieval.rerank import Reranker
from kb.retrieval.rerank_trial import CANDIDATES, Trial, decide, is_worth_more

PASSAGES = 3000
"""Passages that are sampled: 9 MB of vectors at 768 numbers."""
TRIED = 100
"""Headings that a cross-encoder is tried on."""


class Calibrator:
    """Without a `reranker` there is nothing to measure. `clock` gives the time of a measurement."""

    def __init__(
        self,
        *,
        search: HeadingSearch,
        clock: Callable[[], datetime],
        reranker: Reranker | None = None,
    ) -> None:
        self._search = search
        self._clock = clock
        self._reranker = reranker

    async def is_due(self, calibration: Calibration | None, passages: int) -> bool:
        """Whether an index with so many passages and this calibration should be measured (again)."""
        reranker = await self._available() if passages else None
        if reranker is None:
            return False
        tried = (
            calibration.reranking.model
            if calibration is not None and calibration.reranking is not None
            else None
        )
        return calibration is None or calibration.outgrown(passages) or reranker.model != tried

    async def measure(self, generation: VectorIndex | Rebuild) -> Calibration | None:
        """Tries the cross-encoder; None where there is none.

        Raises:
            UnavailableError: the index, the embedder or the cross-encoder does not answer.
        """
        reranker = await self._available()
        if reranker is None:
            return None
        counts = await generation.counts()
        sample = await generation.sample(PASSAGES)
        headings = await asyncio.to_thread(headings_of, sample, TRIED)
        found = await self._search.hits(headings, sample, generation) if headings else []
        reranking = await self._tried(reranker, headings, found)
        return Calibration(reranking=reranking, passages=counts.chunks, measured=self._clock())

    async def _available(self) -> Reranker | None:
        if self._reranker is None:
            return None
        await self._reranker.ready()
        return self._reranker if self._reranker.available else None

    async def _tried(
        self, reranker: Reranker, headings: Sequence[Heading], found: Sequence[Sequence[HeadingHit]]
    ) -> Reranking:
        """Tries more and more candidates, for as long as that seems to help: each pair costs some 25 ms."""
        scores: list[list[float]] = [[] for _ in headings]
        seconds, trials, tried = 0.0, list[Trial](), list[int]()
        for depth in CANDIDATES:
            started = time.perf_counter()
            for heading, hits, of_heading in zip(headings, found, scores, strict=True):
                texts = [hit.text for hit in hits[len(of_heading) : depth]]
                of_heading += await reranker.score_in_background(heading.text, texts)
            seconds += time.perf_counter() - started
            tried.append(depth)
            trials = [_trial(hits, of_heading) for hits, of_heading in zip(found, scores, strict=True)]
            if not await asyncio.to_thread(is_worth_more, trials, depth):
                break
        each = 1000 * seconds / max(1, sum(map(len, scores)))
        return await asyncio.to_thread(
            decide, trials, model=reranker.model, milliseconds_each=each, tried=tried
        )


def _trial(hits: Sequence[HeadingHit], scores: Sequence[float]) -> Trial:
    return Trial(fused=[hit.fused for hit in hits], scores=tuple(scores), right=[hit.right for hit in hits])
