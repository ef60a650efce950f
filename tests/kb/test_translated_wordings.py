"""The question in the language of the pages as one more wording: its
weight, and by which language its words are stemmed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from kb.config.search_settings import SearchSettings
from kb.index.port import Candidate, QueryVectors, StoredPassage
from kb.inference.embedder import Space
from kb.models import Audience, Rewrite
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.queries import WeightedQuery, build_queries
from kb.retrieval.search import Search

DUTCH, ENGLISH = "Hoeveel vakantiedagen krijg ik?", "How many holidays do I get?"


def weights(rewrite: Rewrite, **settings: float) -> list[tuple[str, float, str]]:
    found = build_queries(
        "Hoeveel krijg ik?", rewrite, (), SearchSettings.model_validate(settings), pages_language="en"
    )
    return [(query.text, pytest.approx(query.weight), query.language) for query in found]


def test_a_translation_takes_its_share_of_the_rewrites_weight() -> None:
    rewrite = Rewrite(query=DUTCH, needs_rewrite=True, method="model", translated=ENGLISH)
    assert weights(rewrite) == [("Hoeveel krijg ik?", 0.3, ""), (DUTCH, 0.35, ""), (ENGLISH, 0.35, "en")]
    assert weights(rewrite, translation_share=0.0) == [("Hoeveel krijg ik?", 0.3, ""), (DUTCH, 0.7, "")]


def test_beside_a_question_that_needed_no_rewrite_stands_its_translation() -> None:
    rewrite = Rewrite(query="Hoeveel krijg ik?", translated="How much do I get?")
    assert weights(rewrite) == [("Hoeveel krijg ik?", 0.65, ""), ("How much do I get?", 0.35, "en")]


class Embedder:
    spaces = (Space(model="fake", part=slice(0, 2)),)

    async def embed_queries(self, texts: Sequence[str]) -> np.ndarray:
        return np.ones((len(texts), 2), dtype=np.float32)

    async def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        return np.ones((len(texts), 2), dtype=np.float32)


class Index:
    """Remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[QueryVectors] = []

    async def search(self, queries: Sequence[QueryVectors], **_: object) -> list[Candidate]:
        self.asked += queries
        return []

    async def languages(self) -> Sequence[str]:
        return ("en", "nl")

    async def sample(self, limit: int) -> Sequence[StoredPassage]:
        return []


async def test_a_translation_is_stemmed_by_its_own_language_and_loses_its_own_small_words() -> None:
    index, lexical = Index(), LexicalEncoder()
    search = Search(index, Embedder(), lexical, SearchSettings())  # type: ignore[arg-type]
    queries = [
        WeightedQuery(text=DUTCH, weight=0.5),
        WeightedQuery(text=ENGLISH, weight=0.5, language="en"),
    ]
    await search.search(queries, audience=Audience(), language="nl")
    own, translation = index.asked
    assert own.lexical == lexical.query(DUTCH, ["nl", "en"])
    assert translation.lexical == lexical.query(ENGLISH, ["en", "nl"])
    assert set(lexical.stems("holiday", "en")) <= set(translation.lexical.indices)
    assert set(lexical.stems("how", "nl")).isdisjoint(translation.lexical.indices)
