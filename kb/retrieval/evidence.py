"""What the passages that were found hold of the question: what their
evidence is scored by (`kb.retrieval.confidence`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kb.citations.prompt_injection import strip_injections
from kb.models import Chunk, Hit
from kb.retrieval.confidence import Evidence, EvidenceFeatures, RelevanceModel, score_evidence
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.vocabulary import Vocabulary
from kb.retrieval.weights import default_model
from kb.text.lexicon import lexicon, words_of

UNTOLD = 0.5
"""Share of a question's words that a passage in another language counts
as holding at least: its words tell neither way.
"""
SAYS_ENOUGH = 0.5
"""Share of a passage that has to be left without its orders: what it was found by is otherwise not what it may say."""


def without_ordering(hits: Sequence[Hit]) -> list[Hit]:
    """Drops what gives orders to an assistant, before it is judged
    whether there is enough: nobody will be quoted by it.

    A passage that is little else was found for its orders, so its similarity to the question tells nothing.
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
        """Measures the best of `hits`, which are without orders (`without_ordering`). `language` is the question's.

        `translated`: the query in the pages' language, by which pages in another language than the question's are read.
        """
        hits = hits[: self.keep]
        return EvidenceFeatures(
            hits=hits,
            coverages=[self._coverage(query, hit.chunk, language, translated) for hit in hits],
            shares_words=self._shares_words(query, hits, language),
        )

    def _coverage(self, query: str, chunk: Chunk, language: str, translated: str) -> float:
        spoken, rarity = chunk.page.language, self.vocabulary.rarity
        if spoken == language:
            return self.lexical.coverage(query, chunk, language, rarity=rarity)
        if translated:
            return self.lexical.coverage(translated, chunk, spoken, rarity=rarity)
        return max(UNTOLD, self.lexical.coverage(query, chunk, language, rarity=rarity))

    def _shares_words(self, query: str, hits: Sequence[Hit], language: str) -> bool:
        """Whether a passage holds a word that tells what is asked ("how many" tells nothing); True across languages."""
        if any(hit.chunk.page.language != language for hit in hits):
            return True
        telling = " ".join(word for word in words_of(query) if lexicon(language).is_content(word))
        return not telling or any(self.lexical.coverage(telling, hit.chunk, language) for hit in hits)
