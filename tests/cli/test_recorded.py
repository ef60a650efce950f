"""`footnote eval answers --record, --replay`: rounds of requests and replies, without a key and without a server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import HOLIDAY, PAGES, Ended, Run, write

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

CASES = [
    {
        "id": "days",
        "question": HOLIDAY,
        "expected_answer_keywords": [["25 days", "twenty-five days"]],
        "page": "leave.md",
        "category": "plain",
    },
    {
        "id": "expiry",
        "question": "and when do they expire?",
        "chat_history": [
            {"role": "user", "content": HOLIDAY},
            {"role": "assistant", "content": "Every employee gets 25 days of annual leave a year."},
        ],
        "keywords": ["31 March"],
        "category": "follow-up",
    },
    {
        "id": "pets",
        "question": "Does the warranty on garden tools cover rust?",
        "expect_unknown": True,
        "kb": "x",
    },
]
REWRITTEN = "When do unused days of annual leave expire?"
MARKED = ("--set", "model.native_citations=false", "--set", "model.tools=true", "--set", "answer.judge=off")


@pytest.fixture(scope="module")
def data(footnote: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("recorded")
    write(home / "pages", PAGES)
    ended = footnote("ingest", home / "pages", data=home / "data")
    assert ended.code == 0, ended.err
    return home / "data"


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    file = tmp_path / "set.json"
    file.write_text(json.dumps({"as_of": "2026-11-27", "cases": CASES}))
    return file


def lines_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def reply_to(asked: dict[str, Any]) -> dict[str, Any]:
    """What a model would say, in each of the forms that a reply may have."""
    name, params = asked["custom_id"], asked["params"]
    said = json.dumps(params["messages"])
    if "verdicts" in json.dumps(params.get("output_config") or params.get("system")):
        verdict = {"sentence": 1, "verdict": "not there", "sure": 95}
        return {"custom_id": name, "text": json.dumps({"verdicts": [verdict]})}
    if params["model"].startswith("claude-haiku"):
        rewrite = {
            "needs_rewrite": True,
            "is_follow_up": True,
            "query": REWRITTEN,
            "topics": ["annual leave"],
            "reasoning": "",
            "confidence": 0.9,
        }
        content = [{"type": "text", "text": json.dumps(rewrite)}]
        message = {"content": content, "stop_reason": "end_turn", "usage": {"output_tokens": 30}}
        return {"custom_id": name, "result": {"type": "succeeded", "message": message}}
    if "rust" in said:
        return {"custom_id": name, "text": "NOT_IN_PASSAGES"}
    if REWRITTEN in said or "expire?" in said:
        if "tool_result" not in said:
            return {"custom_id": name, "search": "carry-over of annual leave"}
        return {
            "custom_id": name,
            "text": f"They expire on 31 March of the following year. [{_number(said, 'Unused')}]",
        }
    return {
        "custom_id": name,
        "text": f"Every employee gets **25 days** of annual leave. [{_number(said, '25 days')}]",
    }


def _number(said: str, words: str) -> str:
    """Of the passage that holds the words."""
    before = said.partition(words)[0]
    return (
        before.rpartition("\\n[")[2].partition("]")[0] if "\\n[" in before else before.rpartition('"[')[2][0]
    )


class Rounds:
    """Asks until nothing is left to record. `ended`: each run of the command."""

    def __init__(
        self, footnote: Run, data: Path, cases: Path, folder: Path, options: Sequence[str | Path]
    ) -> None:
        self.ended: list[Ended] = []
        self.replies: list[Path] = []
        self.asked: list[list[dict[str, Any]]] = []
        for turn in range(6):
            record = folder / f"ask-{turn}.jsonl"
            replays = [part for file in self.replies for part in ("--replay", file)]
            self.ended.append(
                footnote("eval", "answers", cases, "--record", record, *replays, *options, data=data)
            )
            self.asked.append(lines_of(record))
            if not self.asked[-1]:
                return
            got = folder / f"got-{turn}.jsonl"
            got.write_text("".join(json.dumps(reply_to(one)) + "\n" for one in self.asked[-1]))
            self.replies.append(got)
        raise AssertionError("it goes round and round")

    def known(self) -> Iterator[str | Path]:
        for file in self.replies:
            yield from ("--replay", file)


def test_rounds_of_requests_and_replies_end_in_answers(
    footnote: Run, data: Path, cases: Path, tmp_path: Path
) -> None:
    rounds = Rounds(footnote, data, cases, tmp_path, MARKED)
    out = tmp_path / "out.json"
    again = footnote("eval", "answers", cases, *rounds.known(), *MARKED, "--json", out, data=data)

    assert [one.code for one in rounds.ended] == [3] * (len(rounds.ended) - 1) + [0], rounds.ended[-1].err
    assert len(rounds.ended) == 4, "answers and a rewrite, a search, what was found, nothing"
    assert "expiry: pending: no reply to" in rounds.ended[0].out
    ids = [asked["custom_id"] for turn in rounds.asked for asked in turn]
    assert len(ids) == len(set(ids))
    assert again.code == 0, again.err
    told = json.loads(out.read_text())
    assert told["pending"] == []
    days, expiry, pets = told["cases"]
    assert (days["answer"], days["cited"]) == (
        "Every employee gets **25 days** of annual leave. [1]",
        ["leave.md"],
    )
    assert days["facts"] == [{"wordings": ["25 days", "twenty-five days"], "shown": True, "rank": 1}]
    assert (expiry["rewritten"], expiry["searches"]) == (REWRITTEN, ["carry-over of annual leave"])
    assert expiry["chat_history"][0]["content"] == HOLIDAY
    assert (pets["ending"], pets["problems"]) == ("declined", {})
    assert told["categories"]["all"]["facts_shown"] == told["categories"]["all"]["facts"] == 2


def test_a_judge_is_a_round_of_its_own(footnote: Run, data: Path, cases: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    options = ("--category", "plain", "--set", "model.native_citations=false", "--json", out)
    rounds = Rounds(footnote, data, cases, tmp_path, options)

    assert [one.code for one in rounds.ended] == [3, 3, 1], rounds.ended[-1].err
    assert rounds.asked[1][0]["params"]["model"] == "claude-haiku-5-5"
    (days,) = json.loads(out.read_text())["cases"]
    assert (days["ending"], days["judge"]) == ("declined", "judged")
    assert days["removed"] == [
        {"sentence": "Every employee gets **25 days** of annual leave.", "reason": "not there"}
    ]


def test_a_request_without_a_reply_is_no_answer_in_quotes(
    footnote: Run, data: Path, cases: Path, tmp_path: Path
) -> None:
    (tmp_path / "none.jsonl").write_text("")
    out = tmp_path / "out.json"
    ended = footnote("eval", "answers", cases, "--replay", tmp_path / "none.jsonl", "--json", out, data=data)

    assert ended.code == 3
    told = json.loads(out.read_text())
    assert (told["cases"], [one["id"] for one in told["pending"]]) == ([], ["days", "expiry", "pets"])
    assert told["categories"]["all"]["pending"] == 3


def test_some_cases_are_asked_of_claude_natively(
    footnote: Run, data: Path, cases: Path, tmp_path: Path
) -> None:
    record = tmp_path / "ask.jsonl"
    ended = footnote(
        "eval", "answers", cases, "--record", record, "--category", "plain", "--limit", "5", data=data
    )

    assert ended.code == 3, ended.err
    (asked,) = lines_of(record)
    content = asked["params"]["messages"][-1]["content"]
    assert content[0]["type"] == "search_result"
    assert asked["params"]["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert asked["params"]["tools"][0]["name"] == "search_pages"


def test_what_cannot_be_recorded_is_told(footnote: Run, data: Path, cases: Path, tmp_path: Path) -> None:
    off = footnote(
        "eval", "answers", cases, "--record", tmp_path / "x", "--set", "model.provider=none", data=data
    )
    label = footnote("eval", "answers", cases, "--category", "nope", data=data)

    assert (off.code, "model.provider=none" in off.err) == (1, True)
    assert (label.code, "there are: follow-up, plain" in label.err) == (1, True)
