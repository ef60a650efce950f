"""Fitting a probability, choosing its threshold, and counting what it tells apart. Pure; arrays in, numbers out.

A figure is "in sample" where it was measured on what it was fitted to, and "out of sample" where whole groups
(conversations, or a data set) were left out of the fit, of the threshold as well as of the weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kb.retrieval.confidence import Logistic

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

RIDGE = 1.0
"""Strength of the penalty on standardized weights: 600 questions do not carry a sharper model."""
STEPS = 100
FOLDS = 10


def fit_logistic(signals: Floats, labels: Bools) -> Logistic:
    """Fits a ridge-penalised logistic regression by Newton's method (Hastie, Tibshirani and Friedman 2009, 4.4).

    Args:
        signals: shape (samples, signals), in their own units; the returned weights are in those units too.
        labels: shape (samples,).

    Raises:
        ValueError: all labels are the same.
    """
    if labels.all() or not labels.any():
        raise ValueError("a fit needs samples of both kinds")
    centre, scale = signals.mean(axis=0), signals.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    rows = np.column_stack([np.ones(len(signals)), (signals - centre) / scale])
    penalty = np.diag([0.0, *[RIDGE] * signals.shape[1]])
    found = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        chances = _sigmoid(rows @ found)
        slope = rows.T @ (labels - chances) - penalty @ found
        bend = (rows * (chances * (1 - chances))[:, None]).T @ rows + penalty
        step = np.linalg.solve(bend, slope)
        found = found + step
        if float(np.abs(step).max()) < 1e-8:
            break
    weights = found[1:] / scale
    return Logistic(
        bias=float(found[0] - weights @ centre), weights=tuple(float(weight) for weight in weights)
    )


def probabilities(model: Logistic, signals: Floats) -> Floats:
    """Returns probabilities, shape (samples,)."""
    return _sigmoid(signals @ np.asarray(model.weights) + model.bias)


def threshold_for(chances: Floats, *, at_most: float) -> float:
    """Returns the highest threshold below which at most this share of `chances` lies."""
    ordered = np.sort(chances)
    return float(ordered[math.floor(at_most * len(ordered))])


def folds_of(groups: Sequence[str], number: int = FOLDS) -> list[Bools]:
    """Masks of the samples left out in each fold. Whole groups, the largest first to the smallest fold."""
    names, sizes = np.unique(np.asarray(groups), return_counts=True)
    load = [0] * number
    fold_of: dict[str, int] = {}
    for index in np.argsort(-sizes, kind="stable"):
        smallest = load.index(min(load))
        fold_of[str(names[index])] = smallest
        load[smallest] += int(sizes[index])
    folds = np.array([fold_of[group] for group in groups])
    return [folds == fold for fold in range(number) if (folds == fold).any()]


def ranks_above(chances: Floats, labels: Bools) -> float:
    """Returns the area under the ROC curve: how often a right sample scores above a wrong one, ties half."""
    right, wrong = chances[labels], chances[~labels]
    if not len(right) or not len(wrong):
        return float("nan")
    above = (right[:, None] > wrong[None, :]).mean() + (right[:, None] == wrong[None, :]).mean() / 2
    return float(above)


def share_interval(hits: int, n: int) -> tuple[float, float]:
    """Ends of the 95% interval of a share (Wilson 1927)."""
    if n == 0:
        return 0.0, 1.0
    z = 1.959964
    share = hits / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def _sigmoid(logits: Floats) -> Floats:
    return 1.0 / (1.0 + np.exp(-np.clip(logits, -40.0, 40.0)))
