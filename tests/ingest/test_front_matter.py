"""Front matter as people write it: right, sloppy, broken."""

from __future__ import annotations

from datetime import date

import pytest

from ingest.errors import PageError
from ingest.front_matter.front_matter import FrontMatter
from ingest.front_matter.page_fields import mentions_a_limit, split_front_matter


def read(*lines: str) -> FrontMatter:
    front, body = split_front_matter("\n".join(["---", *lines, "---", "Body.\n"]))
    assert body == "Body.\n"
    return front


def test_every_known_field_is_read() -> None:
    front = read(
        "title: Leave policy",
        "date: 2024-01-10",
        "last_reviewed_on: 2026-04-22",
        "review_in: 6 months",
        "expires: 2027-01-01",
        "owner_team: People",
        "superseded_by: leave-2026.md",
        "lang: nl",
    )

    assert (front.title, front.owner, front.superseded_by, front.language) == (
        "Leave policy",
        "People",
        "leave-2026.md",
        "nl",
    )
    assert front.written == date(2024, 1, 10)
    assert front.dates.edited is None
    assert front.dates.reviewed == date(2026, 4, 22)
    assert front.dates.review_due == date(2026, 10, 22)
    assert front.dates.expires == date(2027, 1, 1)
    assert front.notes == ()


def test_a_title_is_read_as_a_browser_shows_it() -> None:
    assert read("title: C&oacute;mo contribuir &amp; ganar").title == "Cómo contribuir & ganar"


def test_toml_front_matter_is_read_too() -> None:
    front, body = split_front_matter(
        '+++\ntitle = "Travel"\nlast_reviewed_on = 2026-01-31\nreview_in = "1 month"\n+++\nText\n'
    )

    assert (front.title, body) == ("Travel", "Text\n")
    assert front.dates.review_due == date(2026, 2, 28)


@pytest.mark.parametrize(
    ("period", "due"),
    [
        ("6 months", date(2024, 8, 29)),
        ("12 months", date(2025, 2, 28)),
        ("1 year", date(2025, 2, 28)),
        ("a year", date(2025, 2, 28)),
        ("90 days", date(2024, 5, 29)),
        ("2 weeks", date(2024, 3, 14)),
        ("3 month", date(2024, 5, 29)),
    ],
)
def test_a_review_falls_due_by_calendar_months(period: str, due: date) -> None:
    assert read("last_reviewed_on: 2024-02-29", f"review_in: {period}").dates.review_due == due


def test_the_last_review_and_its_interval_beat_a_review_date_that_was_left_standing() -> None:
    front = read("last_reviewed_on: 2026-01-01", "review_in: 1 year", "review_by: 2025-03-01")

    assert front.dates.review_due == date(2027, 1, 1)
    assert read("last_reviewed_on: 2026-01-01", "review_by: 2026-03-01").dates.review_due == date(2026, 3, 1)


def test_a_page_names_what_it_replaces_and_which_version_it_is() -> None:
    front = read("replaces: [old.md, 'Travel expenses 2024']", "version: v2.1")

    assert (front.replaces, front.version) == (("old.md", "Travel expenses 2024"), "2.1")
    assert read("supersedes: old.md", "edition: 2026").replaces == ("old.md",)


@pytest.mark.parametrize(
    "written",
    ["2026-8-2", "2026/08/02", "2026-08-02T10:00:00Z", "2 August 2026", "Aug 2, 2026", "'2026-08-02'"],
)
def test_dates_are_read_in_every_unambiguous_form(written: str) -> None:
    assert read(f"last_reviewed_on: {written}").dates.reviewed == date(2026, 8, 2)


@pytest.mark.parametrize(
    "written",
    ["2026-13-45", "soon", "yyyy-mm-dd", "2026-02-30", "eind 2026", "May 9, 2017, copied on 11/28/17."],
)
def test_a_date_that_cannot_be_read_is_a_note_and_the_rest_is_kept(written: str) -> None:
    front = read("title: Leave", f"last_reviewed_on: {written}", "review_in: 6 months")

    assert front.title == "Leave"
    assert (front.dates.reviewed, front.dates.review_due) == (None, None)
    assert front.notes == (f"last_reviewed_on {written!r} is no date like 2026-08-22",)


def test_a_date_that_two_people_would_read_as_two_is_a_note_that_names_both() -> None:
    front = read("expires: 10/11/2026", "last_reviewed_on: 03-04-2025")

    assert (front.dates.expires, front.dates.reviewed) == (None, None)
    assert front.notes == (
        "last_reviewed_on '03-04-2025' may be 2025-03-04 or 2025-04-03: write it as one of these",
        "expires '10/11/2026' may be 2026-10-11 or 2026-11-10: write it as one of these",
    )


