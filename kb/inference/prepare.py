"""`python -m kb.inference.prepare [--reranker] [MODEL ...]`: converts models ahead of their first use, and keeps each
conversion under its model's name, so that it serves where the weights and torch are not installed.

Without a name: the embedding models that come with packages. `--reranker`: the default reranking model, from the hub.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from kb.config.model_settings import RerankSettings
from kb.errors import EmbedderUnavailableError
from kb.inference.cross_encoders import cross_encoder_source
from kb.inference.encoders import E5, PACKAGED, model_source, preferred
from kb.inference.onnx.conversion import converted, keep_by_name
from kb.inference.onnx.converted import Kind

HUB_TIMEOUT_S = 120.0


def main() -> int:
    """Returns 0 if all conversions exist; otherwise the log says why not."""
    parser = argparse.ArgumentParser(prog="python -m kb.inference.prepare")
    parser.add_argument("--reranker", action="store_true")
    parser.add_argument("models", nargs="*")
    given = parser.parse_args()
    if given.reranker:
        return _prepare_reranker()
    return max(map(_prepare_embedder, given.models or _packaged()))


def _packaged() -> list[str]:
    """Names the packaged models. multilingual-e5-small has no package for every system; there it comes from the hub."""
    return [name for name in PACKAGED if name not in E5 or preferred(name) == "int8"]


def _prepare_embedder(name: str) -> int:
    try:
        source = model_source(name)
    except EmbedderUnavailableError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return _prepare(name, "embedder", source)


def _prepare_reranker() -> int:
    settings = RerankSettings(hub_timeout_s=HUB_TIMEOUT_S)
    source = cross_encoder_source(settings)
    if source is None:
        sys.stderr.write(f"the model hub does not have {settings.model}, or does not answer\n")
        return 1
    return _prepare(settings.model, "reranker", source)


def _prepare(name: str, kind: Kind, source: Path) -> int:
    made = converted(source, kind)
    if made is None:
        return 1
    if made != source:
        keep_by_name(name, kind, made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
