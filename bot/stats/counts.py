"""Computes the figures of `footnote stats`, `/kb stats` and `/metrics`: counts and times, no text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kb.answer import Checked
from kb.llm.usage import UsageByModel

NOTHING_CHECKED = Checked(sentences=0, cited=0, supported=0, removed=0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Stats:
    """Since the beginning, but for the percentiles, which are of the last 1,000 answers. Times in milliseconds.

    None: nothing to measure yet.
    """

    questions: int
    rewritten: int
    mean_rewrite_ms: float | None
    lost_rewrites: int
    """Rewrites of the model that were late, invalid or unsure, so that the rules' were searched."""
    positive: int
    negative: int
    declined: int
    unavailable: int
    checked: Checked = NOTHING_CHECKED
    """Totals of what the check of citations found."""
    judge: Mapping[str, int] = field(default_factory=dict)
    """Answers by what became of the judge of their sentences: judged, late, failed. Those without one are in none."""
    models: UsageByModel = field(default_factory=dict)
    """What each model was asked, and its tokens."""
    p50_ms: float | None
    p95_ms: float | None

    @property
    def rewrite_rate(self) -> float:
        return self.rewritten / self.questions if self.questions else 0.0

    @property
    def satisfaction(self) -> float | None:
        """Share of good votes, 0..1."""
        votes = self.positive + self.negative
        return self.positive / votes if votes else None


def stats_of(counts: Mapping[str, float], times_ms: Iterable[float], models: UsageByModel) -> Stats:
    """Computes the figures from what is counted, by name, and from the latest total times."""

    def count(name: str) -> int:
        return round(counts.get(name, 0))

    totals = sorted(times_ms)
    rewritten = count("rewritten")
    return Stats(
        questions=count("questions"),
        rewritten=rewritten,
        mean_rewrite_ms=counts.get("rewrite_ms", 0.0) / rewritten if rewritten else None,
        lost_rewrites=count("lost"),
        positive=count("vote:good"),
        negative=count("vote:bad"),
        declined=count("outcome:declined"),
        unavailable=count("outcome:unavailable"),
        checked=Checked(
            sentences=count("checked:sentences"),
            cited=count("checked:cited"),
            supported=count("checked:supported"),
            removed=count("checked:removed"),
            dropped_citations=count("checked:dropped"),
        ),
        judge={
            name.removeprefix("judge:"): round(number)
            for name, number in sorted(counts.items())
            if name.startswith("judge:")
        },
        models=models,
        p50_ms=percentile(totals, 0.5),
        p95_ms=percentile(totals, 0.95),
    )


def percentile(ordered: Sequence[float], share: float) -> float | None:
    """Returns the smallest value that at least `share` of the ordered values do not exceed (nearest rank)."""
    if not ordered:
        return None
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1]
