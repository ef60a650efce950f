"""Lexical vectors: BM25 term weights, stemmed by language, alike for both engines (which add the IDF).

A passage is stemmed by its own language, a question by its language and by every language of the index, so that a
Dutch question finds the English page that shares a product name with it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache

import qdrant_edge as engine

from kb.index.port import SparseVector
from kb.models import Chunk

STEMMED: Mapping[str, str] = {
    "ar": "arabic",
    "az": "azerbaijani",
    "bn": "bengali",
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "he": "hebrew",
    "hu": "hungarian",
    "id": "indonesian",
    "it": "italian",
    "ja": "japanese",
    "kk": "kazakh",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sl": "slovene",
    "sv": "swedish",
    "tg": "tajik",
    "tr": "turkish",
    "zh": "chinese",
}
"""ISO 639-1 -> the engine's name of the stop words (and, where it has one, the stemmer) of a language."""
UNSPACED = frozenset({"ja", "zh", "ko", "th", "lo", "km", "my"})
"""Languages without spaces: a dictionary finds their words. For others it is as good as the plain tokenizer, but
slower."""
AVERAGE_LENGTH = 90.0
"""Terms of an average passage after stop words: BM25's length correction is relative to it."""

ASKED_QUESTIONS = 64
"""Questions whose words are cached while they are compared with one sentence after the other."""

_WORD = re.compile(r"[^\W_]+")


Rarity = Callable[[Collection[int]], float]
"""Term ids of one word -> its weight, above 0: the rarer the heavier. See `kb.retrieval.vocabulary`."""


class LexicalEncoder:
    """Encodes texts as BM25 vectors. Thread-safe."""

    def __init__(self) -> None:
        self._models: dict[str, engine.Bm25] = {}
        self._making = threading.Lock()
        self._asked = lru_cache(maxsize=ASKED_QUESTIONS)(self._terms_asked)

    def document(self, text: str, language: str) -> SparseVector:
        """Returns the saturated term frequencies of a passage."""
        vector = self._model(language).embed_document(text)
        return SparseVector(indices=tuple(vector.indices), values=tuple(vector.values))

    def query(self, text: str, languages: Sequence[str]) -> SparseVector:
        """Returns one weight a term, over the stems of all `languages`; the question's own comes first.

        A stop word of the question's language is dropped before: elsewhere it would be a rare term ("de" in an
        English index) and outweigh every other.
        """
        content = " ".join(self._content_words(text, languages[0] if languages else ""))
        weights: dict[int, float] = {}
        for language in dict.fromkeys(languages or [""]):
            vector = self._model(language).embed_query(content)
            for term, weight in zip(vector.indices, vector.values, strict=True):
                weights[term] = max(weight, weights.get(term, 0.0))
        return SparseVector(indices=tuple(weights), values=tuple(weights.values()))

    def stems(self, text: str, language: str) -> tuple[int, ...]:
        """Returns the term ids of a text's content words, by the stemmer of one language."""
        return tuple(self._model(language).embed_query(text).indices)

    def coverage(
        self, query: str, passage: Chunk | str, language: str, *, rarity: Rarity | None = None
    ) -> float:
        """Returns the share (0..1) of the question's content words that the passage holds, in any of their forms.

        `language` is the question's; a passage that is a plain text is taken to be in the same. With `rarity` a word
        counts the more the fewer passages hold it. 1 for a question of stop words only: nothing is missing.
        """
        if isinstance(passage, str):
            text, other = passage, language
        else:
            text, other = passage.embedded_text, passage.page.language
        asked = self._asked(query, language, other)
        if not asked:
            return 1.0
        models = {self._model(code) for code in (language, other)}
        terms_held = {term for model in models for term in model.embed_query(text).indices}
        weights = [rarity(terms) if rarity else 1.0 for terms in asked]
        covered = sum(
            weight for weight, terms in zip(weights, asked, strict=True) if not terms.isdisjoint(terms_held)
        )
        return covered / sum(weights)

    def _terms_asked(self, query: str, language: str, other: str) -> tuple[frozenset[int], ...]:
        """Returns the term ids of each content word of a question, in its language and in a passage's."""
        models = [self._model(code) for code in dict.fromkeys((language, other))]
        words = dict.fromkeys(self._content_words(query, language))
        return tuple(
            frozenset(term for model in models for term in model.embed_query(word).indices) for word in words
        )

    def _content_words(self, text: str, language: str) -> list[str]:
        model = self._model(language)
        return [word for word in _WORD.findall(text) if model.embed_query(word).indices]

    def _model(self, language: str) -> engine.Bm25:
        with self._making:
            if language not in self._models:
                self._models[language] = engine.Bm25(self._config(language))
            return self._models[language]

    def _config(self, language: str) -> engine.Bm25Config:
        name = STEMMED.get(language)
        return engine.Bm25Config(
            avg_len=AVERAGE_LENGTH,
            tokenizer=engine.TokenizerType.Multilingual if language in UNSPACED else None,
            language=name,
            stopwords=None if name else engine.StopwordsSet(),
            stemmer=None if name else engine.DisabledStemmer(),
        )
