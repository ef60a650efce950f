"""Numbers of a run: percentiles, shares, targets, and how they are printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

STEADY_RATIO = 1.15
"""A steady answer's p50 over the p50 of the bare model calls that it makes."""
REST_MS = 25.0
"""p50 of everything in a steady answer that is not the model."""
READY_S = 15.0
WORDS_MS = 200.0
"""Until a start knows how common words are on the pages, once the index is open; at any number of pages."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerTiming:
    """One answer, in milliseconds. `bare`: the same model calls without Footnote, right after it; `texts`: embedded."""

    total: float
    model: float
    search: float
    rerank: float
    bare: float
    texts: int

    @property
    def rest(self) -> float:
        """All but the models and the engine."""
        return self.total - self.model - self.search - self.rerank

    @property
    def ours(self) -> float:
        """All but the models."""
        return self.total - self.model - self.rerank

    @property
    def ratio(self) -> float:
        return self.total / self.bare


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """`least`: the limit is what is wanted at least, not at most."""

    name: str
    limit: float
    measured: float
    unit: str
    least: bool = False

    @property
    def met(self) -> bool:
        return self.measured >= self.limit if self.least else self.measured <= self.limit


def percentile(values: Sequence[float], percent: int) -> float:
    """Of at least one value."""
    if len(values) == 1:
        return values[0]
    return median(values) if percent == 50 else quantiles(values, n=100, method="inclusive")[percent - 1]


def ratio_of_medians(timings: Sequence[AnswerTiming]) -> float:
    return median(one.total for one in timings) / median(one.bare for one in timings)


def summary(timings: Sequence[AnswerTiming]) -> dict[str, float]:
    """What of one kind of answer is printed and written to the file."""
    total = sum(one.total for one in timings)
    return {
        "answers": len(timings),
        "p50_ms": percentile([one.total for one in timings], 50),
        "p95_ms": percentile([one.total for one in timings], 95),
        "bare_p50_ms": percentile([one.bare for one in timings], 50),
        "bare_p95_ms": percentile([one.bare for one in timings], 95),
        "ratio_of_p50": ratio_of_medians(timings),
        "ratio_p10": percentile([one.ratio for one in timings], 10),
        "ratio_p50": percentile([one.ratio for one in timings], 50),
        "ratio_p90": percentile([one.ratio for one in timings], 90),
        "everything_else_p50_ms": percentile([one.ours for one in timings], 50),
        "everything_else_p95_ms": percentile([one.ours for one in timings], 95),
        "texts_embedded_p50": percentile([one.texts for one in timings], 50),
        "share_embedding": sum(one.model for one in timings) / total,
        "share_search": sum(one.search for one in timings) / total,
        "share_reranking": sum(one.rerank for one in timings) / total,
        "share_rest": sum(one.rest for one in timings) / total,
    }
