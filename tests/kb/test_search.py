"""What a search asks of the embedder and of the index, and when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from kb.config.search_settings import SearchSettings
from kb.errors import EmbedderUnavailableError, IndexUnavailableError
from kb.index.port import Candidate, Choose, QueryVectors, StoredPassage
from kb.inference.embedder import Space
from kb.models import Audience
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.queries import WeightedQuery
from kb.retrieval.search import BELIEVED_S, PASSAGES, Search
from kb.retrieval.standard_scores import typical_questions
from tests.fakes.passages import a_candidate, a_passage, chosen

UNTYPICAL = "eo"
"""A language without typical questions: nothing is taken away from a question's vector."""


def a_query(text: str, weight: float = 1.0) -> WeightedQuery:
    return WeightedQuery(text=text, weight=weight)


class FakeEmbedder:
    """Two numbers a text: a question points one way, a document another,
    and every third typical question like a document.
    """

    spaces = (Space(model="fake", part=slice(0, 2)),)

    def __init__(self, clock: FakeClock | None = None, error: Exception | None = None) -> None:
        self.asked: list[str] = []
        self.documents: list[str] = []
        self._clock = clock
        self._error = error

    async def embed_queries(self, texts: Sequence[str]) -> np.ndarray:
        if self._error:
            raise self._error
        if self._clock:
            self._clock.now += 0.020
        self.asked += texts
        typical = typical_questions()["en"]
        like_a_document = [text in typical and typical.index(text) % 3 == 0 for text in texts]
        return np.array([[0.0, 1.0] if one else [1.0, 0.0] for one in like_a_document], dtype=np.float32)

    async def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        self.documents += texts
        return np.tile(np.array([0.0, 1.0], dtype=np.float32), (len(texts), 1))


class FakeClock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class FakeIndex:
    """Answers with what it is given and remembers what it was asked."""

    def __init__(
        self,
        candidates: Sequence[Candidate] = (),
        languages: Sequence[str] = ("en",),
        clock: FakeClock | None = None,
        error: Exception | None = None,
    ) -> None:
        self.candidates = list(candidates)
        self.spoken = list(languages)
        self.searches: list[dict] = []
        self.language_calls = 0
        self.passages: list[StoredPassage] = []
        self.samples: list[int] = []
        self._clock = clock
        self._error = error

    async def search(
        self, queries: Sequence[QueryVectors], *, choose: Choose, **asked: Any
    ) -> list[Candidate]:
        if self._error:
            raise self._error
        if self._clock:
            self._clock.now += 0.003
        self.searches.append({"queries": queries, **asked})
        return chosen(self.candidates, choose, asked["anchor_pages"])

    async def languages(self) -> Sequence[str]:
        self.language_calls += 1
        return self.spoken

    async def sample(self, limit: int) -> Sequence[StoredPassage]:
        if self._error:
            raise self._error
        self.samples.append(limit)
        return self.passages[:limit]


def a_search(
    index: FakeIndex, embedder: FakeEmbedder | None = None, clock: FakeClock | None = None, **settings: object
) -> Search:
    return Search(
        index,
        embedder or FakeEmbedder(),
        LexicalEncoder(),
        SearchSettings(**settings),
        monotonic=clock or FakeClock(),
    )


async def test_all_wordings_go_into_one_engine_call_with_the_audience_and_the_anchors() -> None:
    index = FakeIndex([a_candidate("a", [0.5, 0.9], [0.0, 4.0])])
    audience = Audience(channels=frozenset({"C1"}))
    result = await a_search(index, leg_limit=33).search(
        [a_query("and when?", 0.3), a_query("when do holidays expire", 0.7)],
        audience=audience,
        language="en",
        anchor_pages=["leave"],
    )
    (asked,) = index.searches
    assert len(asked["queries"]) == 2
    assert (asked["audience"], asked["limit"], asked["anchor_pages"]) == (audience, 33, ["leave"])
    assert [hit.chunk.id for hit in result.hits] == ["a"]


async def test_the_best_are_read_and_as_many_of_the_anchor_pages() -> None:
    falling = [a_candidate(f"{n:03}", [1.0 - n / 200], [0.0]) for n in range(100)]
    anchor = falling[90].chunk.page.id
    search = a_search(FakeIndex(falling))

    async def read(**asked: Any) -> list[str]:
        found = await search.search([a_query("w")], audience=Audience(), language="en", **asked)
        return [hit.chunk.id for hit in found.hits]

    assert await read() == [f"{n:03}" for n in range(PASSAGES)]
    assert await read(anchor_pages=[anchor]) == [*(f"{n:03}" for n in range(PASSAGES)), "090"]
    assert await read(every=True) == [f"{n:03}" for n in range(100)]


