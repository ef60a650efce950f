"""How a reindex is told at its end: who asked, which source, what changed, and nothing where nothing did."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from bot.messages.catalog import LANGUAGES, messages_in
from bot.reindexing.progress_text import end_text
from kb.jobs import FailedPage, ReindexProgress, SyncReport

NOW = datetime(2026, 11, 27, 9, tzinfo=UTC)


def told(language: str = "en", what: str = "handbook", **report: Any) -> str:
    step = ReindexProgress(phase="done", started_at=NOW, report=SyncReport(seconds=12, **report))
    return end_text(step, what, messages_in(language), user="U0ALICE", now=NOW)


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        ({"unchanged": 290}, "Nothing changed: 290 pages (handbook), asked by <@U0ALICE>, 12 s"),
        ({"unchanged": 1}, "Nothing changed: 1 page (handbook), asked by <@U0ALICE>, 12 s"),
        ({}, "Nothing changed: 0 pages (handbook), asked by <@U0ALICE>, 12 s"),
        (
            {"unchanged": 290, "dry_run": True},
            "Nothing would change: 290 pages (handbook), asked by <@U0ALICE>, 12 s",
        ),
        (
            {"added": ["a"], "unchanged": 1290},
            "Done in 12 s: 1 added, 1,290 unchanged · handbook, asked by <@U0ALICE>",
        ),
        (
            {"failed": [FailedPage(path="Travel.pdf", reason="encrypted")], "unchanged": 3},
            "Done in 12 s: 3 unchanged, 1 failed (Travel.pdf: encrypted) · handbook, asked by <@U0ALICE>",
        ),
    ],
)
def test_it_says_who_asked_and_leaves_out_what_did_not_happen(report: Any, expected: str) -> None:
    assert told(**report) == expected


def test_a_dry_run_says_what_would_be_and_names_it() -> None:
    assert told(removed=["old.md"], unchanged=2, dry_run=True).split("\n") == [
        "Looked in 12 s, changed nothing. It would be: 1 removed, 2 unchanged · handbook, asked by <@U0ALICE>",
        "− old.md",
    ]


def test_french_counts_its_pages() -> None:
    assert told("fr", added=["a"], changed=["b", "c"]) == (
        "Terminé en 12 s\u00a0: 1 ajoutée, 2 modifiées · handbook, demandé par <@U0ALICE>"
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_language_tells_a_zero(language: str) -> None:
    text = told(language, changed=["a"])
    assert "0" not in text.replace("U0ALICE", "")
    assert "handbook" in text
