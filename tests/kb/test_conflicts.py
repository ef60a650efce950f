"""What counts as a contradiction and, more often, what does not. The similarity of two sentences is given by the test."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kb.conflicts.statements import Statement, contrasted, find_disputes, may_disagree
from kb.models import Chunk, Page


def a_statement(text: str, *, title: str = "Page", language: str = "en", at: int = 0) -> Statement:
    page = Page(id=f"{title}-{at}", source="s", path=f"{at}.md", title=title, url="u", language=language)
    chunk = Chunk(id=f"c{at}", page=page, position=0, text=text, url="u")
    return Statement(chunk=chunk, text=text)


def disagree(one: str, other: str, *, titles: tuple[str, str] = ("Rules", "Questions"), language: str = "en"):
    left = a_statement(one, title=titles[0], language=language, at=0)
    return may_disagree(left, a_statement(other, title=titles[1], language=language, at=1))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "Employees get 25 days of paid holiday a year.",
            "Employees receive 23 days of paid holiday per year.",
        ),
        ("Database backups are kept for 35 days.", "We keep database backups for 30 days."),
        ("Lunch is served from 11:30 to 13:30.", "The canteen serves lunch from 12:00 to 13:30."),
        ("Receipts must be handed in by 5 March.", "Hand in all receipts by 10 March."),
        ("Payroll runs on Tuesday.", "Payroll runs on Thursday."),
        ("Room Maple seats 8 people.", "Maple seats 10 people."),
        ("| Hotel, per night | 150 euros |", "A hotel may cost at most 120 euros a night."),
        ("A reply takes 8 hours.", "A reply takes 2 days."),
        ("A group has a maximum size of 25 people.", "The maximum size for a group is 16 people."),
        ("You can carry over 10 days of vacation.", "At most 5 days of vacation can be carried over."),
        ("The notice period is two months.", "When you leave, your notice period is one month."),
        ("From 1 January 2026 the mileage rate is 0.25 euros.", "The mileage rate is 0.21 euros."),
    ],
)
def test_other_figures_for_the_same_thing_may_disagree(one: str, other: str):
    assert disagree(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The mileage rate is 0.25 euros.", "The mileage rate is 0,25 euros."),
        ("The fee is 1,500 euros.", "The fee is 1.500 euros."),
        ("Full-time employees get 25 days of holiday.", "Part-time employees get 15 days of holiday."),
        ("Delivery takes 2 days in the Netherlands.", "Delivery takes 5 days in Belgium."),
        ("The rate was 0.21 euros in 2024.", "The rate is 0.25 euros in 2026."),
        ("Band 3 pays 4,000 euros a month.", "Band 4 pays 4,800 euros a month."),
        ("You can carry over 5 days of holiday.", "You get 25 days of holiday."),
        ("The API allows 60 requests per minute.", "The API allows 1,000 requests per hour."),
        ("Room Maple seats 8 people.", "Room Birch seats 10 people."),
        ("The maximum upload is 100 MB.", "The minimum upload is 1 MB."),
        ("A booking may take at most 30 minutes.", "The booking takes 20 minutes."),
        ("The notice period is 1 month during probation.", "The notice period is 3 months."),
        (
            "The desk is staffed from 10:00 to 16:00 at the weekend.",
            "The desk is staffed from 8:00 to 18:00.",
        ),
        ("Dogs pay 15 euros a stay.", "Cats pay 10 euros a stay."),
        ("Members get 25 days after 1 year.", "Members get 28 days after 5 years."),
        ("Policies are reviewed every 12 months.", "Policies take 6 months."),
        ("Abstracts are due on 1 March 2026.", "Abstracts are due on 2 March 2027."),
        ("Table A seats 6 people.", "Table B seats 4 people."),
        ("A reply takes 48 hours.", "A reply takes two days."),
        ("The quota is 2 TB.", "The quota is 2,000 GB."),
    ],
)
def test_what_differs_in_scope_unit_terms_or_not_at_all_is_no_contradiction(one: str, other: str):
    assert not disagree(one, other)


@pytest.mark.parametrize(
    "titles",
    [
        ("Returns Germany", "Returns Netherlands"),
        ("Premium plan", "Basic plan"),
        ("Travel 2024", "Travel 2026"),
        ("Office Amsterdam", "Office Berlin"),
    ],
)
def test_pages_of_other_countries_plans_and_years_do_not_contradict_each_other(titles: tuple[str, str]):
    assert not disagree("It takes 30 days to pay.", "It takes 14 days to pay.", titles=titles)


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        (("v1", "v2"), False),
        (("guide › v1", "guide › v1.2"), False),
        (("v1", ""), True),
        (("2023", "2024"), True),
    ],
)
def test_pages_that_stand_under_other_versions_do_not_contradict_each_other(
    places: tuple[str, str], expected: bool
):
    one, other = (
        Statement(
            chunk=replace(given.chunk, page=replace(given.chunk.page, place=place)),
            text=given.text,
        )
        for given, place in zip(
            (
                a_statement("The server needs 2 GB of memory.", title="Install", at=0),
                a_statement("The server needs 8 GB of memory.", title="Install", at=1),
            ),
            places,
            strict=True,
        )
    )
    assert may_disagree(one, other) is expected


def test_two_sentences_of_one_page_are_no_conflict():
    one = a_statement("Backups are kept for 35 days.")
    assert not may_disagree(one, a_statement("Backups are kept for 30 days."))


def test_one_word_in_the_same_place_tells_two_things_apart_and_other_words_around_do_not():
    assert contrasted("Dogs pay 15 euros a stay.", "Cats pay 10 euros a stay.")
    assert not contrasted("Backups are kept for 35 days.", "We keep all of the backups for 30 days.")


@pytest.mark.parametrize(("score", "found"), [(0.9, 1), (0.4, 0)])
async def test_the_similarity_has_the_last_word(score: float, found: int):
    stated = a_statement("Guest passwords are valid for 12 hours.", title="Wi-Fi")
    other = a_statement("A guest password is valid for 24 hours.", title="Network", at=1)

    async def alike(pairs: list[tuple[str, str]]) -> list[float]:
        assert all("12" not in one and "24" not in two for one, two in pairs)
        return [score] * len(pairs)

    disputes = await find_disputes([stated], [stated.chunk, other.chunk], similarity=alike)
    assert len(disputes) == found


async def test_an_answer_without_figures_asks_for_no_similarity():
    stated = a_statement("Backups are encrypted.", title="Backups")

    async def never(pairs: list[tuple[str, str]]) -> list[float]:
        raise AssertionError(pairs)

    other = a_statement("Backups are kept for 30 days.", title="Storage", at=1).chunk
    assert await find_disputes([stated], [stated.chunk, other], similarity=never) == []
