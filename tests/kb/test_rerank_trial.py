"""Whether a cross-encoder is used: one that knows the answers is, one that guesses is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kb.retrieval.rerank_trial import CANDIDATES, FEWEST, WEIGHTS, Trial, decide, is_worth_more

HEADINGS = 60


def trials(scores: str, *, headings: int = HEADINGS, deep: int = 40, seed: int = 1) -> list[Trial]:
    """Sections that the search has at places 1 to `deep`; `scores` of an oracle, a fool, or a mixture of both."""
    dice = np.random.default_rng(seed)
    made = []
    for _ in range(headings):
        fused = np.sort(dice.random(40))[::-1]
        place = 0 if dice.random() < 0.4 else int(dice.integers(1, deep))
        right = [at == place for at in range(40)]
        noise = dice.random(40)
        share = {"oracle": 0.0, "fool": 1.0, "helper": 0.65}[scores]
        told = share * noise + (1 - share) * np.array(right)
        made.append(Trial(fused=fused.tolist(), scores=told.tolist(), right=right))
    return made


def test_a_heading_is_at_its_sections_place_before_and_after() -> None:
    trial = Trial(fused=[0.9, 0.8, 0.1], scores=[0.0, 1.0, 0.5], right=[False, True, False])
    assert trial.reciprocal_rank(0.0, 3) == 0.5
    assert trial.reciprocal_rank(0.5, 3) == 1.0
    assert trial.reciprocal_rank(0.9, 1) == 0.5  # the second is not read
    nowhere = Trial(fused=[0.9], scores=[0.1], right=[False])
    assert nowhere.reciprocal_rank(0.5, 10) == 0.0


def test_an_oracle_gets_the_highest_weight_and_every_candidate_that_helps() -> None:
    found = decide(trials("oracle"), model="oracle", milliseconds_each=25.0)
    assert (found.weight, found.candidates) == (max(WEIGHTS), 40)
    assert found.after == pytest.approx(1.0)
    assert found.chance < 0.01
    assert found.milliseconds == 1000.0
    near = decide(trials("oracle", deep=10), model="oracle", milliseconds_each=25.0)
    assert (near.weight, near.candidates) == (max(WEIGHTS), 10)


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.series) for seed in range(4, 20))]
)
def test_a_fool_is_off(seed: int) -> None:
    found = decide(trials("fool", seed=seed), model="fool", milliseconds_each=25.0)
    assert found.weight == 0.0
    assert not found.helps


def test_one_that_knows_something_has_a_say() -> None:
    found = decide(trials("helper"), model="helper", milliseconds_each=25.0)
    assert found.helps
    assert found.before < found.after < 1.0


def test_more_candidates_are_read_only_where_that_could_pay() -> None:
    def read(made: list[Trial], candidates: int) -> list[Trial]:
        return [replace(trial, scores=trial.scores[:candidates]) for trial in made]

    assert is_worth_more(read(trials("oracle"), 10), 10)
    assert is_worth_more(read(trials("oracle"), 20), 20)
    assert not is_worth_more(read(trials("oracle", deep=10), 10), 10)
    assert not is_worth_more(read(trials("fool"), 10), 10)
    assert not is_worth_more([], 10)


def test_too_few_headings_switch_nothing_on() -> None:
    assert not decide(trials("oracle", headings=FEWEST - 1), model="m", milliseconds_each=1.0).helps
    nothing = decide([], model="m", milliseconds_each=1.0)
    assert (nothing.helps, nothing.samples, nothing.candidates) == (False, 0, CANDIDATES[0])


def test_the_same_trials_are_decided_the_same() -> None:
    once, again = (decide(trials("helper"), model="m", milliseconds_each=1.0) for _ in range(2))
    assert once == again
