"""What a page is called beside others."""

from kb.answer import Citation
from kb.models import Chunk, Page
from kb.pages.labels import labels, page_labels


def a_page(path: str, title: str = "Parking", **fields: str) -> Page:
    return Page(
        id=path, path=path, title=title, **{"source": "kb", "url": f"https://kb.example/{path}", **fields}
    )


def called(*pages: Page) -> list[str]:
    told = page_labels(pages)
    return [told[page.id] for page in pages]


def a_citation(n: int, page: Page) -> Citation:
    chunk = Chunk(id=f"{n}", page=page, position=n, text="Text.", url=page.url)
    return Citation(n=n, chunk=chunk, quote="Text.", freshness="current", score=None)


def test_a_page_alone_is_called_by_its_title():
    assert called(a_page("ghent/parking.md"), a_page("ghent/leave.md", "Leave")) == ["Parking", "Leave"]


def test_two_pages_of_one_title_have_their_place_in_brackets():
    assert called(
        a_page("offices/ghent/parking.md"), a_page("offices/zwolle/parking.md"), a_page("x.md", "X")
    ) == ["Parking (ghent)", "Parking (zwolle)", "X"]


def test_titles_are_alike_whatever_their_case_and_spaces():
    assert called(a_page("v1/faq.md", "FAQ"), a_page("v2/faq.md", "Faq ")) == ["FAQ (v1)", "Faq  (v2)"]


def test_the_year_is_shown_where_it_is_the_difference():
    assert called(a_page("finance/travel-2023.md", "Travel"), a_page("finance/travel-2024.md", "Travel")) == [
        "Travel (2023)",
        "Travel (2024)",
    ]
    assert called(a_page("2023/docs/a/b/c/travel.md", "Travel"), a_page("2024/docs/a/b/c/travel.md", "Travel")) == [
        "Travel (2023)",
        "Travel (2024)",
    ]  # fmt: skip


def test_a_page_at_the_top_needs_no_brackets_beside_one_in_a_folder():
    assert called(a_page("install.md", "Install"), a_page("v2/install.md", "Install")) == [
        "Install",
        "Install (v2)",
    ]


def test_pages_whose_paths_say_nothing_are_told_apart_by_version_source_or_address():
    assert called(a_page("1", version="1"), a_page("2", version="2")) == ["Parking (1)", "Parking (2)"]
    assert called(a_page("1", source="hr"), a_page("2", source="it")) == ["Parking (hr)", "Parking (it)"]
    assert called(a_page("docs/parking.md"), a_page("src/parking.md")) == ["Parking (docs)", "Parking (src)"]


def test_citations_are_called_by_number_and_two_passages_of_one_page_are_one_page():
    ghent, zwolle = a_page("ghent/parking.md"), a_page("zwolle/parking.md")
    assert labels([a_citation(1, ghent), a_citation(2, ghent)]) == {1: "Parking", 2: "Parking"}
    assert labels([a_citation(1, ghent), a_citation(2, zwolle), a_citation(3, ghent)]) == {
        1: "Parking (ghent)",
        2: "Parking (zwolle)",
        3: "Parking (ghent)",
    }
    assert labels([]) == {}
