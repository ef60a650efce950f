"""Decides whether a cross-encoder earns its time on this knowledge base, by a sample of its own headings. Pure.

Each heading was searched for and its section is what should come first. How the passages' order would be with each
weight and number of candidates is known from one run, for a blend is arithmetic. What is chosen must gain more than
scores without meaning would gain by luck: the signs of the headings' gains are flipped at random, the surest
choice is taken each time, and the true one must be among the surest (a permutation test of the maximum, Westfall and
Young 1993). So trying many choices does not make one of them win.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kb.calibration import Reranking
from kb.retrieval.fusion import spread

WEIGHTS = (0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
CANDIDATES = (10, 20, 40)
FEWEST = 20
"""Fewest headings for a decision; with fewer the cross-encoder stays off."""
CHANCE = 0.05
"""Probability at which scores without meaning may pass for good ones."""
LEAST_GAIN = 0.05
"""Mean reciprocal rank that it must gain. Headings flatter: one that gained
.02 to .04 with them on three handbooks moved nothing, or facts down, for
real questions; and a quarter of a second of each question is its price."""
MORE_GAIN = 0.01
"""Mean reciprocal rank that every ten further candidates must gain."""
FLIPS = 2000
SHUFFLES = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """One heading's candidates in the order of the search, best first: their fused scores, whether
    each is of the heading's own section, and the cross-encoder's scores of the first ones.
    """

    fused: Sequence[float]
    scores: Sequence[float]
    right: Sequence[bool]

    def reciprocal_rank(self, weight: float, candidates: int) -> float:
        """The reciprocal rank of the section's first passage, where the best `candidates`
        are put in their blended order; 0 for none.
        """
        n = min(candidates, len(self.scores))
        blended = (1 - weight) * np.array(spread(self.fused[:n])) + weight * np.array(spread(self.scores[:n]))
        order = [*np.argsort(-blended, kind="stable"), *range(n, len(self.fused))]
        return next((1 / (rank + 1) for rank, index in enumerate(order) if self.right[index]), 0.0)


def is_worth_more(trials: Sequence[Trial], candidates: int) -> bool:
    """Whether more than so many candidates could be worth their time, if the cross-encoder does with them as
    with these: it gained a share of what could be gained, and there is something to be gained further down.
    """
    before, reached = _mean(trials, 0.0, 1), max(_mean(trials, weight, candidates) for weight in WEIGHTS)
    here = _at_best(trials, candidates)
    success = (reached - before) / (here - before) if here > before else 0.0
    return any(
        success * (_at_best(trials, deeper) - here) >= _more(deeper, candidates)
        for deeper in CANDIDATES
        if deeper > candidates
    )


def _more(candidates: int, than: int) -> float:
    """Mean reciprocal rank that `candidates` must gain over fewer ones."""
    return MORE_GAIN * (candidates - than) / 10


def _mean(trials: Sequence[Trial], weight: float, candidates: int) -> float:
    return float(np.mean([trial.reciprocal_rank(weight, candidates) for trial in trials])) if trials else 0.0


def _at_best(trials: Sequence[Trial], candidates: int) -> float:
    """The mean reciprocal rank of an oracle that knows the sections, given so many candidates."""
    ranks = [1.0 if any(trial.right[:candidates]) else trial.reciprocal_rank(0.0, 1) for trial in trials]
    return float(np.mean(ranks)) if ranks else 0.0


def decide(
    trials: Sequence[Trial],
    *,
    model: str,
    milliseconds_each: float,
    tried: Sequence[int] = CANDIDATES,
) -> Reranking:
    """The weight and the number of candidates (of those `tried`) that
    serve best, or weight 0. `milliseconds_each`: of one.

    Of what cannot be used the figures are those of its best choice.
    """
    if not trials:
        return Reranking(model=model, weight=0.0, candidates=CANDIDATES[0])
    before = np.array([trial.reciprocal_rank(0.0, 1) for trial in trials])
    choices = [(weight, candidates) for candidates in tried for weight in WEIGHTS]
    after = _reached(trials, choices)
    gains = after - before[:, None]
    means = gains.mean(axis=0)
    chances = np.maximum(chances_of(gains), chances_of(after - _by_shuffled_scores(trials, choices)))
    least = np.array([LEAST_GAIN + _more(candidates, CANDIDATES[0]) for _, candidates in choices])
    useful = (means >= least) & (chances <= CHANCE) & (len(trials) >= FEWEST)
    best = _cheapest(means, useful if useful.any() else np.ones_like(useful), choices)
    weight, candidates = choices[best]
    return Reranking(
        model=model,
        weight=weight if useful.any() else 0.0,
        candidates=candidates,
        before=float(before.mean()),
        after=float(after[:, best].mean()),
        chance=float(chances[best]),
        milliseconds=milliseconds_each * candidates,
        samples=len(trials),
    )


def _reached(trials: Sequence[Trial], choices: Sequence[tuple[float, int]]) -> NDArray[np.float64]:
    """Reciprocal ranks, a row a heading, a column a choice."""
    return np.array([[trial.reciprocal_rank(*choice) for choice in choices] for trial in trials])


def _by_shuffled_scores(trials: Sequence[Trial], choices: Sequence[tuple[float, int]]) -> NDArray[np.float64]:
    """What the same scores reach on average where each stands at another passage. A search that
    is worse than no order at all gains by any scores; those that mean something gain more.
    """
    dice = np.random.default_rng(0)
    shuffled = [
        _reached(
            [replace(trial, scores=dice.permutation(trial.scores).tolist()) for trial in trials], choices
        )
        for _ in range(SHUFFLES)
    ]
    found: NDArray[np.float64] = np.mean(shuffled, axis=0)
    return found


def _cheapest(
    means: NDArray[np.float64], useful: NDArray[np.bool_], choices: Sequence[tuple[float, int]]
) -> int:
    """The best useful choice, where more candidates gain enough for their time; of equally
    good weights the highest: what reads question and passage together should then say it.
    """
    chosen = -1
    for candidates in CANDIDATES:
        fitting = [index for index, choice in enumerate(choices) if useful[index] and choice[1] == candidates]
        if not fitting:
            continue
        best = max(fitting, key=lambda index: (round(float(means[index]), 6), choices[index][0]))
        if chosen < 0 or means[best] >= means[chosen] + _more(candidates, choices[chosen][1]):
            chosen = best
    return chosen


def chances_of(gains: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each choice (a column; a row is a heading) how often the best of all choices would gain as surely if every
    heading's gains and losses were swapped at random. How surely: the mean in standard errors, so that a choice whose
    gains vary much does not hide the others.

    The same numbers at every run: the dice start from the same place.
    """
    sure = _sureness(gains.mean(axis=0), gains)
    signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(FLIPS, len(gains)))
    by_luck = _sureness(signs @ gains / len(gains), gains).max(axis=1)
    return np.array([(1 + np.sum(by_luck >= sureness - 1e-9)) / (1 + FLIPS) for sureness in sure])


def _sureness(means: NDArray[np.float64], gains: NDArray[np.float64]) -> NDArray[np.float64]:
    """Student's t of means whose squares are those of `gains`; 0 where nothing changes."""
    n = len(gains)
    variance = (gains**2).mean(axis=0) - means**2
    error = np.sqrt(np.maximum(variance, 1e-12) / max(1, n - 1))
    found: NDArray[np.float64] = np.where((gains != 0).any(axis=0), means / error, 0.0)
    return found
