"""A question that names the place of one of two pages with the same title is answered by that page alone."""

from __future__ import annotations

import pytest

from kb.retrieval.named_places import keep_named_places
from tests.fakes.passages import a_passage, equal_hits


def left(query: str, *paths: str, title: str = "Parking") -> list[str]:
    hits = equal_hits(*(a_passage("The code is 4411.", title=title, id=path, path=path) for path in paths))
    return [hit.chunk.page.path for hit in keep_named_places(hits, query)]


@pytest.mark.parametrize(
    ("query", "named", "other"),
    [
        ("What is the gate code in Zwolle?", "offices/zwolle/parking.md", "offices/ghent/parking.md"),
        ("Where do I park at Acme Corp?", "clients/acme-corp/parking.md", "clients/globex/parking.md"),
        ("How do I install version 1?", "v1/install.md", "v2/install.md"),
        ("How do I install v2.1?", "docs/v2.1/install.md", "docs/v2.0/install.md"),
        ("What was the bonus in 2024?", "2024/bonus.md", "2025/bonus.md"),
        ("What was the bonus in 2024?", "bonus-2024.md", "bonus-2025.docx"),
        ("How do I reach IT?", "it/contact.md", "hr/contact.md"),
    ],
)
def test_the_page_of_the_other_place_is_left_out(query: str, named: str, other: str) -> None:
    assert left(query, other, named) == [named]


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("What is the gate code?", ("offices/ghent/parking.md", "offices/zwolle/parking.md")),
        ("I drive from Ghent to Zwolle: codes?", ("offices/ghent/parking.md", "offices/zwolle/parking.md")),
        ("I am 60 years old: do I get more leave?", ("leave.md", "leave-old.md")),
        ("How does it work?", ("it/contact.md", "hr/contact.md")),
        ("Parking in Zwolle?", ("offices/ghent/parking.md", "zwolle/parking.md")),
    ],
)
def test_a_question_that_names_no_place_or_both_is_about_both(query: str, paths: tuple[str, ...]) -> None:
    assert left(query, *paths) == list(paths)


def test_a_page_of_another_title_is_another_matter() -> None:
    hits = equal_hits(
        a_passage("The code is 4411.", title="Parking", id="a", path="offices/ghent/parking.md"),
        a_passage("Ask for a badge.", title="Badges", id="b", path="offices/zwolle/badges.md"),
    )
    assert keep_named_places(hits, "What is the gate code in Zwolle?") == list(hits)
