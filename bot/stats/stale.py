"""Finds stale pages: past their review date or expired, the most cited first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from bot.stats.analytics import Analytics
from kb.index.port import VectorIndex
from kb.models import Page

StaleReason = Literal["expired", "review_overdue"]


@dataclass(frozen=True, kw_only=True, slots=True)
class StalePage:
    """`since`: the day on which its review was due, or on which it expired. `cited`: by how many recent answers."""

    page: Page
    reason: StaleReason
    since: date
    cited: int


@dataclass(frozen=True, kw_only=True, slots=True)
class StalePages:
    index: VectorIndex
    citations: Analytics
    clock: Callable[[], datetime]

    async def all(self) -> list[StalePage]:
        """Returns all stale pages, for operators: the most cited first, then those that wait for longest.

        Raises:
            UnavailableError: the index or the figures do not answer.
        """
        cited = await self.citations.citations()
        today = self.clock().date()
        found = [
            stale
            for page in await self.index.every_page()
            if (stale := stale_page(page, today, cited=cited.get(page.id, 0))) is not None
        ]
        return sorted(found, key=lambda stale: (-stale.cited, stale.since, stale.page.title, stale.page.id))


def stale_page(page: Page, today: date, *, cited: int = 0) -> StalePage | None:
    """Returns None for a page that is neither expired nor overdue. One that is both counts as expired."""
    dates = page.dates
    if dates.expires is not None and dates.expires < today:
        return StalePage(page=page, reason="expired", since=dates.expires, cited=cited)
    if dates.review_due is not None and dates.review_due < today:
        return StalePage(page=page, reason="review_overdue", since=dates.review_due, cited=cited)
    return None
