"""Similarity on one scale for every embedding model, on vectors whose geometry is known and on a real engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from numpy.typing import NDArray

from kb.answering.language import SURE_LANGUAGES
from kb.config.search_settings import SearchSettings
from kb.index.embedded.index import EdgeIndex
from kb.index.port import IndexedChunk, IndexManifest
from kb.inference.embedder import Space
from kb.models import Audience
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.queries import WeightedQuery
from kb.retrieval.search import Search
from kb.retrieval.standard_scores import UNREAD, Scale, typical_questions
from tests.fakes.passages import a_passage

Vectors = NDArray[np.float32]

SIZE = 24
"""Numbers that one model says of a text, before the one that all of its texts have in common."""
ENGLISH_ONLY, MULTILINGUAL = "all-MiniLM-L6-v2", "multilingual-e5-small"
QUESTION = "How long may I stay?"
PASSAGES = tuple(f"passage {at}" for at in range(200))


class Models:
    """An embedder of models by name, each with a `floor`: unrelated texts have that cosine, related ones lie above it.

    A text's direction is drawn by its words and the model's name; `known` gives some texts another.
    """

    def __init__(
        self, floors: Mapping[str, float], *, known: Mapping[str, Sequence[float]] | None = None
    ) -> None:
        self._floors = floors
        self._known = known or {}
        self.asked: list[list[str]] = []
        self.documents: list[list[str]] = []
        self.spaces = [
            Space(model=model, part=slice(at * (SIZE + 1), (at + 1) * (SIZE + 1)))
            for at, model in enumerate(floors)
        ]

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.asked.append(list(texts))
        return self.vectors(texts)

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.documents.append(list(texts))
        return self.vectors(texts)

    def vectors(self, texts: Sequence[str]) -> Vectors:
        return np.array(
            [
                np.concatenate([self._of(text, model, floor) for model, floor in self._floors.items()])
                for text in texts
            ],
            dtype=np.float32,
        )

    def sample(self, texts: Sequence[str]) -> Vectors:
        """As an engine keeps them: of length 1."""
        vectors = self.vectors(texts)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def _of(self, text: str, model: str, floor: float) -> NDArray[np.float64]:
        direction = np.random.default_rng(crc32(f"{model} {text}".encode())).normal(size=SIZE)
        if text in self._known:
            direction = np.zeros(SIZE)
            direction[: len(self._known[text])] = self._known[text]
        direction /= np.linalg.norm(direction)
        return np.concatenate([[floor**0.5], (1 - floor) ** 0.5 * direction])


async def scores(
    models: Models, texts: Sequence[str] = PASSAGES, *, question: str = QUESTION, language: str = "en"
) -> Vectors:
    """Of texts, held against `PASSAGES`."""
    scale = Scale(models, models.sample(PASSAGES))
    (probe,) = await scale.probes([question], [language])
    return probe.scores(models.vectors(texts))


@pytest.mark.parametrize("floor", [0.1, 0.7, 0.9])
async def test_the_scale_does_not_depend_on_where_a_model_s_cosines_lie(floor: float) -> None:
    expected = await scores(Models({"m": 0.0}))
    assert await scores(Models({"m": floor})) == pytest.approx(expected, abs=1e-3)


async def of_typical(models: Models, sample: Vectors, *, language: str = "en") -> Vectors:
    """Of `PASSAGES`, a row for each of the language's typical questions."""
    typical = typical_questions()[language]
    probes = await Scale(models, sample).probes(typical, [language] * len(typical))
    return np.array([probe.scores(models.vectors(PASSAGES)) for probe in probes])


async def test_typical_questions_and_passages_at_large_are_at_0_and_one_deviation_from_it() -> None:
    models = Models({"m": 0.8})
    found = await of_typical(models, models.sample(PASSAGES))
    assert (found.mean(), found.std()) == pytest.approx((0.0, 1.0), abs=1e-3)
    (same,) = await scores(models, [QUESTION])
    assert same > max(4.0, (await scores(models)).max())


async def test_models_with_cosines_in_different_places_are_added_on_one_scale() -> None:
    low, high = await scores(Models({"low": 0.05})), await scores(Models({"high": 0.85}))
    both = await scores(Models({"low": 0.05, "high": 0.85}))
    assert both == pytest.approx((low + high) / 2, abs=1e-3)


@pytest.mark.parametrize("language", ["en", "nl", "eo"])
async def test_a_model_that_does_not_read_the_question_s_language_has_less_of_a_say(language: str) -> None:
    floors = {ENGLISH_ONLY: 0.1, MULTILINGUAL: 0.8}
    english, multilingual = [
        await scores(Models({model: floor}), language=language) for model, floor in floors.items()
    ]
    weight = 1.0 if language == "en" else UNREAD
    assert UNREAD < 1.0
    assert await scores(Models(floors), language=language) == pytest.approx(
        (weight * english + multilingual) / (weight + 1), abs=1e-3
    )


async def test_where_no_model_reads_the_language_the_question_is_asked_all_the_same() -> None:
    models = Models({ENGLISH_ONLY: 0.1})
    found = await of_typical(models, models.sample(PASSAGES), language="nl")
    assert found.std() == pytest.approx(1.0, abs=1e-3)


TONGUE, SUBJECT = "Geschreven in die taal.", "Says what was asked for."


def speaking(language: str) -> Models:
    """All questions in the language point along the first axis, and so does what is merely written in it."""
    asked = {
        one: (1.0, 0.0, 0.3 * (-1) ** at) for at, one in enumerate(typical_questions().get(language, ()))
    }
    return Models({"m": 0.5}, known={**asked, QUESTION: (0.75, 0.65), TONGUE: (1.0,), SUBJECT: (0.0, 1.0)})


