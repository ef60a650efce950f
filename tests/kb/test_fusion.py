"""How similarity and words become one score, and when the words of a thread count."""

from __future__ import annotations

import numpy as np
import pytest

from kb.config.search_settings import SearchSettings
from kb.retrieval.fusion import by_rank, by_score, context_share, fuse
from kb.retrieval.queries import WeightedQuery
from tests.fakes.passages import a_candidate


def a_query(text: str, weight: float = 1.0) -> WeightedQuery:
    return WeightedQuery(text=text, weight=weight)


def weighted(*weights: float) -> list[WeightedQuery]:
    return [a_query(f"wording {at}", weight) for at, weight in enumerate(weights)]


def test_the_best_candidate_s_similarity_is_1_the_average_one_s_0_and_words_are_beside_the_best() -> None:
    fused = by_score(np.array([[8.0], [5.0], [2.0]]), np.array([[2.0], [8.0], [0.0]]), dense_weight=0.7)
    assert fused[:, 0] == pytest.approx([0.7 + 0.3 * 0.25, 0.3, -0.7])


def test_a_query_without_any_lexical_match_is_fused_by_meaning() -> None:
    fused = by_score(np.array([[8.0, 5.0], [2.0, 1.0]]), np.array([[0.0, 3.0], [0.0, 0.0]]), dense_weight=0.7)
    assert fused[:, 0] == pytest.approx([0.7, -0.7])
    assert fused[:, 1] == pytest.approx([1.0, -0.7])


@pytest.mark.parametrize(("stretched", "moved"), [(0.05, 0.0), (1.0, -3.0), (10.0, 80.0)])
def test_the_score_fusion_does_not_depend_on_the_scale_of_similarity(stretched: float, moved: float) -> None:
    dense, lexical = np.array([[8.0], [5.0], [1.0]]), np.array([[0.0], [8.0], [3.0]])
    expected = by_score(dense, lexical, dense_weight=0.7)
    assert by_score(stretched * dense + moved, lexical, dense_weight=0.7) == pytest.approx(expected)


def test_a_single_candidate_and_equal_ones_are_told_apart_by_words_alone() -> None:
    assert by_score(np.array([[6.0]]), np.array([[2.0]]), dense_weight=0.7) == pytest.approx(0.3)
    fused = by_score(np.array([[6.0], [6.0]]), np.array([[0.0], [2.0]]), dense_weight=0.7)
    assert fused[:, 0] == pytest.approx([0.0, 0.3])


def test_the_score_fusion_is_1_at_most() -> None:
    fused = by_score(np.array([[-0.9], [9.0]]), np.array([[0.0], [99.0]]), dense_weight=0.7)
    assert fused.max() == pytest.approx(1.0)


def test_the_rank_fusion_gives_the_winner_of_both_lists_1_and_ranks_only_lexical_matches() -> None:
    fused = by_rank(np.array([[0.9], [0.5], [0.1]]), np.array([[7.0], [0.0], [3.0]]), dense_weight=0.5, k=60)
    assert fused[:, 0] == pytest.approx([1.0, 0.5 * 61 / 62, 0.5 * 61 / 63 + 0.5 * 61 / 62])


def test_equal_scores_share_the_better_rank() -> None:
    fused = by_rank(np.array([[0.9], [0.9], [0.1]]), np.zeros((3, 1)), dense_weight=1.0, k=1)
    assert fused[:, 0] == pytest.approx([1.0, 1.0, 2 / 4])


def test_hits_keep_the_weighted_mean_of_every_stage() -> None:
    candidates = [a_candidate("a", [5.0, 9.0], [0.0, 4.0]), a_candidate("b", [7.0, 1.0], [6.0, 0.0])]
    hits = fuse(candidates, weighted(0.3, 0.7), SearchSettings(dense_weight=0.7))
    assert [hit.chunk.id for hit in hits] == ["a", "b"]
    first = hits[0].scores
    assert first.dense == pytest.approx(0.3 * 5.0 + 0.7 * 9.0)
    assert first.lexical == pytest.approx(0.7 * 4.0)
    assert first.fused == pytest.approx(0.3 * (0.7 * -1.0) + 0.7 * (0.7 + 0.3))
    assert first.final == first.fused
    assert (first.anchor, first.rerank) == (0.0, None)


