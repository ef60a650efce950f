"""The questions to try are made of the loaded pages, read as a person would ask, and are the same every time."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from bot.playground.guide import Suggestion, suggestions
from kb.models import Chunk, Page, PageDates


def page(
    title: str, *headings: str, text: str = "Some words.", language: str = "en", **more: object
) -> list[Chunk]:
    path = f"{title.lower().replace(' ', '-')}.md"
    told = Page(id=path, source="s", path=path, title=title, url=path, language=language)
    told = replace(told, **more)  # type: ignore[arg-type]
    sections = [(), *((heading,) for heading in headings)]
    return [
        Chunk(id=f"{path}#{number}", page=told, position=number, text=text, section=section, url=path)
        for number, section in enumerate(sections)
    ]


LEAVE = page("Leave policy", "Annual leave", "Expiry", "Booking holiday", "Special leave", "Unpaid leave")
FAQ = page("Frequent questions", "Pay", "When is my salary paid?", "May I bring my dog?")
RETURNS = page("Returns", "How to return an order", "What cannot be returned")
SICK = page("Ziekmelden", "Hoe meld ik me ziek?", "Loon bij ziekte", language="nl", text="Bel de baas.")


def texts(passages: list[Chunk]) -> list[str]:
    return [one.text for one in suggestions(passages)]


def test_they_are_a_topic_its_follow_up_two_questions_of_others_and_what_nobody_knows() -> None:
    passages = [*LEAVE, *FAQ, *RETURNS, *SICK]
    assert suggestions(passages) == (
        Suggestion(text="What should I know about annual leave?"),
        Suggestion(text="And unpaid leave?", kind="follow_up"),
        Suggestion(text="When is my salary paid?"),
        Suggestion(text="Hoe meld ik me ziek?"),
        Suggestion(text="Who feeds the office cat?", kind="unanswered"),
    )
    assert suggestions(passages[::-1]) == suggestions(passages)


def test_a_heading_that_tells_how_becomes_the_question_how() -> None:
    assert "How do I return an order?" in texts([*LEAVE, *RETURNS])


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("It applies in the Netherlands.", "What should I know about work in Netherlands?"),
        ("netherlands is written small here", "What should I know about work in netherlands?"),
    ],
)
def test_names_stay_large_within_a_question(text: str, asked: str) -> None:
    assert texts(page("Work", "Work in Netherlands", "Office work", text=text))[0] == asked


def test_abbreviations_stay_as_they_are_written() -> None:
    passages = page("Laptop care", "MacBook laptop", "TOGAF laptop")
    assert texts(passages)[:2] == ["What should I know about MacBook laptop?", "And TOGAF laptop?"]


@pytest.mark.parametrize(
    ("language", "title", "headings", "asked"),
    [
        ("nl", "Verlof", ("Betaald verlof", "Onbetaald verlof"), "Wat moet ik weten over betaald verlof?"),
        (
            "de",
            "Urlaub",
            ("Bezahlter Urlaub", "Neuer Urlaub"),
            "Was muss ich zum Thema „Bezahlter Urlaub“ wissen?",
        ),
        ("fr", "Congé", ("Congé annuel", "Congé parental"), "Que faut-il savoir sur « Congé annuel » ?"),
        ("es", "Permiso", ("Permiso anual", "Permiso parental"), "¿Qué debo saber sobre permiso anual?"),
        ("pt", "Férias", ("Férias anuais", "Férias parentais"), "O que devo saber sobre férias anuais?"),
    ],
)
def test_they_are_asked_in_the_language_of_the_pages(
    language: str, title: str, headings: tuple[str, ...], asked: str
) -> None:
    found = suggestions(page(title, *headings, language=language))
    assert found[0].text == asked
    assert [one.kind for one in found] == ["question", "follow_up", "unanswered"]


def test_what_some_page_knows_is_not_offered_as_unknown() -> None:
    cat = page("Office cat", text="Emma feeds the cats on Mondays.")
    assert texts([*LEAVE, *cat])[-1] == "How often is the aquarium cleaned?"


def test_pages_that_are_out_of_force_ask_nothing() -> None:
    old = page("Old leave", "Annual leave", "Unpaid leave", superseded_by="leave-policy.md")
    over = page("Summer leave", "June leave", "July leave", dates=PageDates(expires=date(2026, 9, 1)))
    assert texts([*old, *over]) == []


@pytest.mark.parametrize(
    "heading",
    [
        "Step 1: begin",
        "What we do",
        "For the author",
        "2026",
        "Overview",
        "A | B",
        "The whole long story of how it came",
    ],
)
def test_headings_that_are_no_topics_are_not_asked_about(heading: str) -> None:
    found = texts([*page("Alpha", heading), *page("Beta", heading)])
    assert not any(heading.lower() in one.lower() for one in found)


def test_pages_without_headings_go_by_their_titles_and_no_pages_have_no_questions() -> None:
    found = suggestions([*page("Parking"), *page("Bicycle sheds")])
    assert [one.text for one in found][:2] == ["What should I know about bicycle sheds?", "And parking?"]
    assert suggestions([]) == ()


def test_no_question_comes_twice() -> None:
    same = [
        *page("One", "General consequences"),
        *page("Two", "General consequences"),
        *page("Three", "General consequences"),
    ]
    assert len(set(texts(same))) == len(texts(same))
