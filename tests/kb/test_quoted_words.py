"""Does a page still say what was quoted of it, and what does it say instead?"""

from __future__ import annotations

import pytest

from kb.pages.quoted_words import PageSection, fingerprint, gone_from, new_wording, statements_of, words_of

LEAVE = "Full-time employees get 25 days of paid holiday a year."


def a_page(*texts: str, headings: tuple[str, ...] = ("Annual leave",)) -> list[PageSection]:
    return [PageSection(headings=headings, text=text) for text in texts]


@pytest.mark.parametrize(
    "text",
    [
        "Full-time employees get **25 days** of paid holiday a year.",
        "- Full-time employees get [25 days](https://kb.example/days) of paid\n  holiday a year",
        "> Full-time *employees* get `25` days of <b>paid</b> holiday a year!",
        "1. First.\n2. FULL-TIME EMPLOYEES GET 25 DAYS OF PAID HOLIDAY A YEAR.",
        "Before. Full-time employees get 25 days of paid holiday a year. Behind.",
        "# Full-time employees get 25 days of paid holiday a year",
    ],
)
def test_markup_case_and_place_change_no_word(text: str) -> None:
    assert gone_from(a_page(text), [LEAVE]) == []


def test_a_quote_that_was_cut_into_two_passages_is_still_there() -> None:
    assert gone_from(a_page("Full-time employees get 25 days", "of paid holiday a year."), [LEAVE]) == []


@pytest.mark.parametrize(
    "text",
    [
        "Full-time employees get 30 days of paid holiday a year.",
        "Full-time employees get 25 days of holiday a year.",
        "Full-time employees do not get 25 days of paid holiday a year.",
        "Full-time employees get 250 days of paid holiday a year.",
        "",
    ],
)
def test_another_word_or_figure_is_another_statement(text: str) -> None:
    assert gone_from(a_page(text), [LEAVE]) == [LEAVE]


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ("It costs €5 a day.", "It costs $5 a day."),
        ("The freezer is at -18 degrees.", "The freezer is at 18 degrees."),
        ("Interest is 5% a year.", "Interest is 5 a year."),
        ("| Laptop | 3 years |", "| Laptop | 4 years |"),
        ("pip install footnote==1.2", "pip install footnote==1.3"),
        ("正社員は年間25日の有給休暇があります。", "正社員は年間30日の有給休暇があります。"),
    ],
)
def test_signs_rows_commands_and_other_scripts_count_too(then: str, now: str) -> None:
    assert gone_from(a_page(then), statements_of(then)) == []
    assert gone_from(a_page(now), statements_of(then)) == statements_of(then)


def test_only_what_is_gone_is_named_in_its_order() -> None:
    assert gone_from(a_page("Ask your lead."), [LEAVE, "Ask your lead.", "Use the portal."]) == [
        LEAVE,
        "Use the portal.",
    ]


def test_statements_are_sentences_items_and_rows_and_no_headings_or_crumbs() -> None:
    text = "## Leave\n\nYou get 25 days. Ask HR.\n\n- one item\n- two\n\n| Site | Days |\n|---|---|\n| Ghent | 20 |\n"
    assert statements_of(text) == [
        "You get 25 days.",
        "Ask HR.",
        "- one item",
        "| Site | Days |\n|---|---|",
        "| Ghent | 20 |",
    ]


def now(
    *texts: str, then: str = LEAVE, beside: str = "", headings: tuple[str, ...] = ("Annual leave",)
) -> str | None:
    before = {fingerprint(one) for one in statements_of(f"{then}\n\n{beside}")}
    return new_wording(then, ("Annual Leave",), a_page(*texts, headings=headings), before=before)


def test_the_new_wording_is_the_nearest_sentence_of_the_same_section() -> None:
    text = "Holidays matter. Full-time employees get **30 days** of paid holiday a year. Ask your lead."
    assert now(text) == "Full-time employees get **30 days** of paid holiday a year."


def test_a_sentence_of_another_section_is_no_new_wording() -> None:
    text = "Full-time employees get 30 days of paid holiday a year."
    assert now(text, headings=("Other countries",)) is None


def test_what_stood_beside_it_before_is_no_new_wording() -> None:
    beside = "Part-time employees get 12 days of paid holiday a year."
    assert now(beside, beside=beside) is None
    assert now(beside) == beside


def test_what_says_something_else_is_no_new_wording() -> None:
    assert now("Ask your lead before you book a flight. Send the form to the People team.") is None


def test_where_two_are_about_as_near_nobody_guesses() -> None:
    text = (
        "Full-time employees get 30 days of paid holiday a year. "
        "Full-time employees get 28 days of paid holiday a year."
    )
    assert now(text) is None


def test_a_row_is_the_new_wording_of_a_row_about_the_same_alone() -> None:
    then = "| Laptop | 3 years | EUR 1500 |"
    assert now("| Laptop | 4 years | EUR 1500 |", then=then) == "| Laptop | 4 years | EUR 1500 |"
    assert now("| Phone | 3 years | EUR 1500 |", then=then) is None
    assert now("Laptop 3 years EUR 1600", then=then) is None


def test_words_are_what_is_compared() -> None:
    assert words_of('1. **Full-time** [staff](https://a/b "t") get `25` days; don\'t _ask_.') == (
        "full-time staff get 25 days don't ask"
    )
