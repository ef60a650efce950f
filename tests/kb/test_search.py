from collections.abc import Sequence

import numpy as np
import pytest

from kb.errors import EmbedderUnavailableError, IndexUnavailableError
from kb.index.port import Candidate, QueryVectors
from kb.lexical import LexicalEncoder
from kb.models import Audience, Chunk, Page, Rewrite
from kb.search import Search, WeightedQuery, by_rank, by_score, context_need, fuse, merged, wordings
from kb.settings import SearchSettings


def a_candidate(chunk_id: str, dense: Sequence[float], lexical: Sequence[float]) -> Candidate:
    page = Page(id=f"page-of-{chunk_id}", source="s", path="p.md", title="T", url="https://kb.example/p")
    chunk = Chunk(id=chunk_id, page=page, position=0, text="text", url=page.url)
    return Candidate(chunk=chunk, dense=tuple(dense), lexical=tuple(lexical))


def a_query(text: str, weight: float = 1.0) -> WeightedQuery:
    return WeightedQuery(text=text, weight=weight)


def weighted(*weights: float) -> list[WeightedQuery]:
    return [a_query(f"wording {at}", weight) for at, weight in enumerate(weights)]


class FakeEmbedder:
    """Two numbers a text: nothing is read out of them here."""

    def __init__(self, clock: "FakeClock | None" = None, error: Exception | None = None) -> None:
        self.asked: list[str] = []
        self._clock = clock
        self._error = error

    async def embed_queries(self, texts: Sequence[str]) -> np.ndarray:
        if self._error:
            raise self._error
        if self._clock:
            self._clock.now += 0.020
        self.asked += texts
        return np.ones((len(texts), 2), dtype=np.float32)


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
        self._clock = clock
        self._error = error

    async def search(self, queries: Sequence[QueryVectors], **asked: object) -> list[Candidate]:
        if self._error:
            raise self._error
        if self._clock:
            self._clock.now += 0.003
        self.searches.append({"queries": queries, **asked})
        return self.candidates

    async def languages(self) -> Sequence[str]:
        self.language_calls += 1
        return self.spoken


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


def test_the_score_fusion_weighs_cosine_against_bm25_relative_to_the_best() -> None:
    fused = by_score(np.array([[0.8], [0.4]]), np.array([[2.0], [8.0]]), dense_weight=0.7)
    assert fused[:, 0] == pytest.approx([0.7 * 0.8 + 0.3 * 0.25, 0.7 * 0.4 + 0.3])


def test_a_query_without_any_lexical_match_is_fused_by_meaning() -> None:
    fused = by_score(np.array([[0.8, 0.5]]), np.array([[0.0, 3.0]]), dense_weight=0.7)
    assert fused[0] == pytest.approx([0.56, 0.65])


def test_the_score_fusion_stays_within_0_and_1() -> None:
    fused = by_score(np.array([[-0.9], [1.0]]), np.array([[0.0], [99.0]]), dense_weight=0.7)
    assert fused[:, 0] == pytest.approx([0.0, 1.0])


def test_the_rank_fusion_gives_the_winner_of_both_lists_1_and_ranks_only_lexical_matches() -> None:
    fused = by_rank(np.array([[0.9], [0.5], [0.1]]), np.array([[7.0], [0.0], [3.0]]), dense_weight=0.5, k=60)
    assert fused[:, 0] == pytest.approx([1.0, 0.5 * 61 / 62, 0.5 * 61 / 63 + 0.5 * 61 / 62])


def test_equal_scores_share_the_better_rank() -> None:
    fused = by_rank(np.array([[0.9], [0.9], [0.1]]), np.zeros((3, 1)), dense_weight=1.0, k=1)
    assert fused[:, 0] == pytest.approx([1.0, 1.0, 2 / 4])


def test_hits_keep_the_weighted_mean_of_every_stage() -> None:
    candidates = [a_candidate("a", [0.5, 0.9], [0.0, 4.0]), a_candidate("b", [0.7, 0.1], [6.0, 0.0])]
    hits = fuse(candidates, weighted(0.3, 0.7), SearchSettings(dense_weight=0.7))
    assert [hit.chunk.id for hit in hits] == ["a", "b"]
    first = hits[0].scores
    assert first.dense == pytest.approx(0.3 * 0.5 + 0.7 * 0.9)
    assert first.lexical == pytest.approx(0.7 * 4.0)
    assert first.fused == pytest.approx(0.3 * (0.7 * 0.5) + 0.7 * (0.7 * 0.9 + 0.3))
    assert first.final == first.fused
    assert (first.anchor, first.rerank) == (0.0, None)


