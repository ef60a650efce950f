"""Fits, thresholds and areas, against numbers that are known."""

from __future__ import annotations

import numpy as np
import pytest

from kb.evaluation.calibration import (
    fit_logistic,
    folds_of,
    probabilities,
    ranks_above,
    share_interval,
    threshold_for,
)


def test_a_fit_finds_the_weights_that_made_the_labels():
    dice = np.random.default_rng(3)
    signals = dice.normal(size=(20_000, 2)) * (1.0, 10.0)
    chances = 1 / (1 + np.exp(-(0.5 + 2.0 * signals[:, 0] - 0.1 * signals[:, 1])))
    fitted = fit_logistic(signals, dice.random(20_000) < chances)
    assert fitted.bias == pytest.approx(0.5, abs=0.1)
    assert fitted.weights == pytest.approx((2.0, -0.1), abs=0.1)
    assert probabilities(fitted, signals[:1])[0] == pytest.approx(fitted.probability(tuple(signals[0])))


def test_a_fit_needs_both_kinds():
    with pytest.raises(ValueError, match="both kinds"):
        fit_logistic(np.ones((3, 1)), np.array([True, True, True]))


def test_a_signal_that_never_changes_gets_no_weight():
    signals = np.column_stack([np.arange(10.0), np.ones(10)])
    assert fit_logistic(signals, np.arange(10) > 4).weights[1] == 0.0


def test_a_threshold_lets_at_most_its_share_fall_below():
    chances = np.linspace(0.01, 1.0, 100)
    assert (chances < threshold_for(chances, at_most=0.05)).mean() == 0.05
    assert (chances[:7] < threshold_for(chances[:7], at_most=0.05)).sum() == 0


def test_folds_never_split_a_group_and_leave_every_sample_out_once():
    groups = [name for name in "abcdefg" for _ in range(ord(name) - 90)]
    folds = folds_of(groups, 3)
    assert sum(fold.astype(int) for fold in folds).tolist() == [1] * len(groups)
    for fold in folds:
        inside = {group for group, left in zip(groups, fold, strict=True) if left}
        assert inside.isdisjoint({group for group, left in zip(groups, fold, strict=True) if not left})


def test_the_area_under_the_curve_counts_pairs_and_halves_ties():
    assert ranks_above(np.array([0.1, 0.5, 0.5, 0.9]), np.array([False, False, True, True])) == 0.875


def test_an_interval_of_a_share_is_wilsons():
    assert share_interval(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert share_interval(0, 0) == (0.0, 1.0)
