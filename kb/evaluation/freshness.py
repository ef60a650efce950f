"""What is wrong with an answer about planted pages, and which pages of a handbook are overdue. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, RootModel

from kb.answer import Answer
from kb.errors import SettingsError
from kb.evaluation.case_files import read_json
from kb.evaluation.planted import Ordinary, Pair
from kb.models import Page
from kb.pages.freshness import FreshnessPolicy

MOST_STALE = 0.01
"""Share of answers that may state a stale value as current."""
OVERDUE_KEY = "overdue_at_"

Verdict = Literal["new", "both shown", "stale with a warning", "stale as current", "neither", "declined"]


@dataclass(frozen=True, kw_only=True, slots=True)
class FreshnessResult:
    """`said`: the answer with its citation markers."""

    pair: Pair
    verdict: Verdict
    said: str

    @property
    def as_wanted(self) -> bool:
        return self.verdict == ("both shown" if self.pair.kind == "conflict" else "new")


@dataclass(frozen=True, kw_only=True, slots=True)
class OrdinaryResult:
    """`alarms`: titles of the two pages of each conflict that was told, though there is none."""

    question: str
    answered: bool
    right: bool
    alarms: tuple[str, ...]


class _FileDates(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)

    review_due: date | None = None


class _Dates(RootModel[dict[str, _FileDates]]):
    """The dates of files, by path."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Expected:
    """`at`: the day on which `overdue` are the files that are past their review."""

    at: date
    overdue: frozenset[str]


def read_expected(file: Path, at: date | None) -> Expected:
    """Reads `{"path": {"review_due": "2025-05-01", "overdue_at_2026-08-22": true}, ...}`.

    Without `at` the file's own day and its own verdicts; for another day the verdicts follow from `review_due`.

    Raises:
        SettingsError: the file cannot be read, has another form, or names no day.
    """
    files = read_json(file, _Dates, fault="is not a file of dates").root
    keys = (key for facts in files.values() for key in facts.model_extra or ())
    own = {key.removeprefix(OVERDUE_KEY) for key in keys if key.startswith(OVERDUE_KEY)}
    if at is None and len(own) != 1:
        raise SettingsError(f"{file} does not name one day ({OVERDUE_KEY}...): give --at")
    day = at or date.fromisoformat(own.pop())
    marked = f"{OVERDUE_KEY}{day.isoformat()}"
    return Expected(
        at=day,
        overdue=frozenset(
            path
            for path, facts in files.items()
            if (facts.model_extra or {}).get(marked, facts.review_due is not None and facts.review_due < day)
        ),
    )


def overdue_pages(pages: Collection[Page], policy: FreshnessPolicy) -> frozenset[str]:
    """Returns the paths of pages that are past their review."""
    return frozenset(page.path for page in pages if policy.assess(page).reason == "review_overdue")


def judge_pair(pair: Pair, answer: Answer) -> FreshnessResult:
    """Tells whether the old value came out, and if so, whether its reader was warned."""
    return FreshnessResult(pair=pair, verdict=_verdict(pair, answer), said=answer.marked_text)


def _verdict(pair: Pair, answer: Answer) -> Verdict:
    if answer.outcome != "answered":
        return "declined"
    old, new = _holds(answer.text, pair.old), _holds(answer.text, pair.new)
    if not old:
        return "new" if new else "neither"
    warned = {warning.page.path: warning for warning in answer.warnings}
    if any(warning.kind == "conflict" for warning in answer.warnings):
        shown = new and pair.old_path in warned and _newer_first(pair, answer)
        return "both shown" if shown else "stale as current"
    return "stale with a warning" if pair.old_path in warned else "stale as current"


def _newer_first(pair: Pair, answer: Answer) -> bool:
    paths = [citation.chunk.page.path for citation in answer.citations]
    both = pair.old_path in paths and pair.new_path in paths
    return both and paths.index(pair.new_path) < paths.index(pair.old_path)


def judge_ordinary(page: Ordinary, answer: Answer) -> OrdinaryResult:
    return OrdinaryResult(
        question=page.question,
        answered=answer.outcome == "answered",
        right=_holds(answer.text, page.value),
        alarms=alarms_in(answer),
    )


def alarms_in(answer: Answer) -> tuple[str, ...]:
    return tuple(warning.text for warning in answer.warnings if warning.kind == "conflict")


def stale_share(results: Sequence[FreshnessResult]) -> float:
    answered = [result.verdict for result in results if result.verdict != "declined"]
    return answered.count("stale as current") / len(answered) if answered else 0.0


def conflicts_shown(results: Sequence[FreshnessResult]) -> tuple[int, int]:
    """Returns how many conflicts were shown, of how many."""
    conflicts = [result.verdict for result in results if result.pair.kind == "conflict"]
    return conflicts.count("both shown"), len(conflicts)


def counts(results: Sequence[FreshnessResult]) -> Mapping[str, Mapping[str, int]]:
    """Returns the number of answers: kind of the pair -> verdict -> answers."""
    by_kind: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for result in results:
        by_kind[result.pair.kind][result.verdict] += 1
    return by_kind


def _holds(text: str, value: str) -> bool:
    return re.search(rf"(?<![\w.,]){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None
