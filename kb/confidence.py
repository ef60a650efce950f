"""How much the evidence is worth: one calibrated number for a passage, and the decision to answer or to decline.

A logistic model over what every configuration has: the cosine of question and passage, the share of the question's
content words that the passage holds (rare words count more), their product (likeness alone is cheap, and so are
shared words), and, where a cross-encoder ran, its score.

The weights were fitted on 406 questions to one knowledge base (MTRAG, 1,565 passages of US government pages): 201 that it
answers and 205 about something else, together with the sample handbook's cases. There a threshold of 0.35 declines
90% of the latter and 5% of the former. A cross-encoder's weight is not fitted yet.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kb.models import Hit


@dataclass(frozen=True, kw_only=True, slots=True)
class RelevanceModel:
    """Weights of the logistic model. `rerank` is used only where a passage has a cross-encoder score."""

    bias: float = -7.8
    dense: float = 10.5
    coverage: float = 2.7
    both: float = 8.0
    anchor: float = 0.8
    """For a passage of a page that the thread rests on: a follow-up's few words say less than a whole question's."""
    rerank_bias: float = -1.0
    rerank: float = 2.0

    def relevance(self, hit: Hit, *, coverage: float) -> float:
        """0..1: how likely this passage answers. `coverage`: share of the question's content words in it, 0..1."""
        scores = hit.scores
        dense = max(0.0, scores.dense or 0.0)
        logit = self.bias + self.dense * dense + self.coverage * coverage + self.both * dense * coverage
        if scores.anchor > 0:
            logit += self.anchor
        if scores.rerank is not None:
            logit += self.rerank_bias + self.rerank * scores.rerank
        return 1.0 / (1.0 + math.exp(-logit))


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """The passages that an answer may rest on, each with its relevance, and how much they are worth together."""

    hits: tuple[Hit, ...]
    relevance: tuple[float, ...]

    @property
    def confidence(self) -> float:
        """The best passage's relevance: one good passage is enough to answer."""
        return max(self.relevance, default=0.0)


def weigh(hits: Sequence[Hit], coverages: Sequence[float], model: RelevanceModel) -> Evidence:
    return Evidence(
        hits=tuple(hits),
        relevance=tuple(
            model.relevance(hit, coverage=coverage) for hit, coverage in zip(hits, coverages, strict=True)
        ),
    )
