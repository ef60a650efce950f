"""A bot that is told to stop ends by itself, whatever it waits for."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

from tests.fakes.ports import free_port
from tests.fakes.serving import FOOTNOTE, START_S, environment


async def test_a_bot_that_waits_for_slack_hands_back_what_it_has_when_it_is_told_to_stop(
    tmp_path: Path,
) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}/api/"
    bot = await asyncio.create_subprocess_exec(
        *(FOOTNOTE, "serve", "--data", tmp_path / "data"),
        env=environment(SLACK_BOT_TOKEN="xoxb-x", SLACK_APP_TOKEN="xapp-x", SLACK_API_URL=nowhere),
        cwd=tmp_path,
        stderr=asyncio.subprocess.PIPE,
    )
    assert bot.stderr is not None
    async with asyncio.timeout(START_S):
        while line := await bot.stderr.readline():
            if b"Slack cannot be reached" in line:
                break
        bot.send_signal(signal.SIGTERM)
        await bot.communicate()
    assert bot.returncode == 0, (
        "a signal that nobody listens for ends it with its own number, or, in a container, not at all"
    )
