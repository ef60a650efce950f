"""What the passages that were found hold of the question: what their evidence is scored by (`kb.confidence`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kb.confidence import EvidenceFeatures
from kb.lexical import LexicalEncoder
from kb.models import Chunk, Hit
from kb.text.lexicon import lexicon, words_of
from kb.vocabulary import Vocabulary

UNTOLD = 0.5
"""Share of a question's words that a passage in another language counts as holding at least: its words tell neither way."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceReader:
    """`vocabulary` tells which of a question's words are rare and so tell more."""

    lexical: LexicalEncoder
    vocabulary: Vocabulary

    def features(
        self, query: str, hits: Sequence[Hit], language: str, *, translated: str = ""
    ) -> EvidenceFeatures:
        """Of these passages, best first. `language` is the question's.

        `translated`: the query in the pages' language, by which pages in another language than the question's are read.
        """
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
