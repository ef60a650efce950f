"""The result of retrieval: the rewrite that was searched for, and its passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from kb.calibration import Reranking
from kb.models import Hit, Rewrite


@dataclass(frozen=True, kw_only=True, slots=True)
class PartResult:
    """One of several questions that were asked at once, and its passages, best first."""

    question: str
    hits: Sequence[Hit] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class RetrievalResult:
    """What was searched for, and the passages that were found, best first.

    `parts` is empty for one question. For several, `hits` takes the best of each part and of the whole in turn.
    `reranker_missing`: a cross-encoder is configured and did not read these passages.
    """

    rewrite: Rewrite
    hits: Sequence[Hit] = ()
    parts: tuple[PartResult, ...] = ()
    context: Sequence[str] = ()
    context_share: float = 0.0
    anchors: Sequence[str] = ()
    anchor_reason: str = ""
    reranking: Reranking | None = None
    reranker_missing: bool = False
    timings_ms: Mapping[str, float] = field(default_factory=dict)


def interleaved(rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Returns the best of each ranking, then the second of each, and so on; each passage once, at its first place."""
    if len(rankings) == 1:
        return list(rankings[0])
    first: dict[str, Hit] = {}
    for row in zip_longest(*rankings):
        for hit in row:
            if hit is not None:
                first.setdefault(hit.chunk.id, hit)
    return list(first.values())
