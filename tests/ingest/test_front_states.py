"""Drafts stay out, with their reason; what its author has given up comes in, with a word of it."""

from __future__ import annotations

from datetime import date

import pytest

from ingest.errors import PageError
from ingest.front_matter.front_matter import FrontMatter
from ingest.front_matter.page_fields import split_front_matter
from ingest.parsers.formats import parse_file

TODAY = date(2026, 11, 29)


def read(fields: str) -> FrontMatter:
    return split_front_matter(f"---\ntitle: Leave\n{fields}\n---\nBody.\n", today=TODAY)[0]


@pytest.mark.parametrize(
    "fields",
    [
        "draft: true", "Draft: TRUE", "draft: 'yes'", "draft: 1", "draft: maybe", "draft: [true]", "params: {draft: true}",
        "published: false", "published: 'no'", "publish: false", "unlisted: true", "headless: true", "hidden: true",
        "build: {list: never}", "build:\n  render: never", "status: draft", "status: Draft", "status: draft v0.2", "status: [draft]",
        "status: Final draft", "status: concept", "state: Entwurf", "status: brouillon", "status: Borrador", "status: unpublished", "status: not published", "status: 🟡 Draft",
        "statut: brouillon", "estado: borrador", "workflow_state: draft", "status: Work in progress (draft)", "status: 草稿", "pubDate: 2027-01-01",
        "publishDate: 2027-01-01", "embargoed_until: 2027-01-01", "embargo: true", "publish_date: 1 januari 2027", "published: 2027-01-01",
        "valid_from: 2027-01-01", "validFrom: 1 januari 2027", "effective_date: 2027-01-01", "Effective from: 2027-01-01",
        "search: {exclude: true}", "search:\n  exclude: yes", "search_exclude: true", "bookSearchExclude: true", "search: false", "pagefind: false",
    ],
)  # fmt: skip
def test_a_draft_is_not_indexed(fields: str) -> None:
    with pytest.raises(PageError) as caught:
        read(fields)

    assert (caught.value.withdraw, caught.value.left_out) == (True, True)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "---\ndraft: true\n---\nBody.\n",
            "it is a draft (`draft: true` in its front matter): nothing of it is indexed",
        ),
        (
            "+++\ndraft = true\n+++\nBody.\n",
            "it is a draft (`draft: True` in its front matter): nothing of it is indexed",
        ),
        (
            '{"title": "x", "published": false}\nBody.\n',
            "it is a draft (`published: False` in its front matter): nothing of it is indexed",
        ),
        (
            "---\ntitle: a: b\ndraft: true\n---\nBody.\n",
            "it is a draft (`draft: true` in its front matter): nothing of it is indexed",
        ),
        (
            "# Leave\n\nStatus: Draft\n\nBody.\n",
            "it is a draft (`Status: Draft` in its front matter): nothing of it is indexed",
        ),
        (
            "---\npublishDate: 2027-01-01\n---\nBody.\n",
            "it is published on 2027-01-01 (`publishDate` in its front matter): nothing of it is indexed",
        ),
    ],
    ids=["YAML", "TOML", "JSON", "broken YAML", "Notion's properties", "later"],
)
def test_the_reason_names_the_field(text: str, reason: str) -> None:
    with pytest.raises(PageError) as caught:
        split_front_matter(text, today=TODAY)

    assert caught.value.reason == reason


@pytest.mark.parametrize(
    "fields",
    [
        "draft: false", "draft:", "draft: ~", "draft: 'no'", "published: true", "published: 2024-05-03", "publishDate: 2024-05-03", "embargoed_until: 2024-05-03", "embargo: no",
        "status: published", "status: Work in progress", "status: not a draft", "unlisted: false", "concept: authentication",
        "valid_from: 2024-05-03", "effective_date: on signature", "search: {exclude: false}", "search: {boost: 2}", "search: true",
        "archived: false", "status: never archived", "status: this page tells which of the others are obsolete by now",
"deprecated: 2027-01-01",
    ],
)  # fmt: skip
def test_what_is_in_force_is_indexed_without_a_word(fields: str) -> None:
    front = read(fields)

    assert (front.retired, front.notes) == (None, ())


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ("status: deprecated", "deprecated"),
        ("status: Archived", "Archived"),
        ("status: obsolete (see the new one)", "obsolete"),
        ("status: No longer maintained", "No longer maintained"),
        ("status: now obsolete", "obsolete"),
        ("status: ⚠️ DEPRECATED", "DEPRECATED"),
        ("status: verouderd", "verouderd"),
        ("status: veraltet", "veraltet"),
        ("status: obsolète", "obsolète"),
        ("status: obsoleto", "obsoleto"),
        ("deprecated: true", "deprecated"),
        ("deprecated: use the travel portal", "deprecated"),
        ("deprecated:\n  since: 2025", "deprecated"),
        ("archived: 2025-01-01", "archived"),
    ],
)
def test_what_its_author_has_given_up_is_indexed_with_the_author_s_word(fields: str, word: str) -> None:
    assert read(fields).retired == word


