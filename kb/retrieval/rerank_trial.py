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
Floats = NDArray[np.float64]

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
        """Returns the reciprocal rank of the section's first passage; see `reciprocal_ranks`."""
        return float(self.reciprocal_ranks((weight,), candidates)[0])

    def reciprocal_ranks(self, weights: Sequence[float], candidates: int) -> Floats:
        """Returns the reciprocal rank of the section's first passage for each weight, 0 for none.

        The best `candidates` are put in their blended order; the others stay behind them.
        """
        first = next((index for index, right in enumerate(self.right) if right), None)
        if first is None:
            return np.zeros(len(weights))
        n = min(candidates, len(self.scores))
        if first >= n:
            return np.full(len(weights), 1 / (first + 1))
        share = np.array(weights)[:, None]
        blended = (1 - share) * np.array(spread(self.fused[:n])) + share * np.array(spread(self.scores[:n]))
        order = np.argsort(-blended, axis=1, kind="stable")
        found: Floats = 1 / (np.argmax(np.array(self.right[:n])[order], axis=1) + 1)
        return found


def is_worth_more(trials: Sequence[Trial], candidates: int) -> bool:
    """Whether more candidates could be worth their time, if the cross-encoder does with them as with these.

    It gained a share of what could be gained, and there must be something to be gained further down.
    """
    before = _mean(trials, 0.0, 1)
    reached = float(_reached(trials, (candidates,)).mean(axis=0).max()) if trials else 0.0
    here = _at_best(trials, candidates)
    success = (reached - before) / (here - before) if here > before else 0.0
    return any(
        success * (_at_best(trials, deeper) - here) >= _more(deeper, candidates)
        for deeper in CANDIDATES
        if deeper > candidates
    )


def _more(candidates: int, than: int) -> float:
    """Returns the mean reciprocal rank that `candidates` must gain over fewer ones."""
    return MORE_GAIN * (candidates - than) / 10


def _mean(trials: Sequence[Trial], weight: float, candidates: int) -> float:
    return float(np.mean([trial.reciprocal_rank(weight, candidates) for trial in trials])) if trials else 0.0


def _at_best(trials: Sequence[Trial], candidates: int) -> float:
    """Returns the mean reciprocal rank that a perfect ranker would reach with so many candidates."""
    ranks = [1.0 if any(trial.right[:candidates]) else trial.reciprocal_rank(0.0, 1) for trial in trials]
    return float(np.mean(ranks)) if ranks else 0.0


def decide(
    trials: Sequence[Trial],
    *,
    model: str,
    milliseconds_each: float,
    tried: Sequence[int] = CANDIDATES,
) -> Reranking:
    """Chooses the weight and the number of candidates (of those `tried`) that serve best, or weight 0.

    `milliseconds_each`: of one candidate. Where nothing can be used, the figures are those of the best choice.
    """
    if not trials:
        return Reranking(model=model, weight=0.0, candidates=CANDIDATES[0])
    before = np.array([trial.reciprocal_rank(0.0, 1) for trial in trials])
    choices = [(weight, candidates) for candidates in tried for weight in WEIGHTS]
    after = _reached(trials, tried)
    gains = after - before[:, None]
    means = gains.mean(axis=0)
    chances = np.maximum(chances_of(gains), chances_of(after - _by_shuffled_scores(trials, tried)))
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


def _reached(trials: Sequence[Trial], tried: Sequence[int]) -> Floats:
    """Returns the reciprocal ranks, a row a heading, a column a choice: for each number of candidates every weight."""
    return np.array(
        [
            np.concatenate([trial.reciprocal_ranks(WEIGHTS, candidates) for candidates in tried])
            for trial in trials
        ]
    )


def _by_shuffled_scores(trials: Sequence[Trial], tried: Sequence[int]) -> Floats:
    """Returns what the same scores reach on average where each stands at another passage.

    A search that is worse than no order at all gains by any scores; those that mean something gain more.
    """
    generator = np.random.default_rng(0)
    shuffled = [
        _reached(
            [replace(trial, scores=generator.permutation(trial.scores).tolist()) for trial in trials], tried
        )
        for _ in range(SHUFFLES)
    ]
    found: Floats = np.mean(shuffled, axis=0)
    return found


def _cheapest(means: Floats, useful: NDArray[np.bool_], choices: Sequence[tuple[float, int]]) -> int:
    """Returns the best useful choice, where more candidates gain enough for their time.

    Of equally good weights the highest: what reads question and passage together should then decide.
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


def chances_of(gains: Floats) -> Floats:
    """Returns how often, for each choice, the best would gain as surely if gains and losses were swapped at random.

    A column is a choice, a row a heading. How surely: the mean in standard errors, so that a choice whose gains vary
    much does not hide the others. The random numbers start from the same seed, so every run gives the same.
    """
    sure = _sureness(gains.mean(axis=0), gains)
    signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(FLIPS, len(gains)))
    by_luck = _sureness(signs @ gains / len(gains), gains).max(axis=1)
    return np.array([(1 + np.sum(by_luck >= sureness - 1e-9)) / (1 + FLIPS) for sureness in sure])


def _sureness(means: Floats, gains: Floats) -> Floats:
    """Returns Student's t of means whose squares are those of `gains`; 0 where nothing changes."""
    n = len(gains)
    variance = (gains**2).mean(axis=0) - means**2
    error = np.sqrt(np.maximum(variance, 1e-12) / max(1, n - 1))
    found: Floats = np.where((gains != 0).any(axis=0), means / error, 0.0)
    return found
