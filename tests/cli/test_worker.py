"""`footnote worker` as operators run it, beside a sync of the real command."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from tests.cli.conftest import PAGES, Run
from tests.fakes.serving import FOOTNOTE, environment

PATIENCE_S = 240.0


async def started(*arguments: str | Path, redis_url: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        FOOTNOTE,
        *map(str, arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment(REDIS_URL=redis_url, COLUMNS="300"),
    )


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


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_a_worker_shares_a_sync_with_the_model_of_its_index(tmp_path: Path, redis_url: str) -> None:
    pages, data = tmp_path / "pages", tmp_path / "data"
    pages.mkdir()
    for name, text in PAGES.items():
        (pages / name).write_text(text, encoding="utf-8")
    first = await started("ingest", pages, "--data", data, "--json", redis_url=redis_url)
    told, error = await asyncio.wait_for(first.communicate(), PATIENCE_S)
    assert first.returncode == 0, error.decode()
    for number in range(60):
        text = PAGES["leave.md"].replace("25 days", f"{number + 30} days")
        (pages / f"{number}.md").write_text(text, encoding="utf-8")

    worker = await started("worker", "--json", redis_url=redis_url)
    assert worker.stderr is not None
    async with asyncio.timeout(PATIENCE_S):
        while b"is ready" not in await worker.stderr.readline():
            assert worker.returncode is None
    second = await started("ingest", pages, "--data", data, "--json", redis_url=redis_url)
    told, error = await asyncio.wait_for(second.communicate(), PATIENCE_S)
    assert second.returncode == 0, error.decode()
    report = json.loads(told)
    os.kill(worker.pid, signal.SIGTERM)
    did, _ = await asyncio.wait_for(worker.communicate(), PATIENCE_S)

    assert worker.returncode == 0
    assert (len(report["added"]), report["failed"]) == (60, [])
    done = json.loads(did)
    assert 0 < done["pages"] <= 60
    assert done["failed"] == 0
