"""Workers and the sync that they share die by kill -9 at random moments;
the index equals an undisturbed one, point for point.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
from pathlib import Path

import pytest

from tests.fakes.syncing import sync_once
from tests.fakes.waiting import until

from .test_sync_kills import ROOT, edit, pages, points

__all__ = ["pages"]

KILLS = int(os.environ.get("FOOTNOTE_WORKER_KILLS", "4"))
"""Twenty is the goal, four the default: each costs a start of Python, some two seconds on a busy core."""
WORKERS = 2
pytestmark = pytest.mark.timeout(600)


class Program:
    """One of the tests' programs in a process of its own."""

    def __init__(self, name: str, *args: object) -> None:
        self._command = [str(ROOT / "tests" / "fakes" / name), *map(str, args)]

    async def start(self) -> None:
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            *self._command,
            stdout=asyncio.subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        assert self.process.stdout is not None
        assert await self.process.stdout.readline() == b"ready\n"

    async def kill(self) -> None:
        self.process.kill()
        await self.process.wait()

    async def killed_after(self, seconds: float) -> bool:
        """False: it had ended before."""
        try:
            await asyncio.wait_for(self.process.wait(), seconds)
        except TimeoutError:
            await self.kill()
            return True
        assert self.process.returncode == 0
        return False


async def test_a_shared_sync_survives_the_death_of_anybody(
    pages: Path, tmp_path: Path, redis_url: str
) -> None:
    chance = random.Random(11)
    folder = tmp_path / "killed"
    workers = [Program("page_worker.py", redis_url, "t") for _ in range(WORKERS)]
    sync = Program("syncing.py", pages, folder, "--full", "--share", redis_url)
    await sync_once(pages, folder)
    for worker in workers:
        await worker.start()
    syncs_killed = 0
    for _ in range(KILLS):
        edit(pages, chance)
        await sync.start()
        victim = chance.choice(workers)
        await asyncio.sleep(chance.uniform(0.05, 0.5))
        await victim.kill()
        syncs_killed += await sync.killed_after(chance.uniform(0.05, 1.0))
        await victim.start()
    assert syncs_killed, "no sync was at work when it was killed: the test shows nothing"

    await sync.start()
    await until(lambda: sync.process.returncode is not None, seconds=240)
    assert sync.process.returncode == 0
    for worker in workers:
        await worker.kill()
    await sync_once(pages, tmp_path / "whole")
    assert await points(folder) == await points(tmp_path / "whole")
