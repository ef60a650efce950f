"""How the cases of an answer set end, counted by category."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kb.evaluation.answer_sets import CHECKS, ENDINGS, AnswerCase, AnswerResult, Check, Ending

ALL = "all"
BEST = (2, 16)
"""Passages: as many as there are quotes where no model writes, and as a model is sent (`answer.read_passages`)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """The counts of one category, or of all cases.

    `pending`: cases that wait for a model's reply; the other figures leave them out. `failed`: cases by the check that
    they failed. `facts_shown` of `facts`: over the cases that have any; `facts_in_best`: those that as many of the best
    passages (`BEST`) hold, whatever was shown of them.
    """

    cases: int
    passed: int
    pending: int
    facts_shown: int
    facts_in_best: Mapping[int, int]
    facts: int
    failed: Mapping[Check, int]
    endings: Mapping[Ending, int]


def tallies(results: Sequence[AnswerResult], pending: Sequence[AnswerCase] = ()) -> dict[str, Tally]:
    """Returns tallies by category, those of no category under "unknown" or "any", and of all cases under "all"."""
    names = sorted({_name(case) for case in (*(result.case for result in results), *pending)})
    by_name = {
        name: _tally(
            [result for result in results if _name(result.case) == name],
            sum(_name(case) == name for case in pending),
        )
        for name in names
    }
    return {**by_name, ALL: _tally(results, len(pending))}


def _name(case: AnswerCase) -> str:
    return case.category or ("unknown" if case.expect_unknown else "any")


def _tally(results: Sequence[AnswerResult], pending: int) -> Tally:
    failed: Counter[Check] = Counter(check for result in results for check in result.problems)
    endings: Counter[Ending] = Counter(result.ending for result in results)
    return Tally(
        cases=len(results),
        passed=sum(not result.problems for result in results),
        pending=pending,
        facts_shown=sum(sum(result.seen) for result in results),
        facts_in_best={
            best: sum(rank is not None and rank <= best for result in results for rank in result.ranks)
            for best in BEST
        },
        facts=sum(len(result.seen) for result in results),
        failed={check: failed[check] for check in CHECKS},
        endings={ending: endings[ending] for ending in ENDINGS},
    )
