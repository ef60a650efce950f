"""Scores of different makes on one scale."""

from __future__ import annotations

from collections.abc import Sequence


def spread(values: Sequence[float]) -> list[float]:
    """Lowest to 0, highest to 1; all 1 where they are equal."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    return [(value - low) / (high - low) if high > low else 1.0 for value in values]
