"""Figures as `Analytics` counts them: none, but for what a test names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bot.stats.counts import Stats

_NONE = Stats(
    questions=0,
    rewritten=0,
    mean_rewrite_ms=None,
    lost_rewrites=0,
    positive=0,
    negative=0,
    declined=0,
    unavailable=0,
    p50_ms=None,
    p95_ms=None,
)


def some_stats(**counted: Any) -> Stats:
    return replace(_NONE, **counted)
