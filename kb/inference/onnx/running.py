"""Runs a converted model. A call uses one core, and calls in several threads run at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kb.inference.onnx.converted import Card, Weights, graph
from kb.inference.onnx.tokens import Text, tokens_of


class OnnxError(Exception):
    """ONNX Runtime is not there, or cannot load or run this model."""


class OnnxModel:
    """
    Raises:
        OnnxError: it cannot be loaded.
    """

    def __init__(self, folder: Path, card: Card, weights: Weights) -> None:
        self.weights = weights
        self.folder = folder
        try:
            self._session = session(graph(folder, weights))
            self._tokens = tokens_of(folder, card.max_tokens)
        except Exception as error:  # the libraries raise plain ones
            raise OnnxError(f"the conversion in {folder} cannot be loaded: {error}") from error
        self._inputs = card.inputs

    @property
    def special_tokens(self) -> int:
        """Marks that the tokenizer adds to a text."""
        return self._tokens.special

    def count_tokens(self, text: str) -> int:
        """Counts tokens without the marks. Any thread may call it."""
        return self._tokens.count(text)

    def run(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        """Returns shape (texts, dimension). Each text costs what the longest does: group texts of like length.

        Raises:
            OnnxError: the runtime failed, e.g. for lack of memory.
        """
        # 8-bit numbers are scaled by the greatest of a batch: neighbours would matter
        if self.weights == "int8" and len(texts) > 1:
            return np.concatenate([self.run([text]) for text in texts])
        arrays = self._tokens.encode(texts)
        feed = {name: np.asarray(arrays[name], dtype=np.int64) for name in self._inputs}
        try:
            (result,) = self._session.run(None, feed)
        except Exception as error:  # the runtime raises plain ones
            raise OnnxError(str(error)) from error
        return np.asarray(result, dtype=np.float32)


def session(file: Path) -> Any:
    """Loads a graph. Sums stay apart from layer norms: the runtime's operator for both at once takes five times as
    long. Graphs that were fused when they were converted stay as they are.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        str(file), options, providers=["CPUExecutionProvider"], disabled_optimizers=["SkipLayerNormFusion"]
    )
