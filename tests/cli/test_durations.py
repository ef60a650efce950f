"""Durations in tables of the command line."""

from __future__ import annotations

import pytest

from bot.cli.administration.index import duration


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.42, "0.4 s"), (48, "48 s"), (108, "1 min 48 s"), (3720, "1 h 2 min"), (59.7, "1 min 0 s")],
)
def test_durations_read_naturally(seconds: float, words: str) -> None:
    assert duration(seconds) == words
