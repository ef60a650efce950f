import math

import numpy as np
import pytest

from kb.evaluation.metrics import METRICS, hit_ranks, interval, mean, measure, rouge_l

NO_TWINS: dict[str, str] = {}


def measured(ranking: str, relevant: str, twins: dict[str, str] = NO_TWINS) -> dict[str, float]:
    figures = measure(ranking.split(), relevant.split(), twins)
    return dict(zip(METRICS, figures, strict=True))


def test_a_perfect_ranking_is_one_everywhere():
    assert measured("a b x y z", "a b") == {"recall@5": 1, "ndcg@5": 1, "recall@20": 1, "mrr": 1}


def test_figures_are_those_computed_by_hand():
    figures = measured("x a y z w b", "a b c")
    assert figures["recall@5"] == pytest.approx(1 / 3)
    assert figures["recall@20"] == pytest.approx(2 / 3)
    assert figures["mrr"] == pytest.approx(1 / 2)
    gained = 1 / math.log2(3)  # "a" at rank 2; "b" at rank 6 is out of the first five
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert figures["ndcg@5"] == pytest.approx(gained / ideal)
    assert figures["ndcg@5"] == pytest.approx(0.2960819)


def test_nothing_found_is_zero_everywhere():
    assert set(measured("x y z", "a").values()) == {0.0}
    assert set(measured("", "a").values()) == {0.0}


def test_a_hit_below_the_twentieth_rank_counts_nowhere():
    ranking = " ".join(f"x{at}" for at in range(20)) + " a"
    assert set(measured(ranking, "a").values()) == {0.0}


def test_more_relevant_passages_than_five_still_allow_a_perfect_ndcg():
    figures = measured("a b c d e f", "a b c d e f g h")
    assert figures["ndcg@5"] == 1
    assert figures["recall@5"] == 5 / 8


def test_a_twin_of_a_relevant_passage_is_a_hit():
    twins = {"a": "a", "a2": "a"}
    assert measured("a2 x", "a", twins) == measured("a x", "a")


def test_the_same_text_twice_is_one_hit():
    twins = {"a": "a", "a2": "a"}
    assert hit_ranks(["a2", "a", "b"], ["a", "b"], twins) == [1, 3]
    assert measured("a2 a x", "a b", twins)["recall@5"] == 0.5


def test_two_relevant_twins_are_one_passage_to_find():
    twins = {"a": "a", "a2": "a"}
    assert measured("a2 x y", "a a2", twins) == measured("a x y", "a")


def test_a_question_without_labels_cannot_be_measured():
    with pytest.raises(ValueError, match="without relevant passages"):
        measure(["a"], [], NO_TWINS)


def test_the_mean_is_over_turns():
    assert mean(np.array([[0.0, 1.0], [1.0, 1.0]])) == (0.5, 1.0)


def test_an_interval_is_the_same_on_every_run_and_holds_the_mean():
    figures = np.random.default_rng(1).random((60, 2))
    talks = [f"c{at // 3}" for at in range(60)]
    first, again = interval(figures, talks), interval(figures, talks)
    assert first == again
    for at in range(2):
        assert first.low[at] < figures[:, at].mean() < first.high[at]
    assert interval(figures, talks, seed=1) != first


def test_turns_that_agree_have_an_interval_without_width():
    ends = interval(np.full((6, 1), 0.25), ["a", "a", "b", "b", "b", "c"])
    assert (ends.low, ends.high) == ((0.25,), (0.25,))


def test_an_interval_is_as_wide_as_the_normal_one_for_conversations_of_one_turn():
    figures = np.random.default_rng(2).random((400, 1))
    ends = interval(figures, [str(at) for at in range(400)])
    half = 1.96 * figures.std() / math.sqrt(400)
    assert ends.low[0] == pytest.approx(figures.mean() - half, abs=0.004)
    assert ends.high[0] == pytest.approx(figures.mean() + half, abs=0.004)


def test_turns_of_one_conversation_are_not_evidence_of_their_own():
    alone = interval(np.repeat([[0.0], [1.0]], 50, axis=0), [str(at) for at in range(100)])
    together = interval(np.repeat([[0.0], [1.0]], 50, axis=0), [str(at // 10) for at in range(100)])
    assert together.high[0] - together.low[0] > 2 * (alone.high[0] - alone.low[0])


def test_the_larger_conversation_weighs_more_in_a_resample():
    figures = np.array([[1.0], [1.0], [1.0], [0.0]])
    ends = interval(figures, ["long", "long", "long", "short"])
    assert (ends.low, ends.high) == ((0.0,), (1.0,))


@pytest.mark.parametrize(
    ("written", "gold", "expected"),
    [
        ("the price of wood mulch", "the price of wood mulch", 1.0),
        ("the price", "the price of wood mulch", 2 * 2 / 7),
        ("mulch price", "price mulch", 2 * 1 / 4),
        ("nothing alike", "the price", 0.0),
        ("", "the price", 0.0),
    ],
)
def test_rouge_l_is_the_f1_of_the_longest_common_subsequence(written: str, gold: str, expected: float):
    assert rouge_l(written.split(), gold.split()) == pytest.approx(expected)
