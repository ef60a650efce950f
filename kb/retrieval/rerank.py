"""Reranks passages by a cross-encoder, which reads question and passage together. Optional; its absence is visible.

It never decides alone: on held-out questions its order is worse than the hybrid's, and the blend is better than both.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace

from kb.calibration import Reranking
from kb.config.model_settings import RerankSettings
from kb.errors import RerankerUnavailableError
from kb.index.port import Searchable
from kb.inference.cross_encoders import CrossEncoder, cross_encoder_source, load_cross_encoder
from kb.inference.executor import Executor
from kb.models import Hit
from kb.retrieval.fusion import spread

logger = logging.getLogger(__name__)


WEIGHT = 0.3
"""Weight of the cross-encoder in the final score where nothing was measured; the rest is the fused
score. A small one at .5 lost 4 of 54 facts from the best two passages of four handbooks, at .3 none."""
CANDIDATES = 20


class Reranker:
    """Reranks by a cross-encoder in threads of its own, so that the next question's embedding need not wait.

    `ready` looks for the model in its folder, in the local cache, then for some seconds on the hub. `measured` is the
    index that is searched: where the settings leave the model's weight and its number of candidates open, they are what
    was measured on it (`kb.retrieval.rerank_trial`), else `WEIGHT` and `CANDIDATES`.
    """

    def __init__(self, settings: RerankSettings, measured: Searchable | None = None) -> None:
        self._settings = settings
        self._measured = measured
        self._background: Executor | None = None
        self._executor = self._loading_executor = Executor("footnote-rerank")
        self._loading = asyncio.Lock()
        self._looked = False
        self._model: CrossEncoder | None = None
        self._reason = "the reranker is not loaded yet" if self.wanted else "the reranker is switched off"

    @property
    def wanted(self) -> bool:
        return self._settings.model != "off"

    @property
    def model(self) -> str:
        """Returns the name under which its trials are kept."""
        return self._settings.model

    @property
    def available(self) -> bool:
        return self._model is not None

    @property
    def backend(self) -> str:
        """Returns the runtime of the model, "onnx" or "torch"; "" where there is none."""
        return self._model.backend if self._model is not None else ""

    @property
    def reason(self) -> str:
        """Returns why there is no reranker, for operators; "" where there is one."""
        return "" if self.available else self._reason

    async def ready(self) -> None:
        """Loads the model where it is available. Never raises for a missing one and never waits long for the hub."""
        async with self._loading:
            if self._looked:
                return
            self._looked = True
            if not self.wanted:
                return
            await self._loading_executor.run(lambda _: self._load(), None)
            if self._model is None:
                logger.warning("reranker.unavailable", extra={"reason": self._reason})
                return
            details = {"model": self._settings.model, "backend": self._model.backend}
            logger.info("reranker.ready", extra=details)

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Scores each text, 0..1, by how well it answers `query`.

        Raises:
            RerankerUnavailableError: there is no model, or it failed.
        """
        return await self._score(query, texts, self._executor)

    async def score_in_background(self, query: str, texts: Sequence[str]) -> list[float]:
        """Scores at low priority, for work that nobody waits for: questions go first."""
        if self._background is None:
            onnx = self._model is not None and self._model.backend == "onnx"
            self._background = Executor("footnote-rerank-trial", yields=True) if onnx else self._executor
        return await self._score(query, texts, self._background)

    async def _score(self, query: str, texts: Sequence[str], executor: Executor) -> list[float]:
        model = self._model
        if model is None:
            raise RerankerUnavailableError(self._reason)
        by_length = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        batches = [by_length[index : index + model.batch] for index in range(0, len(texts), model.batch)]
        scored = await executor.map(
            lambda batch: model.score(query, [texts[index] for index in batch]), batches
        )
        scores = {
            index: score
            for batch, of_batch in zip(batches, scored, strict=True)
            for index, score in zip(batch, of_batch, strict=True)
        }
        return [scores[index] for index in range(len(texts))]

    async def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        """Puts the best candidates in their blended order, the others behind them as they were.

        Leaves all hits as they are where there is no reranker, or it does not help on this knowledge base.
        """
        if not self.available:
            return list(hits)
        weight, many = await self._share()
        if not weight:
            return list(hits)
        candidates = hits[:many]
        try:
            scores = await self.score(query, [hit.chunk.embedded_text for hit in candidates])
        except RerankerUnavailableError as error:
            self._model, self._reason = None, str(error)
            logger.warning("reranker.failed", extra={"cause": repr(error)})
            return list(hits)
        return [*blend(candidates, scores, weight), *behind(candidates, hits[many:], weight)]

    async def trial(self) -> Reranking | None:
        """Returns the model's trial on the index's headings; None without one, or where the settings decide."""
        if not self.available or self._settings.weight is not None:
            return None
        return await self._found()

    async def _share(self) -> tuple[float, int]:
        """Returns the model's weight and number of candidates: as set, else as measured with it, else the defaults."""
        weight, candidates = self._settings.weight, self._settings.candidates
        if (weight is None or candidates is None) and (found := await self._found()) is not None:
            weight = found.weight if weight is None else weight
            candidates = found.candidates if candidates is None else candidates
        return WEIGHT if weight is None else weight, CANDIDATES if candidates is None else candidates

    async def _found(self) -> Reranking | None:
        """Returns the trial of this model that is kept with the index."""
        calibration = await self._measured.calibration() if self._measured is not None else None
        found = calibration.reranking if calibration is not None else None
        return found if found is not None and found.model == self.model else None

    def close(self) -> None:
        self._executor.close()
        if self._background is not None:
            self._background.close()
        self._loading_executor.close()

    def _load(self) -> None:
        name, patience = self._settings.model, self._settings.hub_timeout_s
        folder = cross_encoder_source(self._settings)
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
            self._executor = Executor("footnote-rerank", self._model.at_once)


def blend(hits: Sequence[Hit], scores: Sequence[float], weight: float) -> list[Hit]:
    """Orders hits by (1 - weight) x fused + weight x cross-encoder score, best first.

    Both are spread over 0..1 before, lowest to highest of these hits: a cross-encoder's scores lie close to 0 and 1,
    fused scores close together, and unspread the weight would not mean what it says. Anchors are not in it; see
    `kb.retrieval.anchors.boost`.
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


def behind(candidates: Sequence[Hit], others: Sequence[Hit], weight: float) -> list[Hit]:
    """Puts hits that the cross-encoder did not read on the scale of the blend: at most 0, by their fused score."""
    low = min((hit.scores.fused for hit in candidates), default=0.0)
    span = max((hit.scores.fused for hit in candidates), default=0.0) - low
    return [
        replace(
            hit,
            scores=replace(
                hit.scores,
                final=min(0.0, (1 - weight) * (hit.scores.fused - low) / span) if span > 0 else 0.0,
            ),
        )
        for hit in others
    ]
