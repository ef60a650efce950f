"""Measures what a sync has built. A sync never fails for it: what was measured before stays, or nothing is known."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from kb.errors import UnavailableError
from kb.index.port import Rebuild, Searchable, VectorIndex

if TYPE_CHECKING:
    from kb.retrieval.measuring import Calibrator

logger = logging.getLogger(__name__)


async def measure_if_due(index: VectorIndex, calibrator: Calibrator | None) -> None:
    """Measures an index that was changed in place, where nothing was measured yet, or much has changed since.

    Raises:
        UnavailableError: the index does not answer.
    """
    if calibrator is None:
        return
    counts = await index.counts()
    if await calibrator.is_due(await index.calibration(), counts.chunks):
        await measure(index, calibrator)


async def measure(
    generation: Rebuild | VectorIndex, calibrator: Calibrator | None, *, instead: Searchable | None = None
) -> None:
    """Measures a generation and stores the figures in it.

    `instead`: a generation with the same manifest, whose figures serve where nothing can be measured.

    Raises:
        UnavailableError: the index does not answer.
    """
    if calibrator is None:
        return
    try:
        calibration = await calibrator.measure(generation)
    except UnavailableError as error:
        logger.warning("calibration.failed", extra={"cause": str(error)})
        calibration = None
    except Exception:  # a fault in measuring unusual pages must not keep them from being found
        logger.exception("calibration.failed")
        calibration = None
    if calibration is None and instead is not None:
        calibration = await instead.calibration()
    if calibration is not None:
        await generation.calibrate(calibration)
        reranking = calibration.reranking
        logger.info(
            "calibration.kept",
            extra={
                "passages": calibration.passages,
                "headings": reranking.samples if reranking else 0,
                "reranker": reranking.model if reranking else None,
                "rerank_weight": reranking.weight if reranking else None,
            },
        )
