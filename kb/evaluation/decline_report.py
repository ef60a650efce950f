"""What declining costs and what it catches, and how far a source's score can be believed.

Everything is told three ways: in sample; with whole conversations left out; and with a whole data set left out, which
is what another company's pages are like.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict

from kb.confidence import PASSAGE_SIGNALS, QUESTION_SIGNALS, RERANK_SIGNAL, Logistic, Scorer
from kb.evaluation import calibration as cal
from kb.evaluation.calibration import Bools, Floats
from kb.evaluation.decline import Observation
from kb.weights import LogisticWeights, ScorerWeights

DECLINED_TARGET = 0.85
"""Least share of the questions without an answer that is to be declined."""
LOST_TARGET = 0.05
"""Largest share of the answerable questions that may be declined for it."""
COVERAGES = tuple(one / 10 for one in range(1, 11))


class Share(BaseModel):
    """`share` of `n`; `ci95`: the ends of its interval."""

    model_config = ConfigDict(frozen=True)

    n: int
    share: float
    ci95: tuple[float, float]


class ReliabilityBin(BaseModel):
    """`mean`: of the scores; `share`: of what was right among them."""

    model_config = ConfigDict(frozen=True)

    low: float
    n: int
    mean: float
    share: float


class Reliability(BaseModel):
    """`error`: expected calibration error. `ranks`: how often a right one scores above a wrong one."""

    model_config = ConfigDict(frozen=True)

    n: int
    error: float
    ranks: float
    bins: tuple[ReliabilityBin, ...]


class CurvePoint(BaseModel):
    """Answering this share of all questions; `risk`: share of those answered without a relevant passage at hand."""

    model_config = ConfigDict(frozen=True)

    coverage: float
    threshold: float
    risk: float
    unanswerable_declined: float
    answerable_declined: float


class Measured(BaseModel):
    """`by_source`: where unanswerable questions came from -> the share declined.

    `sources`: of every passage; `shown`: of the passages of questions that are answered, which readers see.
    """

    model_config = ConfigDict(frozen=True)

    unanswerable_declined: Share
    answerable_declined: Share
    strangers_declined: Share
    near_misses_declined: Share
    by_source: dict[str, Share]
    ranks: float
    answers: Reliability
    sources: Reliability
    shown: Reliability
    curve: tuple[CurvePoint, ...]

    @property
    def reached(self) -> bool:
        return (
            self.unanswerable_declined.share >= DECLINED_TARGET
            and self.answerable_declined.share <= LOST_TARGET
        )


class Table:
    """Observations as arrays, a row a question; a question that was asked back or found nothing is not in them."""

    def __init__(self, observations: Sequence[Observation]) -> None:
        self.all = list(observations)
        self.seen = [one for one in observations if one.signals is not None]
        self.questions: Floats = np.array([one.signals for one in self.seen], dtype=float)
        self.answerable: Bools = np.array([one.kind == "answerable" for one in self.seen])
        self.groups = [f"{one.data_set}/{one.group}" for one in self.seen]
        self.data_sets = np.array([one.data_set for one in self.seen])
        self.owner = np.array([at for at, one in enumerate(self.seen) for _ in one.passages], dtype=int)
        self.passages: Floats = np.array(
            [passage.signals for one in self.seen for passage in one.passages], dtype=float
        )
        self.relevant: Bools = np.array([passage.relevant for one in self.seen for passage in one.passages])
        self.grounded: Bools = np.array(
            [any(passage.relevant for passage in one.passages) for one in self.seen]
        )


def fitted(table: Table, rows: Bools) -> Scorer:
    """Weights and threshold from the questions in `rows` (a mask) and their passages."""
    question = cal.fit_logistic(table.questions[rows], table.answerable[rows])
    passages = rows[table.owner]
    chances = cal.probabilities(question, table.questions[rows & table.answerable])
    return Scorer(
        passage=cal.fit_logistic(table.passages[passages], table.relevant[passages]),
        question=question,
        threshold=cal.threshold_for(chances, at_most=LOST_TARGET),
    )


def in_sample(table: Table, scorer: Scorer) -> Measured:
    every = np.ones(len(table.seen), dtype=bool)
    return _measured(table, _judged(table, lambda _: scorer, [every]), every)


def by_conversation(table: Table) -> Measured:
    every = np.ones(len(table.seen), dtype=bool)
    return _measured(
        table, _judged(table, lambda rest: fitted(table, rest), cal.folds_of(table.groups)), every
    )


def by_data_set(table: Table) -> dict[str, Measured]:
    """Each data set measured by weights that were fitted to the others; empty where there is only one."""
    names = sorted(set(table.data_sets))
    if len(names) < 2:
        return {}
    folds = [table.data_sets == name for name in names]
    judged = _judged(table, lambda rest: fitted(table, rest), folds)
    return {str(name): _measured(table, judged, fold) for name, fold in zip(names, folds, strict=True)}


def weights_of(scorer: Scorer, *, reranked: bool) -> ScorerWeights:
    last = (RERANK_SIGNAL,) if reranked else ()

    def named(model: Logistic, signals: tuple[str, ...]) -> LogisticWeights:
        values = dict(zip(signals, (round(one, 4) for one in model.weights), strict=True))
        return LogisticWeights(bias=round(model.bias, 4), weights=values)

    return ScorerWeights(
        passage=named(scorer.passage, (*PASSAGE_SIGNALS, *last)),
        question=named(scorer.question, (*QUESTION_SIGNALS, *last)),
        threshold=round(scorer.threshold, 4),
    )


class _Judged:
    """What was said of every question and passage by a scorer that may not have seen it."""

    def __init__(self, table: Table) -> None:
        self.confidence = np.zeros(len(table.seen))
        self.threshold = np.zeros(len(table.seen))
        self.relevance = np.zeros(len(table.owner))


def _judged(table: Table, scorer_for: Callable[[Bools], Scorer], folds: Sequence[Bools]) -> _Judged:
    """`scorer_for`: the questions that are not left out -> their scorer."""
    judged = _Judged(table)
    for fold in folds:
        scorer = scorer_for(~fold)
        passages = fold[table.owner]
        judged.confidence[fold] = cal.probabilities(scorer.question, table.questions[fold])
        judged.threshold[fold] = scorer.threshold
        judged.relevance[passages] = cal.probabilities(scorer.passage, table.passages[passages])
    return judged


def _measured(table: Table, judged: _Judged, rows: Bools) -> Measured:
    declined = judged.confidence < judged.threshold
    passages = rows[table.owner]
    shown = passages & ~declined[table.owner]
    seen = [one for one, within in zip(table.seen, rows, strict=True) if within]
    kinds = np.array([one.kind for one in table.seen])
    sources = np.array([one.source for one in table.seen])
    unanswerable = rows & ~table.answerable
    named = sorted({one.source for one in seen if one.kind != "answerable"})
    return Measured(
        unanswerable_declined=_share(declined[unanswerable]),
        answerable_declined=_share(declined[rows & table.answerable]),
        strangers_declined=_share(declined[rows & (kinds == "stranger")]),
        near_misses_declined=_share(declined[rows & (kinds == "unanswerable")]),
        by_source={name: _share(declined[unanswerable & (sources == name)]) for name in named},
        ranks=round(cal.ranks_above(judged.confidence[rows], table.answerable[rows]), 4),
        answers=_reliability(judged.confidence[rows], table.answerable[rows]),
        sources=_reliability(judged.relevance[passages], table.relevant[passages]),
        shown=_reliability(judged.relevance[shown], table.relevant[shown]),
        curve=_curve(judged.confidence[rows], table.answerable[rows], table.grounded[rows]),
    )


def _curve(confidence: Floats, answerable: Bools, grounded: Bools) -> tuple[CurvePoint, ...]:
    """El-Yaniv and Wiener (2010). An answer is at risk where no labelled passage is among those that it rests on."""
    ordered = np.sort(confidence)[::-1]
    points = []
    for coverage in COVERAGES:
        threshold = float(ordered[max(0, round(coverage * len(ordered)) - 1)])
        answered = confidence >= threshold
        points.append(
            CurvePoint(
                coverage=coverage,
                threshold=round(threshold, 4),
                risk=round(float((~grounded[answered]).mean()), 4),
                unanswerable_declined=round(float((~answered[~answerable]).mean()), 4),
                answerable_declined=round(float((~answered[answerable]).mean()), 4),
            )
        )
    return tuple(points)


def _share(declined: Bools) -> Share:
    hits, n = int(declined.sum()), len(declined)
    low, high = cal.share_interval(hits, n)
    return Share(n=n, share=round(hits / n, 4) if n else 0.0, ci95=(round(low, 4), round(high, 4)))


def _reliability(chances: Floats, right: Bools) -> Reliability:
    bins = cal.reliability(chances, right)
    return Reliability(
        n=len(chances),
        error=round(cal.calibration_error(bins), 4),
        ranks=round(cal.ranks_above(chances, right), 4),
        bins=tuple(
            ReliabilityBin(low=one.low, n=one.n, mean=round(one.mean, 4), share=round(one.share, 4))
            for one in bins
        ),
    )
