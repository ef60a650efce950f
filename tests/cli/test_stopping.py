"""A bot that is told to stop ends by itself, whatever it waits for."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.fakes.ports import free_port
from tests.fakes.serving import START_S, environment
from tests.fakes.waiting import until
from tests.fakes.warm_command import launch


async def test_a_bot_that_waits_for_slack_hands_back_what_it_has_when_it_is_told_to_stop(
    tmp_path: Path,
) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}/api/"
    log = tmp_path / "log"
    bot = await asyncio.to_thread(
        launch,
        *("serve", "--data", tmp_path / "data"),
        folder=tmp_path,
        variables=environment(SLACK_BOT_TOKEN="xoxb-x", SLACK_APP_TOKEN="xapp-x", SLACK_API_URL=nowhere),
        out=log,
    )
    await until(lambda: "Slack cannot be reached" in log.read_text(encoding="utf-8"), seconds=START_S)
    bot.terminate()
    assert await asyncio.to_thread(bot.wait, START_S) == 0, (
        "a signal that nobody listens for ends it with its own number, or, in a container, not at all"
    )
