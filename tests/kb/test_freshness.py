"""The policy in its order of trust. The clock is frozen where a test goes through the default one."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from freezegun import freeze_time

from kb.models import Page, PageDates, Successor
from kb.pages.freshness import FreshnessPolicy


def a_page(
    *,
    superseded_by: str | None = None,
    successor: Successor | None = None,
    retired: str | None = None,
    owner: str | None = None,
    source: str = "handbook",
    path: str = "leave.md",
    **dates: date,
) -> Page:
    return Page(
        id="p1",
        source=source,
        path=path,
        successor=successor,
        title="Leave policy",
        url="leave.md",
        owner=owner,
        retired=retired,
        superseded_by=superseded_by,
        dates=PageDates(**dates),
    )


def a_policy(**settings: object) -> FreshnessPolicy:
    return FreshnessPolicy(clock=lambda: datetime.now(UTC), **settings)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def _today():
    with freeze_time("2026-11-27", ignore=["_pytest", "torch", "transformers"]):
        yield


def test_an_overdue_review_outweighs_a_recent_edit():
    assessment = a_policy().assess(a_page(review_due=date(2025, 5, 3), edited=date(2026, 11, 1)))
    assert (assessment.freshness, assessment.reason) == ("outdated", "review_overdue")


def test_a_review_that_is_not_due_outweighs_an_old_edit():
    page = a_page(reviewed=date(2026, 5, 1), review_due=date(2027, 5, 1), edited=date(2019, 1, 1))
    assert a_policy().assess(page).freshness == "current"


def test_what_its_author_calls_deprecated_is_outdated_whatever_its_review_says():
    page = a_page(retired="deprecated", owner="People", review_due=date(2027, 5, 1), edited=date(2026, 11, 1))
    warning = a_policy().warn(page)
    assert a_policy().assess(page).freshness == "outdated"
    assert warning is not None
    assert (warning.kind, warning.reason, warning.date) == ("outdated", "retired", None)
    assert warning.text == "Leave policy is marked “deprecated” by its author. Owner: People."


def test_a_page_is_current_on_the_very_day_its_review_is_due():
    assert a_policy().assess(a_page(review_due=date(2026, 11, 27))).freshness == "current"
    assert a_policy().assess(a_page(review_due=date(2026, 11, 26))).freshness == "outdated"


def test_a_superseded_page_is_superseded_even_when_it_was_reviewed_yesterday():
    page = a_page(superseded_by="travel-2026.md", reviewed=date(2026, 11, 26), review_due=date(2027, 11, 26))
    assert a_policy().assess(page).freshness == "superseded"


def test_an_expired_page_is_outdated_whatever_its_review_says():
    page = a_page(expires=date(2026, 1, 1), review_due=date(2030, 1, 1))
    assert a_policy().assess(page).reason == "expired"


@pytest.mark.parametrize(
    ("edited", "freshness"), [(date(2025, 11, 27), "current"), (date(2025, 11, 26), "outdated")]
)
def test_without_a_review_a_page_is_outdated_after_a_year_to_the_day(edited: date, freshness: str):
    assert a_policy().assess(a_page(edited=edited)).freshness == freshness


def test_a_page_without_any_date_is_undated_and_gets_no_warning():
    assert a_policy().assess(a_page()).freshness == "undated"
    assert a_policy().warn(a_page()) is None


def test_a_source_can_have_its_own_age():
    policy = a_policy(max_age_by_source={"wiki": 30})
    edited = date(2026, 9, 1)
    assert policy.assess(a_page(edited=edited, source="wiki")).freshness == "outdated"
    assert policy.assess(a_page(edited=edited)).freshness == "current"


def test_a_path_has_its_own_age_which_wins_over_its_source():
    policy = a_policy(max_age_by_source={"wiki": 30}, max_age_by_path={"runbooks/**": 90, "*.md": 1000})
    edited = date(2026, 9, 15)
    assert policy.assess(a_page(edited=edited, source="wiki", path="runbooks/db.md")).freshness == "current"
    assert policy.assess(a_page(edited=edited, source="wiki", path="a/b.txt")).freshness == "outdated"
    assert policy.assess(a_page(edited=date(2025, 1, 1), path="legal/terms.md")).freshness == "current"


def test_a_page_that_the_index_knows_a_successor_of_is_superseded():
    page = a_page(successor=Successor(id="p2", title="Leave 2026", url="l.md"), reviewed=date(2026, 11, 1))
    warning = a_policy().warn(page)
    assert warning is not None
    assert (warning.kind, warning.text) == ("superseded", "Leave policy was replaced by Leave 2026.")


def test_a_later_version_is_not_called_a_replacement():
    page = a_page(successor=Successor(id="p2", title="Leave v2", url="l.md", version="2"))
    warning = a_policy().warn(page)
    assert warning is not None
    assert (warning.reason, warning.text) == ("older_version", "Leave policy has a later version: Leave v2.")


def test_a_warning_names_page_date_age_and_owner():
    warning = a_policy().warn(a_page(review_due=date(2025, 5, 3), owner="People team"))
    assert warning is not None
    assert (
        warning.text == "Leave policy was due for review on 3 May 2025 (19 months ago). Owner: People team."
    )
    assert warning.date == date(2025, 5, 3)


def test_an_age_of_years_is_told_in_years():
    warning = a_policy().warn(a_page(review_due=date(2017, 5, 3)))
    assert warning is not None
    assert warning.text == "Leave policy was due for review on 3 May 2017 (9 years ago)."


def test_a_current_page_gets_no_warning():
    assert a_policy().warn(a_page(review_due=date(2027, 1, 1))) is None