def test_a_page_of_dutch_dates_is_read_as_its_author_wrote_them() -> None:
    front = read("expires: 31-12-2025", "last_reviewed_on: 3 mei 2024", "review_in: 6 maanden")

    assert front.dates.expires == date(2025, 12, 31)
    assert (front.dates.reviewed, front.dates.review_due) == (date(2024, 5, 3), date(2024, 11, 3))
    assert front.notes == ()


def test_a_month_or_a_quarter_holds_to_its_end_and_a_review_counts_from_its_beginning() -> None:
    front = read("expires: Q3 2025", "review_by: maart 2026", "last_reviewed_on: août 2024", "updated: 2024")

    assert (front.dates.expires, front.dates.review_due) == (date(2025, 9, 30), date(2026, 3, 31))
    assert (front.dates.reviewed, front.dates.edited) == (date(2024, 8, 1), date(2024, 1, 1))


@pytest.mark.parametrize(
    "field",
    [
        "lastReviewedOn",
        "Last-Reviewed-On",
        "LAST_REVIEWED_ON",
        "last reviewed on",
        "laatst_nagekeken",
        "zuletzt geprüft",
    ],
)
def test_a_field_is_known_however_it_is_spelled(field: str) -> None:
    assert read(f"{field}: 2026-08-02").dates.reviewed == date(2026, 8, 2)


@pytest.mark.parametrize(
    "text",
    [
        '+++\ntitle = "Pay"\nexpires = 2025-12-31\n[extra]\nowner = "People"\n+++\nBody.\n',
        '{\n"title": "Pay", "expires": "31-12-2025",\n"params": {"owner": "People"}\n}\nBody.\n',
        '---json\n{"title": "Pay", "expires": "31-12-2025", "owner": "People"}\n---\nBody.\n',
        '---toml\ntitle = "Pay"\nexpires = 2025-12-31\nowner = "People"\n---\nBody.\n',
        ';;;\n"title": "Pay",\n"expires": "31-12-2025",\n"owner": "People"\n;;;\nBody.\n',
        '"title": "Pay",\n"expires": "31-12-2025",\n"owner": "People"\n;;;\nBody.\n',
        '{{{\n"title": "Pay", "expires": "31-12-2025", "owner": "People"\n}}}\nBody.\n',
        "title: Pay\nexpires: 31-12-2025\nowner: People\n---\nBody.\n",
    ],
    ids=[
        "TOML",
        "JSON",
        "named JSON",
        "named TOML",
        "Hexo's JSON",
        "without its upper fence",
        "braces",
        "Hexo's YAML",
    ],
)
def test_every_form_of_front_matter_has_all_fields_and_is_no_text(text: str) -> None:
    front, body = split_front_matter(text)

    assert (front.title, front.owner, front.dates.expires) == ("Pay", "People", date(2025, 12, 31))
    assert (front.notes, body) == ((), "Body.\n")


def test_fields_without_any_fence_are_read_and_stay_words_of_the_page() -> None:
    text = "Title: Pay\nLast edited time: March 3, 2024 10:12 AM\n\n# Pay\n\nBand 3.\n"

    front, body = split_front_matter(text)

    assert (front.title, front.dates.edited, body) == ("Pay", date(2024, 3, 3), text)


def test_what_notion_exports_below_a_title_is_read_and_stays() -> None:
    text = "# Pay\n\nOwner: Ann\nExpires: 31-12-2025\n\nBand 3.\n"

    front, body = split_front_matter(text)

    assert (front.owner, front.dates.expires, body) == ("Ann", date(2025, 12, 31), text)


@pytest.mark.parametrize(
    "text",
    [
        '{ "name": "example" }\n\nThis is what the server answers.\n',
        "{% note %}\nMind the gap.\n",
        "Note: the office is closed.\nAnd so is the canteen.\n",
        "Warning: hot.\n\nDo not touch.\n",
    ],
)
def test_a_page_that_begins_with_braces_or_a_colon_is_text(text: str) -> None:
    assert split_front_matter(text) == (FrontMatter(), text)


@pytest.mark.parametrize("period", ["{period}", "often", "99999 years", "9999 years"])
def test_a_period_that_cannot_be_read_is_a_note(period: str) -> None:
    front = read("last_reviewed_on: 2026-01-01", f'review_in: "{period}"')

    assert front.dates.review_due is None
    assert front.dates.reviewed == date(2026, 1, 1)
    assert front.notes == (f"review_in {period!r} is no period like '6 months'",)


