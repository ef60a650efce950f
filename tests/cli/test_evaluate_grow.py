"""`footnote eval grow`: what it writes, prints and exits with. What grows is tested over Slack, in tests/bot/edge."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.cli.commands import app
from bot.cli.evaluation import grow as evaluate_grow
from kb.errors import SettingsError
from kb.evaluation.answer_sets import AnswerCase, read_answer_set
from kb.retrieval.golden import GoldenQuestion, read_questions

CASE = AnswerCase(
    id="voted-up-1",
    question="Hoeveel dagen?",
    keywords=(("25 dagen", "25"),),
    page="verlof.md",
    category="voted-up",
)
GOLDEN = GoldenQuestion(question="Hoeveel dagen?", page="kb:verlof.md")


@pytest.fixture
def grown(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the owner of the data folder tells; `asked` has what it was asked for."""
    told: dict[str, Any] = {
        "cases": [CASE.model_dump(mode="json", exclude_defaults=True)],
        "golden": [GOLDEN.model_dump(mode="json", exclude_defaults=True)],
        "left_out": {"asked privately": 2},
        "asked": [],
    }

    class Session:
        async def grow(self, *, private: bool) -> dict[str, Any]:
            told["asked"].append(private)
            return told

    @asynccontextmanager
    async def session(*_: object, **__: object) -> AsyncIterator[Session]:
        yield Session()

    monkeypatch.setattr(evaluate_grow, "open_session", session)
    return told


def grow(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["eval", "grow", *map(str, arguments)])


def test_it_writes_an_answer_set_and_golden_questions(grown: dict[str, Any], tmp_path: Path) -> None:
    out, golden = tmp_path / "cases.json", tmp_path / "golden.jsonl"
    ended = grow(out, "--golden", golden)
    assert ended.exit_code == 0
    assert read_answer_set(out).cases == (CASE,)
    assert read_answer_set(out).as_of is not None
    assert list(read_questions(golden)) == [GOLDEN]
    assert ended.stdout.splitlines() == [
        f"1 case in {out}: 1 of answers voted up, 0 of gaps closed since.",
        f"Run them with `footnote eval answers {out}`.",
        "Left out: asked privately 2.",
    ]
    assert grown["asked"] == [False]


def test_what_is_private_is_asked_for_and_json_is_for_programs(grown: dict[str, Any], tmp_path: Path) -> None:
    ended = grow(tmp_path / "cases.json", "--private", "--json")
    assert ended.exit_code == 0
    told = json.loads(ended.stdout)
    assert (told["cases"], told["voted_up"], told["gaps_closed"], told["golden"]) == (1, 1, 0, 1)
    assert told["left_out"] == {"asked privately": 2}
    assert grown["asked"] == [True]


def test_where_nothing_grows_nothing_is_written(grown: dict[str, Any], tmp_path: Path) -> None:
    grown |= {"cases": [], "golden": []}
    ended = grow(tmp_path / "cases.json")
    assert ended.exit_code == 1
    assert "There is no case to write" in ended.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_told_in_a_sentence(grown: dict[str, Any], tmp_path: Path) -> None:
    ended = grow(tmp_path / "nowhere" / "cases.json")
    assert isinstance(ended.exception, SettingsError)
    assert "cannot be written" in str(ended.exception)
    assert grown["asked"] == [False]
