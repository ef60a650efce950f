"""The reranking model as it is run: by ONNX Runtime or by torch, to the same scores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from kb.config.model_settings import RerankSettings
from kb.errors import RerankerUnavailableError
from kb.inference.executor import prepare, quick_imports, usable_cores
from kb.inference.hub import fetched_files, local_files
from kb.inference.onnx.conversion import prepared
from kb.inference.onnx.opening import open_converted
from kb.inference.onnx.running import OnnxError, OnnxModel

MAX_TOKENS = 512
"""Question and passage together; a model with a lower limit keeps it."""


class CrossEncoder(Protocol):
    """A loaded model. `at_once`: calls that may run at the same time, each in a thread of its own.

    `batch`: passages of one call.
    """

    backend: Literal["onnx", "torch"]
    at_once: int
    batch: int

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Scores each text between 0 and 1.

        Raises:
            RerankerUnavailableError: the model failed.
        """


def cross_encoder_source(settings: RerankSettings) -> Path | None:
    """Returns the conversion that set-up made of this model, else the folder of its files, which is fetched from the
    hub within `hub_timeout_s` if need be; None where none of them has it.
    """
    made = prepared(settings.model, "reranker") if settings.backend != "torch" else None
    return (
        made or local_files(settings.model) or fetched_files(settings.model, timeout_s=settings.hub_timeout_s)
    )


def load_cross_encoder(folder: Path, settings: RerankSettings) -> CrossEncoder:
    """
    Raises:
        RerankerUnavailableError: what the folder holds is no cross-encoder, or cannot be loaded.
    """
    opened = open_converted(folder, "reranker", backend=settings.backend, precision=settings.precision)
    if opened is None:
        return TorchCrossEncoder(folder, settings.threads)
    return OnnxCrossEncoder(opened[0], settings.threads)


class OnnxCrossEncoder:
    backend: Literal["onnx", "torch"] = "onnx"
    batch = 2

    def __init__(self, model: OnnxModel, threads: int) -> None:
        self._model = model
        self.at_once = threads or usable_cores()

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        try:
            logits = self._model.run([(query, text) for text in texts])
        except OnnxError as error:
            raise RerankerUnavailableError(f"the reranker failed: {error}") from error
        return [float(score) for score in 1 / (1 + np.exp(-logits[:, 0]))]


class TorchCrossEncoder:
    backend: Literal["onnx", "torch"] = "torch"
    at_once = 1
    batch = 16

    def __init__(self, folder: Path, threads: int) -> None:
        try:
            self._model = _loaded(folder, threads)
        except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
            raise RerankerUnavailableError(f"the reranker in {folder} cannot be loaded: {error}") from error

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        import torch

        try:
            scores = self._model.predict(
                [(query, text) for text in texts],
                batch_size=self.batch,
                activation_fn=torch.nn.Sigmoid(),
                show_progress_bar=False,
            )
        except RuntimeError as error:  # torch: out of memory, or a broken device
            raise RerankerUnavailableError(f"the reranker failed: {error}") from error
        return [float(score) for score in scores]


def _loaded(folder: Path, threads: int) -> Any:
    with quick_imports():
        prepare(threads)
        from sentence_transformers import CrossEncoder as TheirCrossEncoder

    model = TheirCrossEncoder(str(folder), device="cpu", local_files_only=True)
    if model.num_labels != 1:
        raise ValueError(f"it gives {model.num_labels} scores for a pair, not one")
    model.max_seq_length = min(model.max_seq_length or MAX_TOKENS, MAX_TOKENS)
    return model
