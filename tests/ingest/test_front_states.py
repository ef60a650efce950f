"""Drafts stay out, with their reason; what its author has given up comes in, with a word of it."""

from __future__ import annotations

from datetime import date

import pytest

from ingest.errors import PageError
from ingest.front_matter.front_matter import FrontMatter
from ingest.front_matter.page_fields import split_front_matter

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
        "publishDate: 2027-01-01", "embargoed_until: 2027-01-01", "embargo: true", "publish_date: 1 januari 2027", "published: 2027-01-01",
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
