"""What a page says of its own standing, and what merely sounds like it."""

from __future__ import annotations

import pytest

from ingest.parsers.markup.markdown import parse_markdown
from ingest.parsers.notices import Notices, read_notices


def notices_of(text: str) -> Notices:
    parsed = parse_markdown(text.encode(), path="page.md")
    return read_notices(parsed.title, parsed.sections)


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("Version 2.1", "2.1"),
        ("**Version:** 3", "3"),
        ("v2, valid from 1 March 2026", "2"),
        ("2026 edition", "2026"),
        ("This is the 2026 edition.", "2026"),
        ("This is version 4 of the policy.", "4"),
        ("Versie 2", "2"),
        ("Ausgabe 2026", "2026"),
        ("Édition 2026", "2026"),
        ("Versión 2", "2"),
        ("You need Terraform version 1.5 or later to run the modules in this repository.", None),
        ("The edition is printed in two colours.", None),
        ("Version 2 or version 3 will do.", None),
        ("In 2026 we moved to a new office.", None),
    ],
)
def test_a_version_counts_where_the_page_speaks_of_itself(line: str, version: str | None):
    assert notices_of(f"# Expenses\n\n{line}\n\n## Meals\n\nText.\n").version == version


@pytest.mark.parametrize(
    ("title", "version"),
    [
        ("Expenses policy (v2)", "2"),
        ("Expenses policy, 2026 edition", "2026"),
        ("Upgrading to version 3", None),
        ("Travel expenses 2026", None),
    ],
)
def test_a_title_names_a_version_only_when_it_is_set_apart(title: str, version: str | None):
    assert notices_of(f"# {title}\n\nText.\n").version == version


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("Replaces: Travel expenses 2024", "Travel expenses 2024"),
        ("This page replaces [the old rules](travel-2024.md).", "travel-2024.md"),
        ("This policy supersedes the Travel expenses 2024.", "Travel expenses 2024"),
        ('This guide replaces "Travel expenses 2024" from 1 January.', "Travel expenses 2024"),
        ("This page replaces Travel expenses 2024 from 1 January 2026.", "Travel expenses 2024"),
        ("Deze pagina vervangt Reiskosten 2024.", "Reiskosten 2024"),
        ("Diese Seite ersetzt Reisekosten 2024.", "Reisekosten 2024"),
        ("Cette page remplace Frais de voyage 2024.", "Frais de voyage 2024"),
        ("Esta página sustituye a Gastos de viaje 2024.", "Gastos de viaje 2024"),
        ("> **Replaces:** Travel expenses 2024", "Travel expenses 2024"),
    ],
)
def test_what_a_page_replaces_is_read_from_its_head(line: str, named: str):
    assert named in notices_of(f"# Travel\n\n{line}\n\nText.\n").replaces


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("Replaced by: Travel expenses 2026", "Travel expenses 2026"),
        ("This page has been replaced by [Travel](travel-2026.md).", "travel-2026.md"),
        ("Deze pagina is vervangen door Reiskosten 2026.", "Reiskosten 2026"),
        ("Cette page a été remplacée par Frais de voyage 2026.", "Frais de voyage 2026"),
        ("Esta página ha sido sustituida por Gastos de viaje 2026.", "Gastos de viaje 2026"),
        ("Superseded by [ADR 12](0012-new.md)", "0012-new.md"),
    ],
)
def test_what_replaced_a_page_is_read_from_its_head(line: str, named: str):
    assert notices_of(f"# Travel\n\n{line}\n\nText.\n").superseded_by == named


@pytest.mark.parametrize(
    "line",
    [
        "The new laptop replaces the old one within two days.",
        "IT replaces a broken charger at once.",
        "A filter that replaces the default one is set in the console.",
    ],
)
def test_pages_about_replacing_things_replace_no_page(line: str):
    assert notices_of(f"# Equipment\n\n{line}\n") == Notices()


def test_a_notice_far_down_a_page_speaks_of_something_else():
    sections = "\n\n".join(f"Paragraph {at}." for at in range(8))
    assert notices_of(f"# Page\n\n{sections}\n\nReplaces: Other page\n\n## More\n\nText.\n").replaces == ()


RECORD = "# 4. Languages\n\nDate: 2021-01-11\n\n## Status\n\n{status}\n\n## Decision\n\nWe use Bash.\n"


@pytest.mark.parametrize(
    ("status", "superseded_by", "replaces"),
    [
        ("⌛️ Superseded [0019](0019-go.md)", "0019-go.md", ()),
        ("Superceded by [19. Go](0019-go.md)", "0019-go.md", ()),
        ("Accepted\n\nSupersedes [2. Perl](0002-perl.md)", None, ("0002-perl.md", "2. Perl")),
        ("Accepted", None, ()),
        ("Superseded", None, ()),
    ],
)
def test_a_decision_records_status_says_what_replaced_it(
    status: str, superseded_by: str | None, replaces: tuple[str, ...]
):
    told = notices_of(RECORD.format(status=status))
    assert (told.superseded_by, told.replaces) == (superseded_by, replaces)


def test_a_status_far_down_is_of_something_else():
    text = "# API\n\n## Use\n\nText.\n\n## Keys\n\nText.\n\n## Errors\n\nText.\n\n## Status\n\nSuperseded by [v2](v2.md)\n\n## Help\n\nText.\n"
    assert notices_of(text).superseded_by is None
