"""Limited pages, asked about from elsewhere than a message, with the real pipeline behind the bot."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from bot.playground import SlackLimits
from tests.fakes.knowing_office import knowing_office
from tests.fakes.office import Office

QUESTION = "What is the severance budget?"
SECRET = "4 million"
PAGES = {
    "tea.md": "# Tea\n\nGreen tea is steeped for two minutes.\n",
    "bikes.md": "# Bikes\n\nA bike is repaired within three days, on a small budget.\n",
    "severance.md": "---\naudience: ['#people-leads']\n---\n# Severance\n\nThe severance budget is 4 million euros.\n",
}


@pytest.fixture
async def knowing(redis: Redis, limits: SlackLimits, tmp_path: Path) -> AsyncIterator[Office]:
    async with knowing_office(redis, limits, tmp_path / "pages", PAGES) as running:
        yield running


@pytest.mark.parametrize(("user", "told"), [("dana", True), ("farid", False)])
async def test_alone_a_member_of_the_channel_is_told_and_nobody_else_is(
    knowing: Office, user: str, told: bool
) -> None:
    await knowing.slack.command(user, "#general", "/kb", f"ask {QUESTION}")
    (shown,) = await knowing.slack.wait_for(lambda: knowing.slack.ephemerals(user, "#general"))
    await knowing.idle()
    assert (SECRET in str(shown)) is told
    assert ("Severance" in str(shown)) is told
    assert SECRET not in str(knowing.slack.messages("#general"))


async def test_into_an_open_channels_thread_nobodys_shortcut_brings_a_limited_page(knowing: Office) -> None:
    ts = await knowing.slack.say("dana", "#general", QUESTION)
    await knowing.slack.shortcut("dana", "#general", ts)
    view = await knowing.slack.wait_for(lambda: knowing.slack.modal("dana"))
    await knowing.slack.submit_view("dana", view["id"], {"where": {"where": "thread"}})
    (answer,) = await knowing.answers("#general", ts)
    assert SECRET not in str(answer)
    assert "Severance" not in str(answer)
