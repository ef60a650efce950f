"""A backup beside a running bot, put back on a machine that has nothing: the same question gets the same answer."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import FOLLOW_UP, HOLIDAY, Bot, Run


def said(told: dict[str, Any]) -> tuple[Any, ...]:
    return told["answer"], told["outcome"]


@pytest.mark.series
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_a_bot_knew_is_known_elsewhere(bot: Bot, footnote: Run, tmp_path: Path) -> None:
    first = footnote("ask", HOLIDAY, "--thread", "mine", "--json", data=bot.data)
    assert first.code == 0, first.err
    key = footnote("keys", "add", "intranet", data=bot.data).out.strip()
    file = tmp_path / "kb.footnote"
    saved = footnote("backup", file, "--json", data=bot.data)
    assert (saved.code, saved.json["pages"]) == (0, 2), saved.err
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert key.encode() not in file.read_bytes()
    follow_up = footnote("ask", FOLLOW_UP, "--thread", "mine", "--json", data=bot.data)

    refused = footnote("restore", file, "--replace", data=bot.data)
    assert (refused.code, "footnote playground" in refused.err) == (1, True), refused.err

    new = tmp_path / "new"
    restored = footnote("restore", file, "--json", data=new)
    assert restored.code == 0, restored.err
    again = footnote("ask", FOLLOW_UP, "--thread", "mine", "--json", data=new)
    assert said(again.json) == said(follow_up.json), "the thread and the pages are not what they were"
    assert [one["name"] for one in footnote("keys", "list", "--json", data=new).json] == ["intranet"]
