"""The figures of `footnote stats`, `/kb stats` and `/metrics`: counts and times, no text."""

from __future__ import annotations

from collections.abc import Mapping
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