async def test_passages_as_good_as_the_last_that_is_read_are_read_and_ordered_by_name() -> None:
    equal = [a_candidate(f"{n:03}", [0.5], [1.0]) for n in reversed(range(PASSAGES + 5))]
    found = await a_search(FakeIndex(equal)).search([a_query("w")], audience=Audience(), language="en")
    assert [hit.chunk.id for hit in found.hits] == [f"{n:03}" for n in range(PASSAGES + 5)]


async def test_embedding_and_searching_are_timed_apart() -> None:
    clock = FakeClock()
    search = a_search(FakeIndex(clock=clock), FakeEmbedder(clock), clock)
    await search.search([a_query("w")], audience=Audience(), language="en")  # embeds the typical questions
    result = await search.search([a_query("x")], audience=Audience(), language="en")
    assert result.embed_ms == pytest.approx(20)
    assert result.search_ms == pytest.approx(3)


async def test_a_question_is_stemmed_by_its_own_language_and_those_of_the_index() -> None:
    index = FakeIndex(languages=["de"])
    await a_search(index).search([a_query("de kosten")], audience=Audience(), language="nl")
    asked = index.searches[0]["queries"][0].lexical
    encoder = LexicalEncoder()
    assert set(asked.indices) == set(encoder.query("de kosten", ["nl", "de"]).indices)


async def test_the_index_is_asked_for_its_languages_once_a_minute() -> None:
    clock, index = FakeClock(), FakeIndex()
    search = a_search(index, clock=clock)
    for _ in range(3):
        await search.search([a_query("x")], audience=Audience(), language="en")
    assert index.language_calls == 1
    clock.now += BELIEVED_S + 1
    await search.search([a_query("x")], audience=Audience(), language="en")
    assert index.language_calls == 2


def stored(*vector: float) -> StoredPassage:
    return StoredPassage(chunk=a_passage("Text."), dense=vector)


async def test_the_sample_is_renewed_once_a_minute_and_nothing_is_embedded_for_it_again() -> None:
    clock, index, embedder = FakeClock(), FakeIndex(), FakeEmbedder()
    index.passages = [stored(1.0, 0.0), *(stored(0.0, 1.0) for _ in range(99))]
    search = a_search(index, embedder, clock)

    async def near() -> float:
        (score,) = await search.nearness("x", ["a text that is as far from it as any"], language=UNTYPICAL)
        return score

    before = [await near() for _ in range(3)]
    assert len(index.samples) == 1
    assert before[0] == before[2] < 0
    embedder.asked.clear()
    index.passages = [stored(1.0, 0.0) if at % 2 else stored(0.0, 1.0) for at in range(100)]
    assert await near() == before[0]
    clock.now += BELIEVED_S + 1
    assert await near() == pytest.approx(-1.0) != before[0]
    assert len(index.samples) == 2
    assert embedder.asked == ["x", "x"]


async def test_similarity_leaves_a_search_as_standard_scores() -> None:
    index = FakeIndex([a_candidate("a", [1.0], [0.0]), a_candidate("b", [0.0], [0.0])])
    index.passages = [stored(1.0, 0.0) if at % 2 else stored(0.0, 1.0) for at in range(100)]
    result = await a_search(index).search([a_query("x")], audience=Audience(), language=UNTYPICAL)
    assert [hit.scores.dense for hit in result.hits] == pytest.approx([1.0, -1.0])


async def test_texts_are_embedded_once_and_none_ask_for_nothing() -> None:
    embedder = FakeEmbedder()
    search = a_search(FakeIndex(), embedder)
    assert list(await search.nearness("x", [], language="en")) == []
    for _ in range(2):
        assert len(await search.nearness("x", ["one", "two", "one"], language="en")) == 3
    assert embedder.documents == ["one", "two"]


async def test_vectors_of_another_length_than_the_index_has_are_an_outage() -> None:
    index = FakeIndex()
    index.passages = [stored(1.0, 0.0, 0.0)]
    with pytest.raises(IndexUnavailableError, match="3 numbers, not 2"):
        await a_search(index).search([a_query("x")], audience=Audience(), language="en")


async def test_an_empty_index_is_asked_for_its_languages_again_at_once() -> None:
    index = FakeIndex(languages=[])
    search = a_search(index)
    await search.search([a_query("x")], audience=Audience(), language="en")
    index.spoken = ["nl"]
    await search.search([a_query("x")], audience=Audience(), language="en")
    assert index.language_calls == 2


@pytest.mark.parametrize("error", [IndexUnavailableError("down"), EmbedderUnavailableError("gone")])
async def test_an_outage_is_raised_and_never_an_empty_result(error: Exception) -> None:
    index = FakeIndex(error=error if isinstance(error, IndexUnavailableError) else None)
    embedder = FakeEmbedder(error=error if isinstance(error, EmbedderUnavailableError) else None)
    with pytest.raises(type(error)):
        await a_search(index, embedder).search([a_query("x")], audience=Audience(), language="en")
