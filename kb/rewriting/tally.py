"""Counters for rewrite outcomes in this process, and for hits of the reply cache."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

RewriteOutcome = Literal["unchanged", "heuristic", "model", "fallback"]
"""fallback: the model's rewrite was late, invalid, unsure or did not come, so the rules' was searched."""
CacheEvent = Literal["hit", "miss", "unavailable"]


@dataclass(kw_only=True, slots=True)
class RewriteTally:
    """`outcomes` by (outcome, reason of a fallback or ""); `milliseconds` of all rewrites together."""

    outcomes: Counter[tuple[RewriteOutcome, str]] = field(default_factory=Counter)
    cache: Counter[CacheEvent] = field(default_factory=Counter)
    milliseconds: float = 0.0

    def rewritten(self, outcome: RewriteOutcome, reason: str, milliseconds: float) -> None:
        self.outcomes[outcome, reason] += 1
        self.milliseconds += milliseconds

    def cached(self, event: CacheEvent) -> None:
        self.cache[event] += 1

    @property
    def lost(self) -> int:
        """Rewrites of the model that could not be used."""
        return sum(count for (outcome, _), count in self.outcomes.items() if outcome == "fallback")
