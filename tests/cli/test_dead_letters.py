"""`footnote dead-letters`, and what status and doctor say of questions that could not be answered."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bot.cli.checks.doctor import dead_letter_checks
from bot.cli.commands import app
from bot.queue.claims import Claims, Depth, Lease
from bot.stats.metrics import QueueFigures, exposition
from kb.rewriting.tally import RewriteTally
from kb.store.valkey import EmbeddedValkey, connect_redis
from tests.fakes.questions import a_question

REASONS = ("token_revoked", "is_archived", "token_revoked")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with three dead letters; no bot runs."""
    monkeypatch.chdir(tmp_path)
    asyncio.run(buried(tmp_path / "data"))
    return tmp_path / "data"


async def buried(data: Path) -> None:
    valkey = EmbeddedValkey(data / "valkey")
    await valkey.start()
    try:
        async with connect_redis(valkey.url) as redis:
            claims = Claims(
                redis, namespace="footnote", lease=timedelta(minutes=1), keep_claims=timedelta(days=7)
            )
            for number, reason in enumerate(REASONS, 1):
                question = a_question(ts=f"170000000{number}.000100", text="a secret question")
                assert await claims.accept(question, token="one")
                lease = await claims.take("worker")
                assert isinstance(lease, Lease)
                assert await claims.dead_letter(lease, reason=reason)
    finally:
        await valkey.stop()


def footnote(data: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments, "--data", str(data)])


def told(data: Path, *arguments: str) -> Any:
    return json.loads(footnote(data, *arguments, "--json").stdout)


def test_dead_letters_are_listed_dropped_and_tried_again(data: Path) -> None:
    shown = footnote(data, "dead-letters")
    assert shown.exit_code == 0
    assert shown.stdout.count("the bot token was revoked (token_revoked)") == 2
    assert "secret" not in shown.stdout
    newest, archived, oldest = told(data, "dead-letters")
    assert (archived["told"], archived["channel"], archived["user"]) == (
        "the channel is archived",
        "C1",
        "U1",
    )

    wrong = footnote(data, "dead-letters", "drop", archived["id"], "T1-C1-nothing", "--json")
    assert wrong.exit_code == 1
    assert json.loads(wrong.stdout) == {"done": [archived["id"]], "unknown": ["T1-C1-nothing"]}
    status = told(data, "status")
    assert (status["dead_letters"], status["dead_letter_reasons"]) == (2, {"token_revoked": 2})
    assert "2 questions could not be answered: 2 the bot token was revoked" in " ".join(
        footnote(data, "status").stdout.split()
    )

    again = footnote(data, "dead-letters", "retry", "--all", "--json")
    assert again.exit_code == 0
    assert json.loads(again.stdout)["done"] == [oldest["id"], newest["id"]]
    status = told(data, "status")
    assert (status["dead_letters"], status["questions_waiting"]) == (0, 2)
    assert footnote(data, "dead-letters").stdout.startswith("Every question was answered")


@pytest.mark.parametrize("arguments", [("retry",), ("drop",), ("retry", "--all", "some-id")])
def test_which_ones_has_to_be_said(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert footnote(tmp_path, "dead-letters", *arguments).exit_code == 2


def test_doctor_names_them_and_says_what_to_do() -> None:
    (check,) = dead_letter_checks({"dead_letter_reasons": {"token_revoked": 2, "is_archived": 1}})
    assert (check.state, check.told) == (
        "warning",
        "3 questions could not be answered: 2 the bot token was revoked, 1 the channel is archived",
    )
    assert "footnote dead-letters" in check.mend
    assert dead_letter_checks({"dead_letter_reasons": {}}) == []


def test_metrics_tell_what_waits_and_what_was_given_up() -> None:
    figures = QueueFigures(depth=Depth(waiting=7, running=2, for_slack=3), dead={"is_archived": 4})
    lines = exposition(None, RewriteTally(), queue=figures).splitlines()
    assert "footnote_questions_waiting 7.0" in lines
    assert "footnote_threads_waiting_for_slack 3.0" in lines
    assert 'footnote_dead_letters{reason="is_archived"} 4.0' in lines
