"""`python -m kb.inference.onnx.convert embedder|reranker MODEL TO`:
converts a sentence-transformers model. For `kb.inference.onnx.conversion`.

torch writes the graph, pooling and all; ONNX Runtime's optimizer fuses attention and layer norms; a second graph has
its weights as 8-bit integers. Then both graphs must say what torch says, or the model is refused.
"""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import CrossEncoder, SentenceTransformer

from kb.inference.onnx.conversion import REFUSED
from kb.inference.onnx.converted import CARD, TOKENIZER, Card, Kind, Weights, graph
from kb.inference.onnx.running import OnnxModel
from kb.inference.onnx.tokens import Text

OPSET = 17
MAX_TOKENS = 512
LEAST: dict[Kind, dict[Weights, float]] = {
    "embedder": {"fp32": 0.9999, "int8": 0.97},
    "reranker": {"fp32": 0.999, "int8": 0.9},
}
"""Agreement with torch below which a graph is not used: a cosine, or 1 minus the difference of two scores of 0..1."""
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
QUESTIONS = ("How many days of leave do I get?", "Wie lange ist die Kündigungsfrist?", "年假有几天？")
PASSAGES = (
    "Employees get 25 days of paid leave a year; what is left by 31 March expires.",
    "x",
    "| country | days |\n|---|---|\n| Norway | 25 |\n| Chile | 15 |\n",
    "Parcels to Canada take ten days. " * 12,
    "Die Kündigungsfrist beträgt drei Monate zum Quartalsende, in der Probezeit zwei Wochen. " * 40,
)


class UnfitError(Exception):
    """The model cannot be converted. The message says why."""


def main(arguments: Sequence[str]) -> int:
    kind, model, to = cast(Kind, arguments[0]), Path(arguments[1]), Path(arguments[2])
    try:
        convert(kind, model, to)
    except (OSError, MemoryError):
        raise  # says nothing of the model: another time it may work
    except Exception as error:  # noqa: BLE001 - the edge of a process; exporter and runtime raise all kinds
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        sys.stderr.write(f"\n{reason[:500]}\n")
        return REFUSED
    return 0


def convert(kind: Kind, model: Path, to: Path) -> None:
    """Writes both graphs, the tokenizer and the card; the card last."""
    source = _Embedder(model) if kind == "embedder" else _Reranker(model)
    full = graph(to, "fp32")
    with torch.inference_mode():
        _export(source, full)
    _fuse(source, full)
    _quantize(full, graph(to, "int8"))
    source.tokenizer.backend_tokenizer.save(str(to / TOKENIZER))
    card = source.card.model_copy(update={"agreement": _agreement(source, to)})
    (to / CARD).write_text(card.model_dump_json(indent=1) + "\n", encoding="utf-8")


class _Source(torch.nn.Module):  # type: ignore[misc] # torch is not read by mypy
    """A loaded model as the graph is to be: from token ids to the result."""

    model: Any
    output: str

    @property
    def tokenizer(self) -> Any:
        return self.model.tokenizer

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(name for name in INPUTS if name in self.tokenizer.model_input_names)

    @property
    def card(self) -> Card:
        raise NotImplementedError

    def forward(self, *features: Any) -> Any:
        return self.model(dict(zip(self.inputs, features, strict=True)))[self.output]

    def right(self) -> list[tuple[Text, NDArray[np.float32]]]:
        """Returns texts for the converted model, and torch's results for them."""
        raise NotImplementedError

    def agreement(self, ours: NDArray[np.float32], right: NDArray[np.float32]) -> float:
        raise NotImplementedError


class _Embedder(_Source):
    output = "sentence_embedding"

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.model = _loaded(SentenceTransformer, folder)

    @property
    def card(self) -> Card:
        prompts = self.model.prompts or {}
        documents = (prompts[name] for name in ("document", "passage", "corpus") if prompts.get(name))
        return Card(
            kind="embedder",
            dimension=int(self.model.get_embedding_dimension()),
            max_tokens=int(self.model.max_seq_length or MAX_TOKENS),
            inputs=self.inputs,
            query_prompt=prompts.get("query") or "",
            document_prompt=next(documents, ""),
            agreement={},
        )

    def right(self) -> list[tuple[Text, NDArray[np.float32]]]:
        card = self.card
        asked = [
            *((card.query_prompt + text, self.model.encode_query(text)) for text in QUESTIONS),
            *((card.document_prompt + text, self.model.encode_document(text)) for text in PASSAGES),
        ]
        return [(text, np.asarray(vector, dtype=np.float32)) for text, vector in asked]

    def agreement(self, ours: NDArray[np.float32], right: NDArray[np.float32]) -> float:
        return float(ours @ right / (np.linalg.norm(ours) * np.linalg.norm(right)))


