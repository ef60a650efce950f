"""Where Footnote speaks in threads that say so: ours, and those of somebody who has not read the rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.cli.evaluation.speaking import WrittenThread, counts, judge, meets_target
from kb.evaluation.case_files import read_lines

FOLDER = Path(__file__).parent / "speaking"


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.jsonl")), ids=lambda file: file.stem)
def test_it_speaks_where_it_should(file: Path) -> None:
    judged = list(judge(read_lines(file, WrittenThread)))
    wrong = [f"{one.thread} {one.at}: {one.text} ({one.reason})" for one in judged if not one.right]
    assert meets_target(judged), (counts(judged), wrong)


def test_there_are_threads_enough_of_our_own() -> None:
    threads = list(read_lines(FOLDER / "ours.jsonl", WrittenThread))
    assert len(threads) >= 40
    assert {thread.place for thread in threads} == {"channel", "group", "dm"}
