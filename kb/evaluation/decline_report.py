"""How evidence ends where no model writes (quoted, called the closest, declined), and what a threshold would change.

Everything is measured three ways: in sample; with whole conversations left out; and with a whole data set left out,
which is what another company's pages are like.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import BaseModel, ConfigDict

from kb.evaluation import calibration as cal
from kb.evaluation.calibration import Bools, Floats
from kb.evaluation.decline import Observation
from kb.retrieval.confidence import NEAR_SHARE, RERANK_SIGNAL, SIGNALS, Scorer
from kb.retrieval.weights import LogisticWeights, ScorerWeights

UNQUOTED_TARGET = 0.05
"""Largest share of the answerable questions that a fitted threshold keeps from being quoted."""
DECLINED_TARGET = 0.03
"""Largest share of the answerable questions that may be declined."""
STRANGERS_TARGET = 0.25
"""Largest share of the strangers that may be quoted."""
THRESHOLDS = (0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7)


class Share(BaseModel):
    """`share` of all; `ci95`: the ends of its interval."""

    model_config = ConfigDict(frozen=True)

    share: float
    ci95: tuple[float, float]


class Endings(BaseModel):
    """How so many questions end."""

    model_config = ConfigDict(frozen=True)

    n: int
    quoted: Share
    closest: Share
    declined: Share


class ByKind(BaseModel):
    """`threshold` is None where each fold has its own."""

    model_config = ConfigDict(frozen=True)

    threshold: float | None
    answerable: Endings
    near_misses: Endings
    strangers: Endings


class DeclineFigures(BaseModel):
    """`by_source`: where unanswerable questions came from -> how they end. `curve`: with other thresholds.

    The areas under the curve: how often an answerable question has more
    confidence than one of the other kind; None where one of the two is missing.
    """

    model_config = ConfigDict(frozen=True)

    decided: ByKind
    by_source: dict[str, Endings]
    area_near_misses: float | None
    area_strangers: float | None
    curve: tuple[ByKind, ...]

    @property
    def reached(self) -> bool:
        return (
            self.decided.answerable.declined.share <= DECLINED_TARGET
            and self.decided.strangers.quoted.share <= STRANGERS_TARGET
        )


class ObservationTable:
    """Observations as arrays, a row a question; a question that was asked back or found nothing is not in them."""

    def __init__(self, observations: Sequence[Observation]) -> None:
        self.seen = [seen for seen in observations if seen.signals is not None]
        self.questions: Floats = np.array([seen.signals for seen in self.seen], dtype=float)
        self.kinds = np.array([seen.kind for seen in self.seen])
        self.answerable: Bools = self.kinds == "answerable"
        self.sources = np.array([seen.source for seen in self.seen])
        self.groups = [f"{seen.data_set}/{seen.group}" for seen in self.seen]
        self.data_sets = np.array([seen.data_set for seen in self.seen])


def fitted(table: ObservationTable, rows: Bools) -> Scorer:
    """Fits the weights and the threshold to the questions in `rows` (a mask)."""
    question = cal.fit_logistic(table.questions[rows], table.answerable[rows])
    chances = cal.probabilities(question, table.questions[rows & table.answerable])
    return Scorer(question=question, threshold=cal.threshold_for(chances, at_most=UNQUOTED_TARGET))


def in_sample(table: ObservationTable, scorer: Scorer) -> DeclineFigures:
    every = np.ones(len(table.seen), dtype=bool)
    return _measured(table, _judged(table, lambda _: scorer, [every]), every)


def by_conversation(table: ObservationTable) -> DeclineFigures:
    every = np.ones(len(table.seen), dtype=bool)
    return _measured(
        table, _judged(table, lambda rest: fitted(table, rest), cal.folds_of(table.groups)), every
    )


def by_data_set(table: ObservationTable) -> dict[str, DeclineFigures]:
    """Measures each data set by weights that were fitted to the others; empty where there is only one."""
    names = sorted(set(table.data_sets))
    if len(names) < 2:
        return {}
    folds = [table.data_sets == name for name in names]
    judged = _judged(table, lambda rest: fitted(table, rest), folds)
    return {str(name): _measured(table, judged, fold) for name, fold in zip(names, folds, strict=True)}


def weights_of(scorer: Scorer, *, reranked: bool) -> ScorerWeights:
    signals = (*SIGNALS, RERANK_SIGNAL) if reranked else SIGNALS
    weights = dict(zip(signals, (round(weight, 4) for weight in scorer.question.weights), strict=True))
    return ScorerWeights(
        question=LogisticWeights(bias=round(scorer.question.bias, 4), weights=weights),
        threshold=round(scorer.threshold, 4),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Judged:
    """What each question got from a scorer that may not have seen it: its confidence, and the scorer's threshold."""

    confidence: Floats
    threshold: Floats


def _judged(
    table: ObservationTable, scorer_for: Callable[[Bools], Scorer], folds: Sequence[Bools]
) -> _Judged:
    """Judges every fold by a scorer that did not see it; `scorer_for` makes it of the other questions."""
    judged = _Judged(confidence=np.zeros(len(table.seen)), threshold=np.zeros(len(table.seen)))
    for fold in folds:
        scorer = scorer_for(~fold)
        judged.confidence[fold] = cal.probabilities(scorer.question, table.questions[fold])
        judged.threshold[fold] = scorer.threshold
    return judged


def _measured(table: ObservationTable, judged: _Judged, rows: Bools) -> DeclineFigures:
    confidence, threshold = judged.confidence, judged.threshold
    unanswerable = rows & ~table.answerable

    def ends(chosen: Bools, least: Floats) -> Endings:
        quoted = confidence >= least
        declined = confidence < NEAR_SHARE * least
        return Endings(
            n=int(chosen.sum()),
            quoted=_share(quoted[chosen]),
            closest=_share(~quoted[chosen] & ~declined[chosen]),
            declined=_share(declined[chosen]),
        )

    def by_kind(least: Floats) -> ByKind:
        return ByKind(
            threshold=round(float(least[rows][0]), 4) if len(set(least[rows])) == 1 else None,
            answerable=ends(rows & table.answerable, least),
            near_misses=ends(rows & (table.kinds == "unanswerable"), least),
            strangers=ends(rows & (table.kinds == "stranger"), least),
        )

    def area(kind: str) -> float | None:
        compared = rows & (table.answerable | (table.kinds == kind))
        share = cal.ranks_above(confidence[compared], table.answerable[compared])
        return None if math.isnan(share) else round(share, 4)

    named = sorted(set(table.sources[unanswerable].tolist()))
    return DeclineFigures(
        decided=by_kind(threshold),
        by_source={name: ends(unanswerable & (table.sources == name), threshold) for name in named},
        area_near_misses=area("unanswerable"),
        area_strangers=area("stranger"),
        curve=tuple(by_kind(np.full(len(table.seen), least)) for least in THRESHOLDS),
    )


def _share(ended: Bools) -> Share:
    hits, n = int(ended.sum()), len(ended)
    low, high = cal.share_interval(hits, n)
    return Share(share=round(hits / n, 4) if n else 0.0, ci95=(round(low, 4), round(high, 4)))
