"""Measures how far the passages hold what is asked, and scores them as evidence (`kb.retrieval.confidence`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kb.citations.prompt_injection import strip_injections
from kb.models import Chunk, Hit
from kb.retrieval.confidence import Evidence, EvidenceFeatures, RelevanceModel, score_evidence
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.vocabulary import Vocabulary
from kb.retrieval.weights import default_model

UNTOLD = 0.5
"""Least coverage of a passage in another language than the question's: its words tell neither way."""
SAYS_ENOUGH = 0.5
"""Share of a passage that must be left without its injected orders; else it was found for the orders alone."""


def without_injections(hits: Sequence[Hit]) -> list[Hit]:
    """Strips prompt injections from the passages before their evidence is scored.

    A passage that is little else was found for its orders, so it is dropped.
    """
    kept = []
    for hit in hits:
        text = strip_injections(hit.chunk.text)
        if text == hit.chunk.text:
            kept.append(hit)
        elif len(text.split()) >= SAYS_ENOUGH * len(hit.chunk.text.split()):
            kept.append(replace(hit, chunk=replace(hit.chunk, text=text)))
    return kept


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceScorer:
    """Tells how likely passages answer a question. `keep`: how many of the best ones it reads.

    `vocabulary` tells which of a question's words are rare and so tell more. `threshold` overrides the fitted one.
    """

    lexical: LexicalEncoder
    vocabulary: Vocabulary
    keep: int
    relevance: RelevanceModel = field(default_factory=default_model)
    threshold: float | None = None

    def score(self, features: EvidenceFeatures) -> Evidence:
        return score_evidence(features, self.relevance, threshold=self.threshold)

    def features(
        self, query: str, hits: Sequence[Hit], language: str, *, translated: str = ""
    ) -> EvidenceFeatures:
        """Measures the best of `hits`, which are `without_injections`. `language` is the question's.

        `translated`: the query in the pages' language, by which pages in another language than the question's are read.
        """
        hits = hits[: self.keep]
        return EvidenceFeatures(
            hits=hits,
            coverages=[self._coverage(query, hit.chunk, language, translated) for hit in hits],
        )

    def _coverage(self, query: str, chunk: Chunk, language: str, translated: str) -> float:
        rarity, foreign = self.vocabulary.rarity, chunk.page.language != language
        if foreign and translated:
            return self.lexical.coverage(translated, chunk, chunk.page.language, rarity=rarity)
        coverage = self.lexical.coverage(query, chunk, language, rarity=rarity)
        return max(UNTOLD, coverage) if foreign else coverage
