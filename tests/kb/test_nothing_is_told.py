"""Libraries that run models tell nobody what they run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EMBED = """
import asyncio
from kb.inference.embedder import Embedder
from kb.config.model_settings import EmbedSettings

embedder = Embedder(EmbedSettings())
asyncio.run(embedder.embed_queries(["How many days of holiday do I get?"]))
assert "onnx" in embedder.backend, embedder.backend
"""
QUIET = ("CI", "ORT_DISABLE_TELEMETRY", "ORT_RUNNING_UNIT_TESTS", "GITHUB_ACTIONS")
"""Under any of these ONNX Runtime is silent by itself."""


def kept_by_onnx_runtime(home: Path, program: str) -> list[Path]:
    """What ONNX Runtime writes below a home of its own before it sends it."""
    environment = {name: value for name, value in os.environ.items() if name not in QUIET}
    environment |= {"HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache")}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=100)
    return [path for path in home.rglob("*") if "onnxruntime" in path.name.lower() and path.suffix == ".db"]


@pytest.mark.slow
def test_an_embedding_leaves_no_record_for_onnx_runtimes_maker(tmp_path: Path) -> None:
    assert kept_by_onnx_runtime(tmp_path, EMBED) == []
