"""Builds the queries of a question and their weights. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kb.config.search_settings import SearchSettings
from kb.models import Rewrite
from kb.retrieval.thread_words import in_context

SURE = 0.9
"""Confidence from which a rewrite by rules counts as sure: a step in a series, a reference, an opener."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WeightedQuery:
    """One query of a question and its weight in the fused score.

    `context`: it also holds words of the thread. It helps to find and to rank, but similarity to it is no evidence that
    a passage answers, so `Scores.dense` and `Scores.lexical` leave it out. `language`: ISO 639-1, by which its words
    are stemmed; "" for the question's.
    """

    text: str
    weight: float
    context: bool = False
    language: str = ""


def build_queries(
    question: str,
    rewrite: Rewrite,
    context: Sequence[str],
    settings: SearchSettings,
    *,
    pages_language: str = "",
) -> list[WeightedQuery]:
    """Builds the queries: the user's own words, the rewrite, its translation, and the question with the thread's words.

    `pages_language`: the ISO 639-1 code of the translation's language.
    """
    guessed = rewrite.method == "heuristic" and rewrite.confidence < SURE
    original = settings.original_weight_guess if guessed else settings.original_weight
    queries = [
        WeightedQuery(text=question, weight=original),
        *with_translation(rewrite, rewrite.query, 1.0 - original, settings, pages_language=pages_language),
    ]
    if context:
        rewritten = rewrite.needs_rewrite and not guessed
        weight = settings.context_weight_rewritten if rewritten else settings.context_weight
        queries.append(WeightedQuery(text=in_context(question, context), weight=weight, context=True))
    return merge_queries(queries)


def with_translation(
    rewrite: Rewrite, text: str, weight: float, settings: SearchSettings, *, pages_language: str
) -> list[WeightedQuery]:
    """Builds the query of `text`, and of the rewrite's translation, which takes its share of the weight."""
    share = settings.translation_share if rewrite.translated else 0.0
    return [
        WeightedQuery(text=text, weight=weight * (1 - share)),
        WeightedQuery(text=rewrite.translated, weight=weight * share, language=pages_language),
    ]


def merge_queries(queries: Sequence[WeightedQuery]) -> list[WeightedQuery]:
    """Merges equal queries, adding their weights, and drops queries without weight."""
    weights: dict[tuple[str, bool, str], float] = {}
    for query in queries:
        key = (query.text, query.context, query.language)
        weights[key] = weights.get(key, 0.0) + query.weight
    return [
        WeightedQuery(text=text, weight=weight, context=context, language=language)
        for (text, context, language), weight in weights.items()
        if weight > 0
    ]