@pytest.mark.parametrize(("best", "need"), [(0.9, 0.0), (0.8, 0.0), (0.6, 0.5), (0.4, 1.0), (0.1, 1.0)])
def test_the_thread_s_words_count_the_less_the_better_the_question_finds_alone(
    best: float, need: float
) -> None:
    candidates = [a_candidate("a", [best, 0.9], [0.0, 0.0]), a_candidate("b", [0.05, 0.95], [0.0, 0.0])]
    queries = [a_query("it?"), WeightedQuery(text="it? (mulch)", weight=1.0, context=True)]
    settings = SearchSettings(context_strong=0.8, context_weak=0.4)
    assert context_need(candidates, queries, settings) == pytest.approx(need)


def test_without_a_thread_nothing_of_it_counts() -> None:
    assert context_need([a_candidate("a", [0.1], [0.0])], [a_query("it?")], SearchSettings()) == 0.0


def test_a_search_among_the_words_of_the_thread_orders_but_is_no_evidence() -> None:
    candidates = [a_candidate("a", [0.3, 0.9], [1.0, 4.0]), a_candidate("b", [0.4, 0.1], [2.0, 0.0])]
    queries = [a_query("it?"), WeightedQuery(text="it? (mulch)", weight=1.0, context=True)]
    hits = fuse(candidates, queries, SearchSettings(dense_weight=0.7))
    assert [hit.chunk.id for hit in hits] == ["a", "b"]
    assert (hits[0].scores.dense, hits[0].scores.lexical) == (0.3, 1.0)
    assert hits[0].scores.fused == pytest.approx((0.7 * 0.3 + 0.3 * 0.5 + 0.7 * 0.9 + 0.3) / 2)


def test_a_question_that_finds_its_page_alone_is_not_drawn_back_to_the_thread() -> None:
    candidates = [a_candidate("old", [0.3, 0.9], [1.0, 4.0]), a_candidate("new", [0.85, 0.1], [2.0, 0.0])]
    queries = [a_query("parking?"), WeightedQuery(text="parking? (mulch)", weight=1.0, context=True)]
    assert fuse(candidates, queries, SearchSettings())[0].chunk.id == "new"


def test_what_the_rules_guess_weighs_less_than_what_they_or_a_model_know() -> None:
    settings = SearchSettings()
    guessed = wordings("it?", Rewrite(query="mulch?", method="heuristic", confidence=0.6), (), settings)
    ruled = wordings("it?", Rewrite(query="mulch?", method="heuristic", confidence=0.9), (), settings)
    modelled = wordings("it?", Rewrite(query="mulch?", method="model", confidence=0.8), (), settings)
    assert [query.weight for query in guessed] == [0.5, 0.5]
    assert ruled == modelled == [a_query("it?", 0.3), a_query("mulch?", 0.7)]


def test_a_question_that_stands_alone_is_one_wording_and_one_more_among_the_thread_s_words() -> None:
    alone = wordings("what is mulch?", Rewrite(query="what is mulch?"), ("price",), SearchSettings())
    assert alone == [
        a_query("what is mulch?", 1.0),
        WeightedQuery(text="what is mulch? (price)", weight=1.0, context=True),
    ]


def test_weights_are_shares_whatever_they_add_up_to() -> None:
    candidates = [a_candidate("a", [0.5, 0.9], [1.0, 4.0])]
    assert fuse(candidates, weighted(3, 7), SearchSettings()) == fuse(
        candidates, weighted(0.3, 0.7), SearchSettings()
    )


def test_equal_hits_always_come_in_the_same_order() -> None:
    same = [a_candidate(name, [0.5], [1.0]) for name in ("c", "a", "b")]
    assert [hit.chunk.id for hit in fuse(same, weighted(1.0), SearchSettings())] == ["a", "b", "c"]


def test_the_fusion_is_a_setting() -> None:
    # By score, b's large lead in words wins; by rank, a lead is a lead.
    candidates = [
        a_candidate("a", [0.80], [1.0]),
        a_candidate("b", [0.79], [9.0]),
        a_candidate("c", [0.78], [10.0]),
    ]
    by_scores = fuse(candidates, weighted(1.0), SearchSettings(fusion="scores"))
    by_ranks = fuse(candidates, weighted(1.0), SearchSettings(fusion="rrf"))
    assert by_scores[0].chunk.id == "c"
    assert by_ranks[0].chunk.id == "a"


def test_nothing_found_is_an_empty_list() -> None:
    assert fuse([], weighted(1.0), SearchSettings()) == []


def test_equal_wordings_become_one_with_their_weights_added() -> None:
    assert merged([a_query("x", 0.3), a_query("x", 0.7), a_query("y", 0.0)]) == [a_query("x", 1.0)]


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


async def test_embedding_and_searching_are_timed_apart() -> None:
    clock = FakeClock()
    search = a_search(FakeIndex(clock=clock), FakeEmbedder(clock), clock)
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
    clock.now += 61
    await search.search([a_query("x")], audience=Audience(), language="en")
    assert index.language_calls == 2


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