def test_broken_yaml_keeps_its_one_line_fields_and_is_noted() -> None:
    front = read("title: Leave: the policy", "last_reviewed_on: 2026-04-22")

    assert front.title == "Leave: the policy"
    assert front.dates.reviewed == date(2026, 4, 22)
    assert front.notes == ("its front matter is not valid YAML",)


def test_norwegian_is_a_language_and_not_false() -> None:
    assert read("lang: no").language == "no"
    assert read("lang: zh-hans").language == "zh"


def test_a_ruler_at_the_top_is_no_front_matter() -> None:
    text = "---\nJust prose: with a colon.\nAnd more of it.\nAnd more.\n---\nThe end.\n"

    front, body = split_front_matter(text)

    assert (front, body) == (FrontMatter(), text)


@pytest.mark.parametrize(
    ("written", "marks"),
    [
        ('["#people-leads", C0123456]', ("#people-leads", "C0123456")),
        ("people-leads", ("#people-leads",)),
        ("'#A-Team, #b-team'", ("#a-team", "#b-team")),
        ("everyone", None),
        ('"*"', None),
        ("['@Finance', S0PAYROLL1, '#people-leads']", ("#people-leads", "@finance", "S0PAYROLL1")),
    ],
)
def test_an_audience_is_channels_and_groups_or_everyone(written: str, marks: tuple[str, ...] | None) -> None:
    assert read(f"audience: {written}").audience == marks
    assert read(f"channels: {written}").audience == marks


@pytest.mark.parametrize(
    "lines",
    [
        ["audience:"],
        ["audience: []"],
        ["audience: {team: people}"],
        ["audience: [[a]]"],
        ["audience: All of the staff!"],
        ["audience: [everyone, '#people']"],
        ["audience: [#people-leads]"],
        ["audience: [@finance]"],
        ["title: Broken: yaml", "channels: secret"],
    ],
)
def test_an_audience_that_cannot_be_understood_fails_closed(lines: list[str]) -> None:
    with pytest.raises(PageError) as caught:
        read(*lines)

    assert caught.value.withdraw


@pytest.mark.parametrize(
    "text",
    [
        "---\naudience: '#leads'\n\n# Pay\n\nBand 3 earns more.\n",
        " ---\naudience: '#leads'\n ---\nBand 3 earns more.\n",
        "-----\ntitle: Pay\naudience: '#leads'\n-----\nBand 3 earns more.\n",
        "+++\naudience = ['#leads']\n# Pay\n",
    ],
    ids=["never closed", "indented", "too many dashes", "TOML that is never closed"],
)
def test_a_limit_in_what_was_meant_as_front_matter_fails_closed(text: str) -> None:
    with pytest.raises(PageError) as caught:
        split_front_matter(text)

    assert caught.value.withdraw


def test_front_matter_below_a_comment_is_read() -> None:
    front, body = split_front_matter("<!-- (c) Acme -->\n---\naudience: '#leads'\n---\nBand 3 earns more.\n")

    assert front.audience == ("#leads",)
    assert body == "Band 3 earns more.\n"


@pytest.mark.parametrize(
    "text",
    ["\n\n---\naudience: '#leads'\n---\nText.\n", "---\naudience: '#leads'\n...\nText.\n"],
    ids=["empty lines above", "ended as YAML ends"],
)
def test_front_matter_may_stand_below_empty_lines_and_end_as_yaml_does(text: str) -> None:
    front, body = split_front_matter(text)

    assert (front.audience, body) == (("#leads",), "Text.\n")


def test_a_page_that_speaks_of_channels_below_a_ruler_is_read() -> None:
    text = "---\n\nChannels: we have two.\n\nThe end.\n"

    assert split_front_matter(text) == (FrontMatter(), text)


def test_a_limit_is_noticed_in_bytes_that_are_no_text() -> None:
    assert mentions_a_limit("---\ntitle: Gehälter\naudience: '#leads'\n---\n".encode("latin-1"))
    assert mentions_a_limit("---\naudience: '#leads'\n---\nGehälter\n".encode("utf-16-le"))
    assert not mentions_a_limit("---\ntitle: Gehälter\n---\n".encode("latin-1"))


def test_deeply_nested_yaml_is_a_note_and_no_crash() -> None:
    assert read("title: Fine", "x: " + "[" * 50_000).title == "Fine"


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece", [" ", "{", "<!--", "---\n", "a: b\n", "\n \n", "x\n===\n", "**a:** b\n", '{"a":']
)
def test_a_head_that_never_ends_is_read_in_time(piece: str) -> None:
    front, _ = split_front_matter(piece * 20_000)

    assert front.audience is None
