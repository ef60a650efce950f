"""What a generation of the index says of its own scores: measured when it is built, kept with it.

An embedder's cosines mean nothing by themselves (unrelated passages lie near 0.1 with one model and near 0.8 with
another), and whether a cross-encoder helps depends on the pages. So both are measured on the knowledge base itself:
`kb.measuring` measures, this module says what was measured and keeps to arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

MIN_SAMPLES = 12
"""Headings of a language pair below which its own spread is not told: the one of all headings serves it."""
CHANGED = 0.2
"""Share by which the number of passages may change before it is measured anew."""


class _Stored(BaseModel):
    """Fields of a later version are ignored: both versions may look at one index."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Spread(_Stored):
    """Cosines of headings against passages. `samples`: headings.

    `unrelated` and `deviation`: mean and standard deviation against passages of other pages. `related`: mean against
    the nearest passage of the heading's own section, embedded without that heading (its title and the headings above
    stay): with it, it would be near for having the same words in front.
    """

    unrelated: float
    deviation: float
    related: float
    samples: int

    def standard(self, cosine: float) -> float:
        """The cosine in deviations above what unrelated passages have."""
        return (cosine - self.unrelated) / self.deviation if self.deviation > 0 else 0.0

    def relatedness(self, cosine: float) -> float:
        """0 for what unrelated passages have on average, 1 for what a heading has with its own section. Unclipped."""
        span = self.related - self.unrelated
        return (cosine - self.unrelated) / span if span > 0 else 0.0


class SpaceBackground(_Stored):
    """One embedding model's cosines. `pairs`: by the heading's and the page's language, "nl>en"."""

    model: str
    overall: Spread
    pairs: Mapping[str, Spread] = {}

    def of(self, question: str, page: str) -> Spread:
        """The spread of a language pair; of all headings where it has too few of its own."""
        return self.pairs.get(pair(question, page), self.overall)


class Background(_Stored):
    """`spaces` in the order in which the vector holds them."""

    spaces: tuple[SpaceBackground, ...]

    def space(self, model: str) -> SpaceBackground | None:
        return next((one for one in self.spaces if one.model == model), None)


class Reranking(_Stored):
    """Whether a cross-encoder earns its time on this knowledge base. `weight` 0: it does not, and is not run.

    `before` and `after`: mean reciprocal rank of the sections that were searched for, without and with it; `chance`:
    how often scores without meaning would have gained as much. `milliseconds` for the candidates of one question.
    """

    model: str
    weight: float
    candidates: int
    before: float = 0.0
    after: float = 0.0
    chance: float = 1.0
    milliseconds: float = 0.0
    samples: int = 0

    @property
    def helps(self) -> bool:
        return self.weight > 0


class Calibration(_Stored):
    """`passages` of the index when it was measured, at `measured`."""

    background: Background | None = None
    reranking: Reranking | None = None
    passages: int
    measured: datetime | None = None

    def outgrown(self, passages: int) -> bool:
        """Whether the index has changed so much since that it should be measured anew."""
        return abs(passages - self.passages) > CHANGED * self.passages


def pair(question: str, page: str) -> str:
    """The key of a language pair (ISO 639-1)."""
    return f"{question}>{page}"


def to_text(calibration: Calibration) -> str:
    return calibration.model_dump_json(indent=1) + "\n"


def from_text(text: str) -> Calibration | None:
    """None where it is not to be understood: then it is measured anew."""
    try:
        return Calibration.model_validate_json(text)
    except ValidationError:
        return None


def spread_of(unrelated: NDArray[np.float32], related: NDArray[np.float32]) -> Spread:
    """`unrelated`: cosines of any shape, NaN where a pair is of one page. `related`: one for each heading, NaN where it was
    not measured.
    """
    cosines = np.asarray(unrelated, dtype=np.float64)
    return Spread(
        unrelated=float(np.nanmean(cosines)),
        deviation=float(np.nanstd(cosines)),
        related=float(np.nanmean(related, dtype=np.float64)),
        samples=len(related),
    )


def space_background(
    model: str,
    unrelated: NDArray[np.float32],
    related: NDArray[np.float32],
    asked: Sequence[str],
    pages: Sequence[str],
) -> SpaceBackground:
    """`unrelated` has the shape (headings, passages); `asked` and `pages` are their languages, `related` has one cosine a
    heading, NaN where it was not measured. A pair of languages is told where `MIN_SAMPLES` headings of the one meet
    passages of the other.

    A heading has no section in another language than its own: `related` of such a pair, or of one with too few, is the
    overall one, moved by as much as the pair's unrelated cosines differ from all of them.
    """
    overall = spread_of(unrelated, related)
    pairs = {}
    page_languages = np.array(pages)
    for question in sorted(set(asked)):
        rows = np.array([one == question for one in asked])
        for page in sorted(set(pages)):
            block = unrelated[rows][:, page_languages == page]
            if int(rows.sum()) < MIN_SAMPLES or np.isfinite(block).sum() < MIN_SAMPLES:
                continue
            told = related[rows] if question == page else related[:0]
            if np.isfinite(told).sum() < MIN_SAMPLES:
                told = np.full(1, overall.related - overall.unrelated + float(np.nanmean(block)))
            spread = spread_of(block, told)
            pairs[pair(question, page)] = spread.model_copy(update={"samples": int(rows.sum())})
    return SpaceBackground(model=model, overall=overall, pairs=pairs)
