"""Runs a converted model. A call uses one core, and calls in several threads run at the same time."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kb.inference.onnx.converted import TOKENIZER, Card, Weights, graph

Text: TypeAlias = str | tuple[str, str]
"""A text, or for a reranker a question and a passage."""


class OnnxError(Exception):
    """ONNX Runtime is not there, or cannot load or run this model."""


class OnnxModel:
    """
    Raises:
        OnnxError: it cannot be loaded.
    """

    def __init__(self, folder: Path, card: Card, weights: Weights) -> None:
        self.weights = weights
        try:
            self._session = _session(graph(folder, weights))
            written = (folder / TOKENIZER).read_text(encoding="utf-8")
            self._tokenizer, self._counter = _tokenizers(written, card.max_tokens)
        except Exception as error:  # both libraries raise plain ones
            raise OnnxError(f"the conversion in {folder} cannot be loaded: {error}") from error
        self._inputs = card.inputs

    @property
    def special_tokens(self) -> int:
        """Marks that the tokenizer adds to a text."""
        return int(self._counter.num_special_tokens_to_add(False))

    def count_tokens(self, text: str) -> int:
        """Without the marks. Any thread may call it."""
        return len(self._counter.encode(text, add_special_tokens=False).ids)

    def run(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        """Shape (texts, dimension). Takes as long as if all were the longest: texts of like length belong together.

        Raises:
            OnnxError: the runtime failed, e.g. for lack of memory.
        """
        if (
            self.weights == "int8" and len(texts) > 1
        ):  # scaled by the greatest of a batch: neighbours would matter
            return np.concatenate([self.run([text]) for text in texts])
        encodings = self._tokenizer.encode_batch(list(texts))
        arrays = {
            "input_ids": [one.ids for one in encodings],
            "attention_mask": [one.attention_mask for one in encodings],
            "token_type_ids": [one.type_ids for one in encodings],
        }
        feed = {name: np.asarray(arrays[name], dtype=np.int64) for name in self._inputs}
        try:
            (result,) = self._session.run(None, feed)
        except Exception as error:  # the runtime raises plain ones
            raise OnnxError(str(error)) from error
        return np.asarray(result, dtype=np.float32)


def _session(file: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def _tokenizers(written: str, max_tokens: int) -> tuple[Any, Any]:
    """One that cuts and pads, and one that counts."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # the caller's thread, with its priority
    from tokenizers import Tokenizer

    fitting, counting = Tokenizer.from_str(written), Tokenizer.from_str(written)
    fitting.enable_truncation(max_tokens)
    fitting.enable_padding(**_padding(written))
    counting.no_truncation()
    counting.no_padding()
    return fitting, counting


def _padding(tokenizer: str) -> dict[str, Any]:
    """What the model's own tokenizer pads with, for the keywords of `enable_padding`; to the longest of a batch."""
    own = json.loads(tokenizer)["padding"]
    return {
        "direction": own["direction"].lower(),
        "pad_id": own["pad_id"],
        "pad_type_id": own["pad_type_id"],
        "pad_token": own["pad_token"],
    }
