"""Pages that ask to be looked at: which, in which order, and how they are told."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from bot.messages.catalog import LANGUAGES, messages_in
from bot.stats.stale import StalePages, stale_page
from bot.views.gap_text import stale_blocks, stale_line
from kb.models import Page, PageDates
from tests.fakes.answers import a_page

TODAY = date(2026, 11, 29)


class Index:
    def __init__(self, *pages: Page) -> None:
        self.pages = pages

    async def every_page(self) -> tuple[Page, ...]:
        return self.pages


class Cited:
    def __init__(self, **times: int) -> None:
        self.times = times

    async def citations(self) -> dict[str, int]:
        return self.times


def dated(title: str, **dates: date) -> Page:
    return a_page(title=title, id=title, dates=PageDates(**dates), owner=None)


@pytest.mark.parametrize(
    ("dates", "reason", "since"),
    [
        ({"review_due": date(2026, 11, 28)}, "review_overdue", date(2026, 11, 28)),
        ({"expires": date(2026, 1, 1)}, "expired", date(2026, 1, 1)),
        ({"expires": date(2026, 5, 1), "review_due": date(2026, 1, 1)}, "expired", date(2026, 5, 1)),
        ({"expires": date(2027, 1, 1), "review_due": date(2026, 1, 1)}, "review_overdue", date(2026, 1, 1)),
    ],
)
def test_a_page_past_one_of_its_dates_is_stale_since_then(
    dates: dict[str, date], reason: str, since: date
) -> None:
    stale = stale_page(dated("p", **dates), TODAY)
    assert stale is not None
    assert (stale.reason, stale.since) == (reason, since)


@pytest.mark.parametrize(
    "dates",
    [
        {},
        {"review_due": TODAY},
        {"expires": TODAY},
        {"edited": date(2001, 1, 1)},
        {"reviewed": date(2001, 1, 1)},
    ],
)
def test_a_page_that_is_due_today_or_merely_old_is_not(dates: dict[str, date]) -> None:
    assert stale_page(dated("p", **dates), TODAY) is None


async def test_the_most_cited_come_first_then_those_that_wait_for_longest() -> None:
    index = Index(
        dated("late", review_due=date(2026, 10, 1)),
        dated("later", review_due=date(2025, 10, 1)),
        dated("cited", expires=date(2026, 11, 1)),
        dated("fresh", review_due=date(2027, 1, 1)),
    )
    pages = StalePages(
        index=index, citations=Cited(cited=7, fresh=9), clock=lambda: datetime(2026, 11, 29, tzinfo=UTC)
    )
    assert [(one.page.title, one.cited) for one in await pages.all()] == [
        ("cited", 7),
        ("later", 0),
        ("late", 0),
    ]


def test_a_page_is_told_with_since_when_how_often_and_whose() -> None:
    stale = stale_page(
        a_page(owner="People <team>", dates=PageDates(expires=date(2026, 5, 3))), TODAY, cited=2
    )
    assert stale is not None
    assert stale_line(stale, messages_in("en")) == (
        "• *<https://kb.example/leave-policy|Leave policy>* · expired 3 May 2026 · cited by 2 answers · "
        "owner: People &lt;team&gt;"
    )


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_many_pages_fit_a_message_in_every_language(language: str) -> None:
    pages = [
        stale_page(
            a_page(
                title=f"{n} " + "long title " * 30,
                url="https://kb.example/" + "x" * 550,
                owner="o" * 300,
                dates=PageDates(expires=date(2026, 5, 3)),
            ),
            TODAY,
        )
        for n in range(60)
    ]
    blocks = stale_blocks([one for one in pages if one is not None], LANGUAGES[language])
    assert all(len(block["text"]["text"]) <= 3000 for block in blocks if block["type"] == "section")
    shown = sum(str(block).count("kb.example/") for block in blocks)
    assert sum(len(block["text"]["text"]) for block in blocks if block["type"] == "section") <= 13_200
    assert shown >= 10
    assert LANGUAGES[language].and_more.format(n=60 - shown) in str(blocks[-1])
    assert len(stale_blocks([], LANGUAGES[language])) == 1
