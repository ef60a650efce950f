"""Where a page stands, in words, from its path."""

import pytest

from kb.pages.places import MAX_CHARACTERS, fitted, parts_of, place_of


@pytest.mark.parametrize(
    ("path", "title", "place"),
    [
        ("offices/ghent/parking.md", "Parking", "offices › ghent"),
        ("v2/install.md", "Install", "v2"),
        ("alpha/faq.md", "FAQ", "alpha"),
        ("tree/030-policies/pto.md", "Paid time off", "policies › pto"),
        ("tree/070-project-management/invoicing.md", "Invoicing", "project management"),
        ("src/content/docs/writers/bi-tools/index.md", "BI tools", "writers"),
        ("source/standards/slis.html.md.erb", "Service level indicators", "standards › slis"),
        ("120-help-desk/helpdesk.md", "CivicActions Help Desk Support", ""),
        ("it/how-to-print.md", "Print", "it › how to print"),
        ("HR/how-to.md", "Print", "HR › how to"),
    ],
)
def test_a_place_is_the_folders_and_what_a_file_s_name_adds_to_the_title(path: str, title: str, place: str):
    assert place_of(path, title) == place


@pytest.mark.parametrize(
    ("path", "title", "place"),
    [
        ("finance/travel-expenses-2024.md", "Travel expenses", "finance › 2024"),
        ("2023/travel.md", "Travel", "2023"),
        ("release-notes-v2.1.pdf", "Release notes", "v2.1"),
        ("0024-egress.md", "Egress", ""),
        ("7-parking.md", "Parking", ""),
        ("2024-03-01-all-hands.md", "All hands", "2024-03-01"),
        ("expenses-2024.md", "Expenses 2024", ""),
    ],
)
def test_a_year_and_a_version_stay_and_a_number_that_orders_goes(path: str, title: str, place: str):
    assert place_of(path, title) == place


@pytest.mark.parametrize(
    "path",
    [
        "parking.md",
        "docs/index.md",
        "123456",
        "C0123ABCDEF/1700000000.001200",
        "0123456789abcdef0123456789abcdef",
        "docs.example.com/parking/index?lang=en",
        "",
        "/",
    ],
)
def test_ids_hosts_and_general_names_are_no_place(path: str):
    assert place_of(path, "Parking") == ""


def test_a_website_s_path_is_read_as_people_see_it():
    assert place_of("docs.example.com/caf%C3%A9s/opening-hours", "Hours") == "cafés › opening hours"


def test_a_space_of_a_wiki_is_a_place():
    assert place_of("FIN/884736", "Parking") == "FIN"


def test_a_folder_of_the_page_s_own_language_says_nothing():
    assert place_of("nl/reiskosten.md", "Reiskosten", "nl") == ""
    assert place_of("nl/travel.md", "Travel", "en") == "nl"


def test_a_long_place_keeps_its_year_and_its_innermost_folders():
    path = "v1/the-first-of-many-folders/the-second-of-many-folders/the-third-of-many/page.md"
    place = place_of(path, "Page")
    assert place == "v1 › the second of many folders › the third of many"
    assert len(place) <= MAX_CHARACTERS


def test_a_part_that_is_too_long_is_cut_between_words():
    assert fitted(parts_of("a-folder-with-a-name-of-many-words/x.md", "X"), 20) == "a folder with a…"
    assert fitted((), 20) == ""
