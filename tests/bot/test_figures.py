"""The figures of `/kb stats` and the App Home, in words."""

from __future__ import annotations

from bot.analytics import Stats
from bot.figures import stats_lines
from bot.messages import Messages
from kb.models import Checked


def some_stats(checked: Checked) -> Stats:
    return Stats(
        questions=2,
        rewritten=0,
        mean_rewrite_ms=None,
        lost_rewrites=0,
        positive=0,
        negative=0,
        declined=0,
        unavailable=0,
        p50_ms=None,
        p95_ms=None,
        checked=checked,
    )


def test_the_check_of_citations_has_a_line_of_its_totals():
    checked = Checked(sentences=1234, cited=1200, supported=1100, removed=134, dropped_citations=2)

    assert (
        "• Sentences checked: 1,234, cited 1,200, supported 1,100, removed 134, marks dropped 2"
        in stats_lines(some_stats(checked), Messages())
    )


def test_while_nothing_was_checked_there_is_no_such_line():
    nothing = Checked(sentences=0, cited=0, supported=0, removed=0)

    assert not any("checked" in line for line in stats_lines(some_stats(nothing), Messages()))
