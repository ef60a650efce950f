"""The diff in words."""

from __future__ import annotations

import pytest

from ingest.sync.report import diff, duration, summary
from kb.jobs import FailedPage, SyncReport


def a_report(**fields: object) -> SyncReport:
    return SyncReport(**{"added": ["a.md"], "unchanged": 271, "seconds": 108.2, **fields})  # type: ignore[arg-type]


def test_the_summary_is_one_line_with_every_count() -> None:
    assert summary(a_report()) == "Done in 1 min 48 s: 1 added, 0 changed, 0 removed, 271 unchanged"


def test_the_summary_names_the_first_failure() -> None:
    failed = [FailedPage(path="Travel.md", reason="it has no text"), FailedPage(path="b.md", reason="gone")]

    assert summary(a_report(failed=failed)).endswith(
        "271 unchanged, 2 failed (Travel.md: it has no text and 1 more)"
    )


def test_the_diff_names_pages_and_counts_the_rest() -> None:
    report = a_report(
        added=[f"{at}.md" for at in range(5)],
        removed=["old.md"],
        failed=[FailedPage(path="x.md", reason="no")],
        warned=[FailedPage(path="y.md", reason="odd")],
    )

    assert diff(report, shown=2).split("\n")[1:] == [
        "  + 0.md",
        "  + 1.md",
        "  + ... and 3 more",
        "  - old.md",
        "  ! x.md: no",
        "  ? y.md: odd",
    ]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.42, "0.4 s"), (48, "48 s"), (108, "1 min 48 s"), (3720, "1 h 2 min"), (59.7, "1 min 0 s")],
)
def test_durations_read_naturally(seconds: float, words: str) -> None:
    assert duration(seconds) == words
