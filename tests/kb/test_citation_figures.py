"""Figures as people say them, and how often things come again, against what the page has."""

from __future__ import annotations

import pytest

from kb.citations.facts import read_facts


@pytest.mark.parametrize(
    ("said", "page"),
    [
        ("The deadline is noon.", "Deadline: 12:00."),
        ("A quarter of an hour is enough.", "15 minutes are enough."),
        ("You have half a year.", "You have 6 months."),
        ("Two thirds of the teams agreed.", "67% of the teams agreed."),
        ("Half of the teams agreed.", "50% of the teams agreed."),
        ("A fortnight later it is gone.", "It is gone after two weeks."),
        ("An eight-year study.", "The study took 8 years."),
        ("De helft betaal je.", "Je betaalt 50%."),
        ("Sie haben ein halbes Jahr.", "Sie haben 6 Monate."),
        ("Hay media hora.", "Hay 30 minutos."),
        ("La moitié des équipes.", "50% des équipes."),
        ("It runs weekly.", "It runs daily; the report comes every week."),
        ("It runs weekly.", "It runs daily and on Mondays."),
    ],
)
def test_the_same_figure_is_known_however_it_is_said(said: str, page: str) -> None:
    assert read_facts(said).beyond(read_facts(page)).none


@pytest.mark.parametrize(
    ("said", "page", "missing"),
    [
        ("Two thirds of the teams agreed.", "60% of the teams agreed.", "number"),
        ("You have half a year.", "You have 9 months.", "number"),
        ("It runs weekly.", "It runs daily.", "number"),
        ("It is destroyed on a monthly basis.", "It is destroyed on a weekly basis.", "number"),
        ("Send a file that ends in .xlsx.", "Send a file that ends in .csv.", "name"),
    ],
)
def test_another_figure_is_missing(said: str, page: str, missing: str) -> None:
    assert read_facts(said).beyond(read_facts(page)).kinds == [missing]


def test_a_third_party_is_no_share_and_the_ending_of_a_file_stands_behind_its_name() -> None:
    assert (
        read_facts("A third party may read it.").quantities
        == read_facts("Third parties may read it.").quantities
    )
    assert read_facts("It writes .csv files.").beyond(read_facts("It writes report.csv.")).none


def test_a_year_is_held_against_the_year_that_the_page_gives_for_the_same() -> None:
    (born,), (married,) = (
        read_facts("She was born in 1933.").quantities,
        read_facts("She was born in 1938.").quantities,
    )

    assert born.rivals(married)
    assert not born.rivals(read_facts("She has 12 cats.").quantities[0])
