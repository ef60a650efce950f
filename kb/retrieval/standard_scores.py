"""Standard scores: what the similarity of a question and a passage means on this knowledge base.

A cosine means nothing by itself: unrelated passages lie near 0.1 with one embedding model and near 0.8 with
another, lower for a Japanese question than for an English one, higher where all pages are about one product.
So it is compared with the cosines of typical questions in the same language and a sample of these passages, in
standard deviations above their mean (a z-score). 0: as near as any question to any passage; from about 4:
what answers it. Scores of several models are on one scale then, and are added.

What the typical questions of a language have in common is subtracted from the question's vector.
"""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from kb.inference.embedder import Embedder, Space
from kb.inference.embedding_languages import reads

UNREAD = 0.1
"""Weight of a model that does not read the question's language, beside 1 of one that does. It still knows the names;
with more weight it takes pages in any other language for near. 0 costs 10 of 211 facts in the best two passages."""
SAMPLED = 256
"""Passages that typical questions are compared with: mean and deviation are then known to a few hundredths."""
TYPICAL = "en"
"""The language whose typical questions serve for languages without their own."""
LANGUAGE_SHARE = 0.5
"""Share of what the questions of a language have in common that is subtracted. From .5 to 1 all are about as good."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """A question on the scale: `vector @ passage - zero` is the passage's standard score. `length`: of `vector`."""

    vector: NDArray[np.float32]
    length: float
    zero: float

    def scores(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Scores of texts whose vectors are the rows, shape (texts,)."""
        scores: NDArray[np.float32] = vectors @ self.vector - self.zero
        return scores

    def of_cosine(self, cosine: float, *, length: float) -> float:
        """Returns the standard score of an engine's cosine; `length`: of the passages' vectors."""
        return cosine * self.length * length - self.zero


@dataclass(frozen=True, kw_only=True, slots=True)
class Background:
    """The scores of typical questions in one language with the passages of one index, in each space of the embedder.

    `common`: the mean of their vectors, 0 for a language without typical questions. `zeros` and `units`: mean and
    standard deviation of their cosines, without `common`.
    """

    spaces: Sequence[Space]
    common: NDArray[np.float32]
    zeros: Sequence[float]
    units: Sequence[float]

    @classmethod
    def of(
        cls,
        typical: NDArray[np.float32],
        sample: NDArray[np.float32],
        spaces: Sequence[Space],
        *,
        own: bool,
    ) -> Background:
        """Compares vectors of `typical` questions and of `sample` passages, one a row. `own`: in the same language."""
        common = typical.mean(axis=0) if own else np.zeros_like(typical[0])
        asked = typical - LANGUAGE_SHARE * common
        scores = [asked[:, space.part] @ sample[:, space.part].T for space in spaces]
        return cls(
            spaces=spaces,
            common=common,
            zeros=[float(of_space.mean()) if of_space.size else 0.0 for of_space in scores],
            units=[(float(of_space.std()) if of_space.size else 0.0) or 1.0 for of_space in scores],
        )

    def probe(self, vector: NDArray[np.float32], weights: Sequence[float]) -> Probe:
        """Puts a vector on the scale. `weights`: of the spaces, in their order."""
        asked = vector - LANGUAGE_SHARE * self.common
        scaled = np.zeros_like(asked)
        zero = 0.0
        for space, weight, mean, unit in zip(self.spaces, weights, self.zeros, self.units, strict=True):
            share = weight / sum(weights)
            scaled[space.part] = asked[space.part] * (share / unit)
            zero += share * mean / unit
        return Probe(vector=scaled, length=float(np.linalg.norm(scaled)), zero=zero)


class Scale:
    """The scale of one generation of the index: a sample of its passages, and each asked language's background."""

    def __init__(self, embedder: Embedder, sample: NDArray[np.float32]) -> None:
        """Takes a `sample` of passages' vectors of length 1, as an engine returns them, one a row."""
        self._embedder = embedder
        self._sample = sample
        self._typical: dict[str, NDArray[np.float32]] = {}
        self._backgrounds: dict[str, Background] = {}
        self._preparing = asyncio.Lock()

    @property
    def length(self) -> float:
        """Returns the length of a passage's vector, in which each model's part has length 1."""
        return float(len(self._embedder.spaces) ** 0.5)

    def renew(self, sample: NDArray[np.float32]) -> None:
        """Replaces the sample after pages have changed."""
        self._sample = sample
        self._backgrounds.clear()

    async def prepare(self, language: str) -> None:
        """Embeds the typical questions of a language ahead.

        Raises:
            EmbedderUnavailableError: the embedder does not answer.
        """
        await self._background(language)

    async def probes(self, texts: Sequence[str], languages: Sequence[str]) -> list[Probe]:
        """Embeds texts and puts each on the scale of its language (ISO 639-1).

        Raises:
            EmbedderUnavailableError: the embedder does not answer.
        """
        vectors = await self._embedder.embed_queries(texts)
        return [
            (await self._background(language)).probe(vector, self._weights(language))
            for vector, language in zip(vectors, languages, strict=True)
        ]

    async def _background(self, language: str) -> Background:
        """Returns the background of a language. Waits where it is being embedded already."""
        questions = typical_questions()
        source = language if language in questions else TYPICAL
        if source not in self._typical:
            async with self._preparing:
                if source not in self._typical:
                    self._typical[source] = await self._embedder.embed_queries(questions[source])
        if language not in self._backgrounds:
            typical = self._typical[source]
            sample = self._sample.reshape(-1, typical.shape[1]) * self.length
            spaces = self._embedder.spaces
            self._backgrounds[language] = Background.of(typical, sample, spaces, own=source == language)
        return self._backgrounds[language]

    def _weights(self, language: str) -> list[float]:
        can_read = [reads(space.model, language) for space in self._embedder.spaces]
        return [1.0 if reads_it or not any(can_read) else UNREAD for reads_it in can_read]


@cache
def typical_questions() -> Mapping[str, tuple[str, ...]]:
    """Returns, by language (ISO 639-1), general questions that are alike in every language."""
    text = files("kb").joinpath("typical_questions.toml").read_text(encoding="utf-8")
    return {language: tuple(questions) for language, questions in tomllib.loads(text).items()}
