"""A cross-encoder reads question and passage together and has a say in the order. Optional; its absence is visible.

It never decides alone: on held-out questions its order is worse than the hybrid's, and the blend is better than both.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace

from kb.errors import RerankerUnavailableError
from kb.inference.cross_encoders import CrossEncoder, load_cross_encoder
from kb.inference.hub import fetched_files, local_files
from kb.inference.lanes import Lane
from kb.models import Hit
from kb.settings import RerankSettings

logger = logging.getLogger(__name__)


class Reranker:
    """`ready` looks for the model in its folder, in the local cache, then for some seconds on the hub.

    The model runs in threads of its own, so that the next question's embedding does not wait for 20 passages.
    """

    def __init__(self, settings: RerankSettings) -> None:
        self._settings = settings
        self._lane = self._loading_lane = Lane("footnote-rerank")
        self._loading = asyncio.Lock()
        self._looked = False
        self._model: CrossEncoder | None = None
        self._reason = "the reranker is not loaded yet"

    @property
    def wanted(self) -> bool:
        return self._settings.model != "off"

    @property
    def available(self) -> bool:
        return self._model is not None

    @property
    def backend(self) -> str:
        """What runs the model: "onnx" or "torch"; empty where there is none."""
        return self._model.backend if self._model is not None else ""

    @property
    def reason(self) -> str:
        """Why there is no reranker, for operators; empty where there is one."""
        return "" if self.available else self._reason

    async def ready(self) -> None:
        """Loads the model where it can be had. Never raises for a missing one and never waits long for the hub."""
        async with self._loading:
            if self._looked:
                return
            self._looked = True
            if not self.wanted:
                self._reason = "the reranker is switched off"
                return
            await self._loading_lane.run(lambda _: self._load(), None)
            if self._model is None:
                logger.warning("reranker.unavailable", extra={"reason": self._reason})
                return
            told = {"model": self._settings.model, "backend": self._model.backend}
            logger.info("reranker.ready", extra=told)

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """0..1 for each text: how well it answers `query`.

        Raises:
            RerankerUnavailableError: there is no model, or it failed.
        """
        model = self._model
        if model is None:
            raise RerankerUnavailableError(self._reason)
        by_length = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        batches = [by_length[at : at + model.batch] for at in range(0, len(texts), model.batch)]
        scored = await self._lane.map(lambda batch: model.score(query, [texts[at] for at in batch]), batches)
        scores = {
            at: score
            for batch, of_batch in zip(batches, scored, strict=True)
            for at, score in zip(batch, of_batch, strict=True)
        }
        return [scores[at] for at in range(len(texts))]

    async def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        """The best candidates in their blended order; all hits as they are where there is no reranker."""
        if not self.available:
            return list(hits)
        candidates = hits[: self._settings.candidates]
        try:
            scores = await self.score(query, [hit.chunk.embedded_text for hit in candidates])
        except RerankerUnavailableError as error:
            self._model, self._reason = None, str(error)
            logger.warning("reranker.failed", extra={"cause": repr(error)})
            return list(hits)
        return blend(candidates, scores, self._settings.weight)

    def close(self) -> None:
        self._lane.close()
        self._loading_lane.close()

    def _load(self) -> None:
        name, patience = self._settings.model, self._settings.hub_timeout_s
        folder = local_files(name) or fetched_files(name, timeout_s=patience)
        if folder is None:
            self._reason = (
                f"the reranker {name!r} is no folder, not in the local cache, and the model hub did not have it "
                f'ready within {patience:g} s; set FOOTNOTE_RERANK__MODEL to a folder, or to "off"'
            )
            return
        try:
            self._model = load_cross_encoder(folder, self._settings)
        except RerankerUnavailableError as error:
            self._reason = str(error)
            return
        if self._model.backend == "onnx":
            self._lane = Lane("footnote-rerank", self._model.at_once)


def blend(hits: Sequence[Hit], scores: Sequence[float], weight: float) -> list[Hit]:
    """Orders hits by (1 - weight) x fused + weight x cross-encoder score, best first.

    Both are spread over 0..1 before, lowest to highest of these hits: a cross-encoder's scores lie close to 0 and 1,
    fused scores close together, and unspread the weight would not mean what it says. Anchors are not in it; see
    `kb.anchors.boost_final`.
    """
    fused = spread([hit.scores.fused for hit in hits])
    reranked = spread(list(scores))
    blended = [
        replace(
            hit,
            scores=replace(hit.scores, rerank=score, final=(1 - weight) * of_fused + weight * of_reranked),
        )
        for hit, score, of_fused, of_reranked in zip(hits, scores, fused, reranked, strict=True)
    ]
    return sorted(blended, key=lambda hit: -hit.scores.final)


def spread(values: Sequence[float]) -> list[float]:
    """Lowest to 0, highest to 1; all 1 where they are equal."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    return [(value - low) / (high - low) if high > low else 1.0 for value in values]
