"""How much the evidence is worth: a score for every passage, and the decision to answer or to decline.

Two logistic models over what a search leaves behind. One says how likely a passage is relevant: the score that a
source carries. The other says how likely the question is answerable from the passages together: below its threshold
Footnote declines. Both have one set of weights for passages as the hybrid search orders them and, where it was fitted,
one for passages that a cross-encoder has read. `kb/weights.py` reads them; `footnote eval decline --fit` makes them;
docs/confidence.md has the figures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kb.models import Hit

PASSAGE_SIGNALS = ("dense", "coverage", "both", "anchor", "place")
"""The order of a passage's signals: cosine, share of the question's content words in it (rare ones count more), their
product (likeness alone is cheap, and so are shared words), whether the thread rests on its page, and 1 / rank."""
QUESTION_SIGNALS = ("dense", "contrast", "coverage", "both", "anchor")
"""The order of a question's signals: the best cosine; how far it stands out of what else was found (an English embedder
finds any two Dutch texts alike); the first passage's coverage; the best product; and whether the thread rests on the
first passage's page."""
RERANK_SIGNAL = "rerank"
"""Comes last, in both, where a cross-encoder ran: the log-odds of its score, for a question its best."""

BACKGROUND = 20
"""Candidates whose mean cosine the best one is compared with; a cross-encoder reads as many."""
NEAR_SHARE = 1 / 3
"""Of the threshold: below, a passage has nothing to do with the question. See docs/confidence.md."""
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
    """Weights for one kind of ranking. A question below `threshold` (0..1) is declined."""

    passage: Logistic
    question: Logistic
    threshold: float


@dataclass(frozen=True, kw_only=True, slots=True)
class RelevanceModel:
    """`reranked` is None where no weights were fitted for the cross-encoder in use: its scores then only order."""

    plain: Scorer
    reranked: Scorer | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Gathered:
    """What a search left behind: the passages that an answer may rest on, best first, and what they are like.

    `coverages`: of each, the share (0..1) of the question's content words that it holds. `background`: the mean cosine
    of the best 20 candidates.
    """

    hits: Sequence[Hit]
    coverages: Sequence[float]
    background: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """The passages that an answer may rest on, each with its relevance (0..1).

    `confidence` (0..1) is how likely they answer the question together. Below `threshold` they are not enough; nor are they
    where they are in the question's own language and hold none of its words (`shares_words` is False).
    """

    hits: tuple[Hit, ...]
    relevance: tuple[float, ...]
    confidence: float = 0.0
    threshold: float = 0.0
    shares_words: bool = True

    @property
    def is_sufficient(self) -> bool:
        return bool(self.hits) and self.shares_words and self.confidence >= self.threshold

    @property
    def is_near(self) -> bool:
        """Whether the closest passage is worth showing, as the closest."""
        return bool(self.hits) and self.confidence >= NEAR_SHARE * self.threshold


def weigh(gathered: Gathered, model: RelevanceModel, *, threshold: float | None = None) -> Evidence:
    """`threshold` stands over the fitted one."""
    scorer = model.reranked if model.reranked is not None and was_reranked(gathered) else None
    reranked = scorer is not None
    scorer = scorer or model.plain
    relevance = (scorer.passage.probability(row) for row in passage_signals(gathered, reranked=reranked))
    confidence = 0.0
    if gathered.hits:
        confidence = scorer.question.probability(question_signals(gathered, reranked=reranked))
    return Evidence(
        hits=tuple(gathered.hits),
        relevance=tuple(relevance),
        confidence=confidence,
        threshold=scorer.threshold if threshold is None else threshold,
    )


def was_reranked(gathered: Gathered) -> bool:
    return bool(gathered.hits) and all(hit.scores.rerank is not None for hit in gathered.hits)


def passage_signals(gathered: Gathered, *, reranked: bool) -> list[tuple[float, ...]]:
    """A row a passage, in the order of `PASSAGE_SIGNALS`, `RERANK_SIGNAL` last where `reranked`."""
    rows: list[tuple[float, ...]] = []
    for rank, (hit, coverage) in enumerate(zip(gathered.hits, gathered.coverages, strict=True), start=1):
        dense = likeness(hit)
        signals = (dense, coverage, dense * coverage, _anchored(hit), 1 / rank)
        rows.append((*signals, _log_odds(hit)) if reranked else signals)
    return rows


def question_signals(gathered: Gathered, *, reranked: bool) -> tuple[float, ...]:
    """In the order of `QUESTION_SIGNALS`, `RERANK_SIGNAL` last where `reranked`. There are passages."""
    hits, coverages = gathered.hits, gathered.coverages
    dense = [likeness(hit) for hit in hits]
    signals = (
        max(dense),
        max(dense) - gathered.background,
        coverages[0],
        max(alike * coverage for alike, coverage in zip(dense, coverages, strict=True)),
        _anchored(hits[0]),
    )
    return (*signals, max(_log_odds(hit) for hit in hits)) if reranked else signals


def likeness(hit: Hit) -> float:
    """The cosine, 0 where it is below or was not computed."""
    return max(0.0, hit.scores.dense or 0.0)


def _anchored(hit: Hit) -> float:
    return 1.0 if hit.scores.anchor > 0 else 0.0


def _log_odds(hit: Hit) -> float:
    score = min(1 - _CERTAIN, max(_CERTAIN, hit.scores.rerank or 0.0))
    return math.log(score / (1 - score))
