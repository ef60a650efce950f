"""What the likeness of a question and a passage means on this knowledge base: standard scores.

A cosine means nothing by itself: unrelated passages lie near 0.1 with one embedding model and near 0.8 with another, lower
for a Japanese question than for an English one, higher where all pages are about one product. So every question is held
against a sample of the passages and as many sentences about anything, and its likeness to a passage is told in standard
deviations above what those have (a z-score). 0: no nearer than any; 5: nearer than all but the one that answers. Without
the sentences a question about the subject of a small or narrow knowledge base would be as near to all of it as to what
answers it (docs/confidence.md). Scores of several models are on
one scale then, and are added.

From the question's vector its language is taken away, as far as it is known: what typical questions in it have in common.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kb.embedding_languages import reads

SAMPLED = 256
"""Passages that a question is held against: its mean and deviation are then known to a few hundredths."""
LANGUAGE_SHARE = 0.5
"""How much of what the questions of a language have in common is taken away. From .5 to 1 all are about as good."""
UNREAD = 0.25
"""Weight of a model that does not read the question's language, beside 1 of one that does: it still knows the names."""

ANYTHING = (
    "The invoice was sent on Tuesday.",
    "Giraffes sleep standing up.",
    "Press the red button to stop the machine.",
    "Her grandmother was born in Lisbon.",
    "The database keeps a log of every transaction.",
    "Add a pinch of salt to the soup.",
    "The match ended in a draw.",
    "Glaciers move a few metres a year.",
    "Employees hand in their expenses by the end of the month.",
    "The train to the airport leaves every half hour.",
    "Version 3 changes how files are stored.",
    "A contract may be ended by either side in writing.",
    "The museum is closed on Mondays.",
    "Ask your manager before you book a training.",
    "The pump must be cleaned once a year.",
    "Passwords have at least twelve characters.",
)
"""Sentences that have nothing to do with each other, and with hardly any question."""


class SpaceOfVector(Protocol):
    """`kb.embed.Space`: what one model says within a vector."""

    @property
    def model(self) -> str: ...

    @property
    def part(self) -> slice: ...


class Embedder(Protocol):
    """`kb.embed.Embedder`, as this uses it."""

    @property
    def spaces(self) -> Sequence[SpaceOfVector]: ...

    async def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]: ...

    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """A question on the scale: `vector @ passage - zero` is the passage's standard score."""

    vector: NDArray[np.float32]
    zero: float

    def scores(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Of texts whose vectors are the rows, shape (texts,)."""
        scores: NDArray[np.float32] = vectors @ self.vector - self.zero
        return scores

    def of_cosine(self, cosine: float, *, length: float) -> float:
        """What an engine's cosine comes to; `length`: of the passages' vectors."""
        return cosine * float(np.linalg.norm(self.vector)) * length - self.zero


class Background:
    """`sample`: passages' vectors, shape (passages, dimension), as the embedder of `spaces` makes them."""

    def __init__(self, sample: NDArray[np.float32], spaces: Sequence[SpaceOfVector]) -> None:
        self._sample = sample
        self._spaces = spaces

    def probe(
        self, vector: NDArray[np.float32], common: NDArray[np.float32] | None, weights: Sequence[float]
    ) -> Probe:
        """`common`: what the questions of its language have in common; `weights`: of the models, in their order."""
        asked = vector if common is None else vector - LANGUAGE_SHARE * common
        scaled = np.zeros_like(asked)
        zero = 0.0
        for space, weight in zip(self._spaces, weights, strict=True):
            part = asked[space.part]
            scores = self._sample[:, space.part] @ part
            unit = float(scores.std()) or 1.0
            scaled[space.part] = part * (weight / sum(weights) / unit)
            zero += weight / sum(weights) * float(scores.mean()) / unit
        return Probe(vector=scaled, zero=zero)


class Scale:
    """Of one generation of the index: a sample of its passages, and what each language's questions have in common."""

    def __init__(self, embedder: Embedder, sample: NDArray[np.float32]) -> None:
        """`sample`: passages' vectors of length 1, as an engine gives them."""
        self._embedder = embedder
        self._sample = sample
        self._background: Background | None = None
        self._common: dict[str, NDArray[np.float32] | None] = {}

    @property
    def length(self) -> float:
        """Of a passage's vector: every model says its part with length 1."""
        return float(len(self._embedder.spaces) ** 0.5)

    def renew(self, sample: NDArray[np.float32]) -> None:
        """Another sample: pages have changed meanwhile."""
        self._sample, self._background = sample, None

    async def probes(self, texts: Sequence[str], languages: Sequence[str]) -> list[Probe]:
        """One for each text, `languages` being theirs (ISO 639-1).

        Raises:
            EmbedderUnavailableError: the embedder does not answer.
        """
        vectors = await self._embedder.embed_queries(texts)
        background = await self._held_against()
        return [
            background.probe(vector, await self._common_of(language), self._weights(language))
            for vector, language in zip(vectors, languages, strict=True)
        ]

    async def _held_against(self) -> Background:
        if self._background is None:
            anything = await self._embedder.embed_documents(ANYTHING)
            as_many = np.tile(anything, (max(1, len(self._sample) // len(anything)), 1))
            passages = [self._sample * self.length] if len(self._sample) else []
            self._background = Background(np.concatenate([*passages, as_many]), self._embedder.spaces)
        return self._background

    async def _common_of(self, language: str) -> NDArray[np.float32] | None:
        if language not in self._common:
            typical = typical_questions().get(language)
            self._common[language] = (
                (await self._embedder.embed_queries(typical)).mean(axis=0) if typical else None
            )
        return self._common[language]

    def _weights(self, language: str) -> list[float]:
        read = [reads(space.model, language) for space in self._embedder.spaces]
        return [1.0 if one or not any(read) else UNREAD for one in read]


@cache
def typical_questions() -> Mapping[str, tuple[str, ...]]:
    """Language (ISO 639-1) -> questions that anybody may ask anywhere, the same in each language."""
    text = files("kb").joinpath("typical_questions.toml").read_text(encoding="utf-8")
    return {language: tuple(questions) for language, questions in tomllib.loads(text).items()}
