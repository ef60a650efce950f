"""`python -m tests.bench_peers [DATA_SET ...] [--encoder torch] [--json
FILE]`: Footnote and its peers, one after the other.

environments -> passages and questions of a data set -> each peer: index, ask, start again -> a table of Markdown
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kb.evaluation.datasets import DataSet, read_data_set
from kb.inference.encoders import PACKAGED, model_source
from kb.inference.executor import usable_cores
from kb.inference.onnx.conversion import converted
from tests.bench_peers.driver import write_passages
from tests.bench_peers.environments import EnvironmentFailedError, environment
from tests.bench_peers.figures import cut, figures, judged, passages, table
from tests.bench_peers.running import DriverFailedError, Measured, Setup, measure, own_python

PEERS = {
    "footnote": "Footnote",
    "llamaindex": "LlamaIndex",
    "haystack": "Haystack",
    "langchain": "LangChain",
    "haiku_rag": "haiku.rag",
}
"""Modules of `drivers`, in the order in which they run."""
SAMPLE = Path(__file__).parents[1] / "golden" / "conversations"


def main() -> int:
    options = _options()
    setups, failed = _setups(options)
    told = []
    for folder in options.data or [SAMPLE]:
        data = cut(read_data_set(folder), options.most)
        measured, unmeasured = _measured(data, setups, options)
        failed |= unmeasured
        rows = figures(measured, judged(data), data) if measured else []
        print(f"\n{_heading(data, options)}\n\n{table(rows)}\n", flush=True)
        told.append({"data": data.name, "of": [asdict(row) for row in rows], **_machine()})
    if options.json is not None:
        options.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench_peers", description=__doc__.partition("\n")[0]
    )
    parser.add_argument(
        "data", nargs="*", type=Path, help="folders as kb/evaluation/datasets.py has them (the sample)"
    )
    parser.add_argument("--peers", default=",".join(PEERS), help="which of them, joined by commas")
    parser.add_argument(
        "--encoder", choices=("onnx", "torch"), default="onnx", help="what runs the model, for all (onnx)"
    )
    parser.add_argument("--most", type=int, help="cut a larger pool to so many passages")
    parser.add_argument(
        "--vectors",
        type=Path,
        help="a file (.npz) that keeps the passages' vectors, to embed each once for all peers",
    )
    parser.add_argument("--starts", type=int, default=3, help="starts that are measured (3)")
    parser.add_argument(
        "--environments", type=Path, default=Path(".peers"), help="where their environments are (.peers)"
    )
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    return parser.parse_args()


def _setups(options: argparse.Namespace) -> tuple[list[Setup], bool]:
    """And whether a peer is missing."""
    torch = options.encoder == "torch"
    source = model_source(PACKAGED[0])
    model = source if torch else converted(source, "embedder")
    if model is None:
        raise SystemExit("the model could not be converted: see `make setup`")
    setups, missing = [], False
    for module in options.peers.split(","):
        try:
            own = module == "footnote"
            python = own_python() if own else environment(module, options.environments, torch=torch)
        except EnvironmentFailedError as error:
            missing = True
            _progress(f"without {PEERS[module]}: {error}")
            continue
        setups.append(
            Setup(
                name=PEERS[module],
                module=module,
                python=python,
                model=model,
                encoder=options.encoder,
                vectors=options.vectors.absolute() if options.vectors else None,
            )
        )
    return setups, missing


def _measured(
    data: DataSet, setups: Sequence[Setup], options: argparse.Namespace
) -> tuple[list[Measured], bool]:
    questions = [one.asked for one in judged(data)]
    measured, failed = [], False
    with tempfile.TemporaryDirectory(prefix="footnote-peers-") as folder:
        file = Path(folder) / "passages.jsonl"
        write_passages(passages(data), file)
        for setup in setups:
            _progress(f"{data.name}: {setup.name} ...")
            try:
                measured.append(
                    measure(setup, file, questions, folder=Path(folder) / setup.module, starts=options.starts)
                )
            except DriverFailedError as error:
                failed = True
                _progress(str(error))
    return measured, failed


def _heading(data: DataSet, options: argparse.Namespace) -> str:
    machine = _machine()
    return (
        f"**{data.name}**, {len(passages(data))} passages, {len(judged(data))} questions; all-MiniLM-L6-v2 by "
        f"{'sentence-transformers' if options.encoder == 'torch' else 'ONNX Runtime'}; {machine['processor']}, "
        f"{machine['cores']} cores, Python {machine['python']}, {machine['at']}"
    )


def _machine() -> dict[str, Any]:
    return {
        "processor": _processor(),
        "cores": usable_cores(),
        "python": platform.python_version(),
        "niceness": os.nice(0),
        "at": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