class _Reranker(_Source):
    output = "scores"

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.model = _loaded(CrossEncoder, folder)
        if self.model.num_labels != 1:
            raise UnfitError(f"it gives {self.model.num_labels} scores for a pair, not one")
        self.model.max_seq_length = min(self.model.max_seq_length or MAX_TOKENS, MAX_TOKENS)

    @property
    def card(self) -> Card:
        return Card(
            kind="reranker",
            dimension=1,
            max_tokens=int(self.model.max_seq_length),
            inputs=self.inputs,
            agreement={},
        )

    def right(self) -> list[tuple[Text, NDArray[np.float32]]]:
        pairs = [(question, passage) for question in QUESTIONS for passage in PASSAGES]
        scores = self.model.predict(pairs, activation_fn=torch.nn.Sigmoid(), show_progress_bar=False)
        return [
            (pair, np.asarray([score], dtype=np.float32)) for pair, score in zip(pairs, scores, strict=True)
        ]

    def agreement(self, ours: NDArray[np.float32], right: NDArray[np.float32]) -> float:
        return 1 - float(np.abs(1 / (1 + np.exp(-ours)) - right).max())


def _loaded(library: type[SentenceTransformer] | type[CrossEncoder], folder: Path) -> Any:
    """Loads the model with attention in the form that the optimizer knows to fuse."""
    attention = {"attn_implementation": "eager"}
    return library(str(folder), device="cpu", local_files_only=True, model_kwargs=attention).eval()


def _export(source: _Source, file: Path) -> None:
    features = source.tokenizer(["some words", "a few words more"], return_tensors="pt", padding=True)
    torch.onnx.export(
        source,
        tuple(features[name] for name in source.inputs),
        str(file),
        input_names=list(source.inputs),
        output_names=["result"],
        dynamic_axes={**{name: {0: "texts", 1: "tokens"} for name in source.inputs}, "result": {0: "texts"}},
        opset_version=OPSET,
        dynamo=False,  # the optimizer does not know the newer exporter's graphs
    )


def _fuse(source: _Source, file: Path) -> None:
    from onnxruntime.transformers.optimizer import optimize_model

    config = source.model[0].model.config
    heads, size = getattr(config, "num_attention_heads", 0), getattr(config, "hidden_size", 0)
    fused = optimize_model(str(file), model_type="bert", num_heads=heads, hidden_size=size, opt_level=0)
    fused.save_model_to_file(str(file))


def _quantize(full: Path, file: Path) -> None:
    """Quantizes weights to 7 bits: with 8, processors without instructions for it overflow, and vectors depend on the
    machine.
    """
    from onnx import TensorProto
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(
        full,
        file,
        weight_type=QuantType.QInt8,
        per_channel=True,
        reduce_range=True,
        extra_options={"DefaultTensorType": TensorProto.FLOAT},
    )


def _agreement(source: _Source, folder: Path) -> dict[Weights, float]:
    """Returns the agreement of the graphs that are good enough, and deletes the others."""
    right = source.right()
    found: dict[Weights, float] = {}
    for weights, least in LEAST[source.card.kind].items():
        ours = OnnxModel(folder, source.card, weights)
        results = ours.run([text for text, _ in right])
        worst = min(
            source.agreement(result, expected) for result, (_, expected) in zip(results, right, strict=True)
        )
        if worst >= least:
            found[weights] = round(worst, 6)
        elif weights == "fp32":
            raise UnfitError(f"the converted model's results differ from torch's: agreement {worst:.4f}")
        else:
            graph(folder, weights).unlink()
    return found


if __name__ == "__main__":
    logging.getLogger().setLevel(logging.ERROR)
    warnings.simplefilter("ignore")  # the exporter's deprecation warnings
    sys.exit(main(sys.argv[1:]))
