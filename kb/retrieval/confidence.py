"""Scores evidence where no model writes: sufficient to quote, near enough to show, or neither.

A logistic model over what a search leaves behind says how likely the passages answer the question together.
It has one set of weights for passages as the hybrid search orders them and, where it was fitted, one for
passages that a cross-encoder has read. `kb/retrieval/weights.py` reads them; `footnote eval decline --fit`
makes them; docs/measurements/confidence.md has the figures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kb.models import Hit

SIGNALS = ("dense", "coverage", "anchor")
"""The order of a question's signals: the best standard score
(`kb.retrieval.standard_scores`); the share of the question's content words in the first
passage, rare ones counting more; and whether the thread rests on the first passage's page."""
RERANK_SIGNAL = "rerank"
"""Comes last where a cross-encoder ran: the log-odds of its best score."""

NEAR_SHARE = 1 / 4
"""Share of the threshold: below it a passage has nothing to do with the question. See docs/confidence.md."""
_CERTAIN = 1e-4
"""A cross-encoder's score counts as at least this far from 0 and 1: beyond, its log-odds are noise."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Logistic:
    """`weights` are in the order of the signals."""

    bias: float
    weights: tuple[float, ...]

    def probability(self, signals: Sequence[float]) -> float:
        logit = self.bias + sum(weight * signal for weight, signal in zip(self.weights, signals, strict=True))
        return 1.0 / (1.0 + math.exp(-max(-40.0, min(40.0, logit))))


@dataclass(frozen=True, kw_only=True, slots=True)
class Scorer:
    """Weights for one kind of ranking. Evidence below `threshold` (0..1) is not sufficient."""

    question: Logistic
    threshold: float


@dataclass(frozen=True, kw_only=True, slots=True)
class RelevanceModel:
    """`reranked` is None where no weights were fitted for the cross-encoder in use: its scores then only order."""

    plain: Scorer
    reranked: Scorer | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceFeatures:
    """The best passages in order, and the features of a question's evidence.

    `coverages`: for each passage the share (0..1) of the question's content words that it holds.
    """

    hits: Sequence[Hit]
    coverages: Sequence[float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """`confidence`: the probability (0..1) that the passages together answer the question; 0 without passages.

    Below `threshold` they do not suffice for an answer.
    """

    found: bool
    confidence: float = 0.0
    threshold: float = 0.0

    @property
    def is_sufficient(self) -> bool:
        return self.found and self.confidence >= self.threshold

    @property
    def is_near(self) -> bool:
        """Whether the closest passage is near enough to be shown as the closest."""
        return self.found and self.confidence >= NEAR_SHARE * self.threshold


def score_evidence(
    features: EvidenceFeatures, model: RelevanceModel, *, threshold: float | None = None
) -> Evidence:
    """Scores the evidence. `threshold` overrides the fitted one."""
    reranked = model.reranked if was_reranked(features) else None
    scorer = reranked or model.plain
    confidence = 0.0
    if features.hits:
        confidence = scorer.question.probability(signals_of(features, reranked=reranked is not None))
    return Evidence(
        found=bool(features.hits),
        confidence=confidence,
        threshold=scorer.threshold if threshold is None else threshold,
    )


def was_reranked(features: EvidenceFeatures) -> bool:
    return bool(features.hits) and all(hit.scores.rerank is not None for hit in features.hits)


def signals_of(features: EvidenceFeatures, *, reranked: bool) -> tuple[float, ...]:
    """Returns the signals in the order of `SIGNALS`, `RERANK_SIGNAL` last where `reranked`. There are passages."""
    hits = features.hits
    signals = (
        max(similarity(hit) for hit in hits),
        features.coverages[0],
        1.0 if hits[0].scores.anchor > 0 else 0.0,
    )
    return (*signals, max(_log_odds(hit) for hit in hits)) if reranked else signals


def similarity(hit: Hit) -> float:
    """Returns the standard score, 0 where it is below or was not computed."""
    return max(0.0, hit.scores.dense or 0.0)


def _log_odds(hit: Hit) -> float:
    score = min(1 - _CERTAIN, max(_CERTAIN, hit.scores.rerank or 0.0))
    return math.log(score / (1 - score))
