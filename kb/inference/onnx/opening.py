"""Which weights a converted model runs with, and the model itself."""

from __future__ import annotations

import logging
from collections.abc import Container
from pathlib import Path

from kb.config.model_settings import Backend, Precision
from kb.inference.onnx.conversion import converted
from kb.inference.onnx.converted import Card, Kind, Weights, read_card
from kb.inference.onnx.machine import multiplies_int8_fast
from kb.inference.onnx.running import OnnxError, OnnxModel

logger = logging.getLogger(__name__)


def open_converted(
    folder: Path, kind: Kind, *, backend: Backend, precision: Precision, like: Weights | None = None
) -> tuple[OnnxModel, Card] | None:
    """The model of `folder` as ONNX Runtime runs it; None where torch has to, with one line in the log.

    `like`: the weights that automatic choice keeps to. Makes the conversion if need be.
    """
    if backend == "torch":
        return None
    place = converted(folder, kind)
    card = read_card(place) if place is not None else None
    if place is None or card is None:
        return None
    weights = choose(precision, like=like, usable=card.agreement)
    try:
        return OnnxModel(place, card, weights), card
    except OnnxError as error:
        logger.warning("onnx.failed", extra={"kind": kind, "reason": str(error)})
        return None


def choose(precision: Precision, *, like: Weights | None, usable: Container[Weights]) -> Weights:
    """`usable` always has fp32."""
    wanted: Weights = like or ("int8" if multiplies_int8_fast() else "fp32")
    if precision != "auto":
        wanted = precision
    return wanted if wanted in usable else "fp32"
