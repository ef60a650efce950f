"""Puts scores of different kinds on one scale."""

from __future__ import annotations

from collections.abc import Sequence


def spread(values: Sequence[float]) -> list[float]:
    """Scales scores so that the lowest is 0 and the highest 1; equal ones are all 1."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    return [(value - low) / (high - low) if high > low else 1.0 for value in values]
