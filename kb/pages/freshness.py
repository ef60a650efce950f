"""Assesses whether a page is current, outdated or replaced. Pure: the clock is an argument.

In order of trust: a page that names its successor is superseded; one that its author has marked as
deprecated, or past its `expires` or its review date is outdated, whatever its last edit (a site migration
edits every page); a review that is not yet due makes a page current. Only without any review date does age
decide, and a page without any date says so: it is not called fresh.

How old is too old is set for everything, for a source, or for a path, and the narrowest setting counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from pathspec import GitIgnoreSpec

from kb.answer import AnswerWarning, Freshness, FreshnessReason
from kb.models import Page

PRECEDENCE = (
    "replaced by another page",
    "marked as deprecated",
    "expires",
    "review date",
    "last review",
    "its own `updated`",
    "its own `date` or the last change of its words, whichever is later",
)
"""The rules that decide about a page, in order; the first that applies wins. See docs/freshness.md."""

Clock = Callable[[], datetime]
AgeUnit = Literal["day", "month", "year"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Assessment:
    """`date` is the one that `reason` refers to, e.g. the day on which the review was due."""

    freshness: Freshness
    reason: FreshnessReason
    date: date | None = None


class FreshnessPolicy:
    """Assesses pages against today. `max_age_days` holds for pages without a review date.

    A source's own age wins over it, and the first of `max_age_by_path` (gitignore syntax) that matches over both.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        max_age_days: int = 365,
        max_age_by_source: Mapping[str, int] | None = None,
        max_age_by_path: Mapping[str, int] | None = None,
    ) -> None:
        self._clock = clock
        self._max_age_days = max_age_days
        self._max_age_by_source = dict(max_age_by_source or {})
        self._max_age_by_path = [
            (GitIgnoreSpec.from_lines([pattern]), days) for pattern, days in (max_age_by_path or {}).items()
        ]

    def is_stale(self, page: Page) -> bool:
        """Whether the page is outdated or replaced."""
        return self.assess(page).freshness in ("outdated", "superseded")

    def assess(self, page: Page) -> Assessment:
        today = self._clock().date()
        dates = page.dates
        if page.superseded_by or page.successor:
            later = page.successor is not None and page.successor.version is not None
            return Assessment(
                freshness="superseded",
                reason="older_version" if later else "superseded",
                date=dates.reviewed or dates.edited,
            )
        if page.retired:
            return Assessment(freshness="outdated", reason="retired")
        if dates.expires is not None and dates.expires < today:
            return Assessment(freshness="outdated", reason="expired", date=dates.expires)
        if dates.review_due is not None:
            if dates.review_due < today:
                return Assessment(freshness="outdated", reason="review_overdue", date=dates.review_due)
            return Assessment(freshness="current", reason="current", date=dates.reviewed)
        max_age = self.max_age_of(page)
        if dates.reviewed is not None:
            return self._by_age(dates.reviewed, today, max_age, "old_review")
        if dates.edited is not None:
            return self._by_age(dates.edited, today, max_age, "old_edit")
        return Assessment(freshness="undated", reason="undated")

    def max_age_of(self, page: Page) -> int:
        """Returns the age in days from which a page without a review date is outdated."""
        for pattern, days in self._max_age_by_path:
            if pattern.match_file(page.path):
                return days
        return self._max_age_by_source.get(page.source, self._max_age_days)

    def warn(self, page: Page) -> AnswerWarning | None:
        """Returns the warning that a citation of this page carries; None for a current one.

        A page without a date gets none: its source line says that it is undated.
        """
        assessment = self.assess(page)
        if assessment.freshness not in ("outdated", "superseded"):
            return None
        return AnswerWarning(
            kind="outdated" if assessment.freshness == "outdated" else "superseded",
            reason=assessment.reason,
            page=page,
            date=assessment.date,
            text=self._wording(page, assessment),
        )

    def _wording(self, page: Page, assessment: Assessment) -> str:
        by = f" by {page.successor_title}" if page.successor_title else ""
        day = f"{assessment.date:%-d %B %Y}" if assessment.date else ""
        warning = {
            "superseded": f"{page.title} was replaced{by}.",
            "older_version": f"{page.title} has a later version: {page.successor_title}.",
            "retired": f"{page.title} is marked “{page.retired}” by its author.",
            "expired": f"{page.title} expired on {day}.",
            "review_overdue": f"{page.title} was due for review on {day} ({self._ago(assessment)}).",
            "old_review": f"{page.title} was last reviewed on {day} ({self._ago(assessment)}).",
            "old_edit": f"{page.title} was last edited on {day} ({self._ago(assessment)}).",
        }[assessment.reason]
        return f"{warning} Owner: {page.owner}." if page.owner else warning

    def _ago(self, assessment: Assessment) -> str:
        days = (self._clock().date() - assessment.date).days if assessment.date else 0
        number, unit = age(days)
        return f"{number} {unit}{'' if number == 1 else 's'} ago"

    @staticmethod
    def _by_age(day: date, today: date, max_age_days: int, reason: FreshnessReason) -> Assessment:
        if (today - day).days > max_age_days:
            return Assessment(freshness="outdated", reason=reason, date=day)
        return Assessment(freshness="current", reason="current", date=day)


def age(days: int) -> tuple[int, AgeUnit]:
    """Returns an age in the unit that matters: days up to 6 weeks, months up to 2 years, then whole years."""
    if days < 45:
        return days, "day"
    months = round(days / 30.44)
    return (months, "month") if months < 24 else (months // 12, "year")