def test_a_status_that_names_the_successor_is_read_as_decision_records_have_it() -> None:
    assert read("status: superseded by [Leave 2026](leave-2026.md)").superseded_by == "leave-2026.md"
    assert read("status: vervangen door Verlof 2026").superseded_by == "Verlof 2026"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("leave.md", "Status: Draft\n\n# Leave\n\nEverybody has leave.\n"),
        (
            "leave.md",
            "<!-- SPDX-License-Identifier: MIT -->\n---\ndraft: true\n---\n# Leave\n\nAll have leave.\n",
        ),
        (
            "leave.md",
            "<!-- lint: off -->\n<!--\nours\n-->\n\n+++\ndraft = true\n+++\n# Leave\n\nAll have leave.\n",
        ),
        ("leave.rst", ":draft: true\n\nLeave\n=====\n\nEverybody has leave.\n"),
        ("leave.rst", "=====\nLeave\n=====\n\n:status: draft\n\nEverybody has leave.\n"),
        ("leave.rst", "*******\n Leave\n*******\n\n:status: draft\n\nEverybody has leave.\n"),
        ("leave.org", "#+TITLE: Leave\n#+DRAFT: t\n\n* Leave\nEverybody has leave.\n"),
        ("leave.org", "# -*- mode: org -*-\n#+hugo_draft: true\n\n* Leave\nEverybody has leave.\n"),
        ("leave.org", ":PROPERTIES:\n:ID: 1\n:END:\n#+PROPERTY: status draft\n\n* Leave\nAll have leave.\n"),
        ("leave.html", '<head><meta name="draft" content="true"></head><h1>Leave</h1><p>All have leave.</p>'),
        (
            "leave.html",
            '<meta content="Draft" property="article:status"><h1>Leave</h1><p>All have leave.</p>',
        ),
    ],
)
def test_a_draft_is_left_out_in_every_kind_of_file(path: str, text: str) -> None:
    with pytest.raises(PageError) as caught:
        parse_file(text.encode(), path=path)

    assert (caught.value.withdraw, caught.value.left_out) == (True, True)


def test_a_limit_in_a_comment_above_the_front_matter_still_closes_the_page() -> None:
    with pytest.raises(PageError) as caught:
        parse_file(b"<!-- audience: leads -->\n---\ntitle: Pay\n---\n# Pay\n\nBand 3.\n", path="pay.md")

    assert caught.value.withdraw


def test_keywords_of_org_are_front_matter_and_no_text() -> None:
    page = parse_file(
        b"#+title: Leave\n#+LAST_REVIEWED_ON: <2024-05-03 Fri>\n#+expires: 31-12-2025\n\n* Days\nAll have 25.\n",
        path="leave.org",
    )

    assert page.title == "Leave"
    assert "expires" not in page.as_markdown()
    assert (page.front.dates.reviewed, page.front.dates.expires) == (date(2024, 5, 3), date(2025, 12, 31))


def test_meta_of_html_say_how_a_page_stands() -> None:
    """A header for browsers tells how long they keep a copy."""
    page = parse_file(
        b'<meta name="review_by" content="3 mei 2024"><meta http-equiv="expires" content="2020-01-01">'
        b'<meta name="status" content="deprecated"><meta name="superseded_by" content="new.html">'
        b"<h1>Leave</h1><p>All have 25.</p>",
        path="leave.html",
    )

    assert (page.front.retired, page.front.superseded_by) == ("deprecated", "new.html")
    assert (page.front.dates.review_due, page.front.dates.expires) == (date(2024, 5, 3), None)
