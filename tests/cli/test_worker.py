"""`footnote worker` as operators run it, beside a sync of the real command."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.cli.conftest import PAGES, Run
from tests.fakes.serving import environment
from tests.fakes.waiting import until
from tests.fakes.warm_command import launch

PATIENCE_S = 240.0


def test_without_redis_a_worker_says_where_it_would_meet_the_bot(footnote: Run) -> None:
    ended = footnote("worker")
    assert (ended.code, ended.out) == (1, "")
    assert "set REDIS_URL" in ended.err
    assert "Traceback" not in ended.err


def test_a_redis_that_is_down_is_one_line(footnote: Run) -> None:
    ended = footnote("worker", REDIS_URL="redis://127.0.0.1:1/0")
    assert (ended.code, ended.out) == (1, "")
    assert "cannot be reached" in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.series
@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_a_worker_shares_a_sync_with_the_model_of_its_index(
    footnote: Run, tmp_path: Path, redis_url: str
) -> None:
    pages, data = tmp_path / "pages", tmp_path / "data"
    pages.mkdir()
    for name, text in PAGES.items():
        (pages / name).write_text(text, encoding="utf-8")
    first = footnote("ingest", pages, "--json", data=data, REDIS_URL=redis_url)
    assert first.code == 0, first.err
    for number in range(32):
        text = PAGES["leave.md"].replace("25 days", f"{number + 30} days")
        (pages / f"{number}.md").write_text(text, encoding="utf-8")

    did, log = tmp_path / "did", tmp_path / "log"
    variables = environment(REDIS_URL=redis_url, COLUMNS="300")
    worker = launch("worker", "--json", folder=tmp_path, variables=variables, out=did, err=log)

    def is_ready() -> bool:
        assert worker.poll() is None, log.read_text(encoding="utf-8")
        return "is ready" in log.read_text(encoding="utf-8")

    await until(is_ready, seconds=PATIENCE_S, pause=0.05)
    second = await asyncio.to_thread(footnote, "ingest", pages, "--json", data=data, REDIS_URL=redis_url)
    assert second.code == 0, second.err
    worker.terminate()
    assert await asyncio.to_thread(worker.wait, PATIENCE_S) == 0

    assert (len(second.json["added"]), second.json["failed"]) == (32, [])
    done = json.loads(did.read_text(encoding="utf-8"))
    assert 0 < done["pages"] <= 32
    assert done["failed"] == 0
