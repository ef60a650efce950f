"""Opens a converted model, with the weights that suit this machine's processor."""

from __future__ import annotations

import logging
import platform
import subprocess
from collections.abc import Container
from pathlib import Path

from kb.config.model_settings import Backend, Precision
from kb.inference.onnx.conversion import converted
from kb.inference.onnx.converted import Card, Kind, Weights, read_card
from kb.inference.onnx.running import OnnxError, OnnxModel

logger = logging.getLogger(__name__)

CPUINFO = Path("/proc/cpuinfo")
INT8_FLAGS = frozenset({"avx512_vnni", "avx_vnni", "asimddp"})
"""Instructions that multiply and add four 8-bit integers at once, as Linux calls them on x86 and on ARM."""


def open_converted(
    folder: Path, kind: Kind, *, backend: Backend, precision: Precision, like: Weights | None = None
) -> tuple[OnnxModel, Card] | None:
    """Opens the model of `folder` in ONNX Runtime; None where torch has to run it, with one line in the log.

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
    """Chooses the weights; `usable` always has fp32."""
    wanted: Weights = like or ("int8" if multiplies_int8_fast() else "fp32")
    if precision != "auto":
        wanted = precision
    return wanted if wanted in usable else "fp32"


def multiplies_int8_fast() -> bool:
    """Whether 8-bit arithmetic is worth its loss: some 4 times as fast with such instructions, 1.5 times without."""
    if platform.system() == "Darwin":
        return _apple_tells("hw.optional.arm.FEAT_DotProd")
    try:
        text = CPUINFO.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return bool(INT8_FLAGS & flags_in(text))


def flags_in(cpuinfo: str) -> frozenset[str]:
    """Returns the flags of the first processor: "flags" on x86, "Features" on ARM."""
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in {"flags", "Features"}:
            return frozenset(value.split())
    return frozenset()


def _apple_tells(name: str) -> bool:
    try:
        answer = subprocess.run(
            ["sysctl", "-n", name], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.stdout.strip() == "1"
