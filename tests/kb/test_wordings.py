"""In which wordings a question is searched for, and what each weighs."""

from __future__ import annotations

from kb.config.search_settings import SearchSettings
from kb.models import Rewrite
from kb.retrieval.queries import WeightedQuery, build_queries, merge_queries


def a_query(text: str, weight: float = 1.0) -> WeightedQuery:
    return WeightedQuery(text=text, weight=weight)


def test_what_the_rules_guess_weighs_less_than_what_they_or_a_model_know() -> None:
    settings = SearchSettings(original_weight=0.3, original_weight_guess=0.5)
    guessed = build_queries("it?", Rewrite(query="mulch?", method="heuristic", confidence=0.6), (), settings)
    ruled = build_queries("it?", Rewrite(query="mulch?", method="heuristic", confidence=0.9), (), settings)
    modelled = build_queries("it?", Rewrite(query="mulch?", method="model", confidence=0.8), (), settings)
    assert [query.weight for query in guessed] == [0.5, 0.5]
    assert ruled == modelled == [a_query("it?", 0.3), a_query("mulch?", 0.7)]


def test_a_question_that_stands_alone_is_one_wording_and_one_more_among_the_thread_s_words() -> None:
    alone = build_queries(
        "what is mulch?", Rewrite(query="what is mulch?"), ("price",), SearchSettings(context_weight=1.0)
    )
    assert alone == [
        a_query("what is mulch?", 1.0),
        WeightedQuery(text="what is mulch? (price)", weight=1.0, context=True),
    ]


def test_equal_wordings_become_one_with_their_weights_added() -> None:
    assert merge_queries([a_query("x", 0.3), a_query("x", 0.7), a_query("y", 0.0)]) == [a_query("x", 1.0)]