async def test_what_all_questions_in_a_language_have_in_common_does_not_find_pages_in_that_language() -> None:
    tongue, subject = await scores(speaking("nl"), [TONGUE, SUBJECT], language="nl")
    assert subject > tongue


async def test_of_a_language_without_typical_questions_nothing_is_taken_away() -> None:
    assert "eo" not in typical_questions()
    tongue, subject = await scores(speaking("eo"), [TONGUE, SUBJECT], language="eo")
    assert tongue > subject


async def test_typical_questions_of_a_language_are_embedded_once_and_only_when_it_is_spoken() -> None:
    models = Models({"m": 0.5})
    scale = Scale(models, models.sample(PASSAGES))
    for _ in range(2):
        await scale.probes([QUESTION, "Hoe lang?"], ["en", "nl"])
    scale.renew(models.sample(PASSAGES[:100]))
    await scale.probes([QUESTION], ["en"])
    assert sorted(one[0] for one in models.asked) == sorted(
        [QUESTION] * 3 + [typical_questions()[language][0] for language in ("en", "nl")]
    )


@pytest.mark.parametrize("passages", [1, 2, 5])
async def test_with_few_passages_what_is_asked_for_stands_out_and_none_are_embedded(passages: int) -> None:
    models = Models({"one": 0.1, "other": 0.8}, known={QUESTION: (1.0,), "passage 0": (1.0, 0.2)})
    scale = Scale(models, models.sample(PASSAGES[:passages]))
    (probe,) = await scale.probes([QUESTION], ["en"])
    near, *far = probe.scores(models.vectors(PASSAGES))
    assert near > 2.5
    assert near > max(far)
    assert models.documents == []


async def test_without_passages_similarity_is_told_as_the_plain_cosine() -> None:
    models = Models({"m": 0.5})
    scale = Scale(models, np.empty(0, dtype=np.float32))
    (probe,) = await scale.probes([QUESTION], ["eo"])
    passages = models.vectors(PASSAGES)
    assert probe.scores(passages) == pytest.approx(passages @ models.vectors([QUESTION])[0], abs=1e-5)


async def test_a_small_knowledge_base_about_one_thing_does_not_make_its_own_pages_average() -> None:
    """A question about that thing is nearer to them than questions about anything are."""
    subject = {f"passage {at}": (1.0, 0.02 * at) for at in range(5)}
    models = Models({"m": 0.5}, known={QUESTION: (1.0, 0.05), **subject})
    scale = Scale(models, models.sample(list(subject)))
    about, other = await scale.probes([QUESTION, "Another question"], ["en", "en"])
    pages = models.vectors(list(subject))
    assert min(about.scores(pages)) > 2.5 > max(other.scores(pages))


async def test_a_question_that_is_near_to_all_passages_keeps_its_lead_over_typical_ones() -> None:
    """Its scores are not beside its own mean: that would take its evidence away."""
    passages = {one: (1.0, 0.1 * (-1) ** at) for at, one in enumerate(PASSAGES)}
    models = Models({"m": 0.5}, known={QUESTION: (1.0,), **passages})
    assert (await scores(models)).min() > 2.5


async def test_passages_that_are_all_the_same_are_no_error() -> None:
    models = Models({"m": 0.5})
    scale = Scale(models, np.repeat(models.sample([PASSAGES[0]]), 100, axis=0))
    (probe,) = await scale.probes([QUESTION], ["en"])
    assert np.isfinite(probe.scores(models.vectors(PASSAGES))).all()


async def test_an_engine_s_cosines_are_turned_back_into_the_same_scores(tmp_path: Path) -> None:
    models = Models({ENGLISH_ONLY: 0.1, MULTILINGUAL: 0.8})
    index, lexical = EdgeIndex(tmp_path), LexicalEncoder()
    chunks = [a_passage(text, title=text) for text in PASSAGES]
    manifest = IndexManifest(embedder="two models", dimension=2 * (SIZE + 1), chunker="v1")
    rebuild = await index.begin_rebuild(manifest)
    await rebuild.replace_pages(
        {
            chunk.page.id: [
                IndexedChunk(chunk=chunk, dense=vector.tolist(), lexical=lexical.document(chunk.text, "en"))
            ]
            for chunk, vector in zip(chunks, models.vectors(PASSAGES), strict=True)
        }
    )
    await rebuild.swap()
    search = Search(index, models, lexical, SearchSettings())

    for language in ("en", "nl"):
        queries = [
            WeightedQuery(text=QUESTION, weight=1.0),
            WeightedQuery(text="Another wording", weight=1.0, context=True),
        ]
        found = await search.search(queries, audience=Audience(), language=language, every=True)
        texts = [hit.chunk.text for hit in found.hits]
        assert len(texts) >= 50
        dense = [hit.scores.dense for hit in found.hits]
        assert dense == pytest.approx(await search.nearness(QUESTION, texts, language=language), abs=1e-3)
        assert dense == pytest.approx(await scores(models, texts, language=language), abs=1e-3)
    await index.close()


def test_the_same_number_of_different_questions_is_typical_of_every_language() -> None:
    typical = typical_questions()
    assert typical.keys() >= SURE_LANGUAGES
    assert len({len(questions) for questions in typical.values()}) == 1
    assert all(len(set(questions)) == len(questions) > 10 for questions in typical.values())
