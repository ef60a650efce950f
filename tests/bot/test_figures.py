"""The figures of `/kb stats` and the App Home, in words."""

from __future__ import annotations

from bot.messages.catalog import Messages
from bot.stats.stats_text import stats_lines
from kb.answer import Checked
from kb.llm.usage import ModelUsage
from tests.fakes.figures import some_stats


def test_the_check_of_citations_has_a_line_of_its_totals():
    checked = Checked(sentences=1234, cited=1200, supported=1100, removed=134, dropped_citations=2)

    assert (
        "• Sentences checked: 1,234, cited 1,200, supported 1,100, removed 134, marks dropped 2"
        in stats_lines(some_stats(checked=checked), Messages())
    )


def test_while_nothing_was_checked_there_is_no_such_line():
    assert not any("checked" in line for line in stats_lines(some_stats(questions=2), Messages()))


def test_tokens_are_told_by_model():
    used = ModelUsage(calls=3, input_tokens=1000, cache_read_tokens=500, output_tokens=70)
    lines = stats_lines(some_stats(models={"qwen3:8b": used}), Messages())
    assert "• qwen3:8b: 3 requests, 1,500 tokens read (500 from the cache), 70 written" in lines