@pytest.mark.parametrize(("best", "need"), [(9.0, 0.0), (8.0, 0.0), (6.0, 0.5), (4.0, 1.0), (1.0, 1.0)])
def test_the_thread_s_words_count_the_less_the_better_the_question_finds_alone(
    best: float, need: float
) -> None:
    dense = np.array([[best, 9.0], [0.5, 9.5]])
    queries = [a_query("it?"), WeightedQuery(text="it? (mulch)", weight=1.0, context=True)]
    settings = SearchSettings(context_strong=8.0, context_weak=4.0)
    assert context_share(dense, queries, settings) == pytest.approx(need)


def test_where_a_question_s_own_best_is_no_range_the_thread_s_words_count_in_full() -> None:
    queries = [a_query("it?"), WeightedQuery(text="it? (mulch)", weight=1.0, context=True)]
    settings = SearchSettings(context_strong=4.0, context_weak=4.0)
    assert context_share(np.array([[9.0, 1.0]]), queries, settings) == 1.0


def test_without_a_thread_nothing_of_it_counts() -> None:
    assert context_share(np.array([[0.1]]), [a_query("it?")], SearchSettings()) == 0.0


def test_a_search_among_the_words_of_the_thread_orders_but_is_no_evidence() -> None:
    candidates = [a_candidate("a", [1.0, 9.0], [1.0, 4.0]), a_candidate("b", [2.0, 1.0], [2.0, 0.0])]
    queries = [a_query("it?"), WeightedQuery(text="it? (mulch)", weight=1.0, context=True)]
    hits = fuse(candidates, queries, SearchSettings(dense_weight=0.7, context_weak=4.0))
    assert [hit.chunk.id for hit in hits] == ["a", "b"]
    assert (hits[0].scores.dense, hits[0].scores.lexical) == (1.0, 1.0)
    assert hits[0].scores.fused == pytest.approx((-0.7 + 0.3 * 0.5 + 0.7 + 0.3) / 2)


def test_a_question_that_finds_its_page_alone_is_not_drawn_back_to_the_thread() -> None:
    candidates = [a_candidate("old", [3.0, 9.0], [1.0, 4.0]), a_candidate("new", [19.0, 1.0], [2.0, 0.0])]
    queries = [a_query("parking?"), WeightedQuery(text="parking? (mulch)", weight=1.0, context=True)]
    assert fuse(candidates, queries, SearchSettings())[0].chunk.id == "new"


def test_weights_are_shares_whatever_they_add_up_to() -> None:
    candidates = [a_candidate("a", [0.5, 0.9], [1.0, 4.0])]
    assert fuse(candidates, weighted(3, 7), SearchSettings()) == fuse(
        candidates, weighted(0.3, 0.7), SearchSettings()
    )


def test_equal_hits_always_come_in_the_same_order() -> None:
    same = [a_candidate(name, [0.5], [1.0]) for name in ("c", "a", "b")]
    assert [hit.chunk.id for hit in fuse(same, weighted(1.0), SearchSettings())] == ["a", "b", "c"]


def test_the_fusion_is_a_setting() -> None:
    # By score, c's large lead in words wins; by rank, a lead is a lead.
    candidates = [
        a_candidate("a", [8.0], [1.0]),
        a_candidate("b", [2.0], [0.5]),
        a_candidate("c", [7.8], [10.0]),
        a_candidate("d", [7.9], [0.9]),
    ]
    by_scores = fuse(candidates, weighted(1.0), SearchSettings(fusion="scores", dense_weight=0.7))
    by_ranks = fuse(candidates, weighted(1.0), SearchSettings(fusion="rrf", dense_weight=0.7))
    assert by_scores[0].chunk.id == "c"
    assert by_ranks[0].chunk.id == "a"


def test_nothing_found_is_an_empty_list() -> None:
    assert fuse([], weighted(1.0), SearchSettings()) == []
