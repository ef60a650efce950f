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
    """The tally of one category, or of all.

    `pending`: cases that wait for a model's reply; the other figures leave them out. `failed`: cases by the check that
    they failed. `facts_shown` of `facts`: over the cases that have any; `facts_in_best`:
    of as many of the best passages (`BEST`), whatever was shown of them.
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
    """Tallies by category, those of no category under "unknown" or "any", and all of them under "all"."""
    names = sorted({_name(one.case) for one in results} | {_name(case) for case in pending})
    told = {
        name: _tally(
            [one for one in results if _name(one.case) == name], sum(_name(case) == name for case in pending)
        )
        for name in names
    }
    return {**told, ALL: _tally(results, len(pending))}


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
