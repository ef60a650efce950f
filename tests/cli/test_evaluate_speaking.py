"""`footnote eval speaking`: counts, JSON and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run

ASKED = {"user": "alice", "text": "<@BOT> how many days?", "expect": "speak"}
ANSWERED = {"user": "BOT", "text": "25 days.", "outcome": "answered"}


def threads(path: Path, *messages: dict[str, Any], place: str = "channel") -> Path:
    path.write_text(json.dumps({"id": "one", "place": place, "messages": messages}) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "expected", "code", "counted"),
    [
        ("and for interns?", "speak", 0, {"right": 2, "spoken_wrongly": 0, "silent_wrongly": 0}),
        ("thanks!", "speak", 1, {"right": 1, "spoken_wrongly": 0, "silent_wrongly": 1}),
        ("and for interns?", "silent", 1, {"right": 1, "spoken_wrongly": 1, "silent_wrongly": 0}),
        ("<@bob> and for interns?", "silent", 0, {"right": 2, "spoken_wrongly": 0, "silent_wrongly": 0}),
        ("<!here> and for interns?", "silent", 0, {"right": 2, "spoken_wrongly": 0, "silent_wrongly": 0}),
    ],
)
def test_what_is_right_is_counted(
    footnote: Run, tmp_path: Path, text: str, expected: str, code: int, counted: dict[str, int]
) -> None:
    asked = {"user": "alice", "text": text, "expect": expected}
    file = threads(tmp_path / "threads.jsonl", ASKED, ANSWERED, asked)
    ended = footnote("eval", "speaking", file, "--json", data=tmp_path)
    told = ended.json
    assert ended.code == code
    assert {name: told[name] for name in counted} == counted
    assert [one["text"] for one in told["wrong"]] == ([] if code == 0 else [text])


def test_the_wrong_ones_are_shown_with_their_reason(footnote: Run, tmp_path: Path) -> None:
    file = threads(
        tmp_path / "threads.jsonl", ASKED, ANSWERED, {"user": "alice", "text": "thanks!", "expect": "speak"}
    )
    ended = footnote("eval", "speaking", file, data=tmp_path)
    assert "right: 1 of 2 (50.0%)" in ended.out
    assert "says_nothing" in ended.out


@pytest.mark.parametrize("line", ["{", '{"id": "one"}', '{"id": "one", "messages": [{"text": "no user"}]}'])
def test_a_line_that_is_no_thread_is_named(footnote: Run, tmp_path: Path, line: str) -> None:
    file = tmp_path / "threads.jsonl"
    file.write_text(line + "\n", encoding="utf-8")
    ended = footnote("eval", "speaking", file, data=tmp_path)
    assert ended.code != 0
    assert "line 1" in ended.err
    assert "Traceback" not in ended.err
