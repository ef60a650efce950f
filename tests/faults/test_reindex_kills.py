"""The bot dies by kill -9 in the middle of a reindex: its next life goes on with the same message in Slack.

The bot is the real `footnote serve` with its own Valkey and index; Slack is the playground, in this process.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

import pytest

from bot.playground import SlackLimits, sample_workspace
from tests.fakes.playground import Playground
from tests.fakes.serving import Serve, sample_data, slack_of

LATE_S = 240.0
"""A start on a busy machine, the lease of the one that died, and the whole handbook embedded anew."""
BAR = re.compile(r"[▓░]{10} (\d+)%")


@pytest.fixture
async def slack() -> AsyncIterator[Playground]:
    async with Playground(sample_workspace(), limits=SlackLimits(rate_limited=False)) as slack:
        yield slack


@pytest.fixture
async def bot(slack: Playground, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Serve]:
    data = await asyncio.to_thread(sample_data, tmp_path_factory.getbasetemp(), "reindex-kills")
    slowly = {"FOOTNOTE_EMBED__THREADS": "1", "FOOTNOTE_EMBED__BATCH_SIZE": "1"}
    bot = Serve(data, slack_of(slack) | slowly)
    yield bot
    await bot.kill()


def shown(slack: Playground) -> list[tuple[str, str]]:
    return [(one["ts"], one["text"]) for one in slack.messages("#general") if one.get("bot_id")]


@pytest.mark.slow
@pytest.mark.timeout(700)
async def test_a_reindex_that_was_killed_ends_in_the_message_that_it_began(
    slack: Playground, bot: Serve
) -> None:
    await bot.start()
    await slack.command("dana", "#general", "/kb", "reindex --full")

    def under_way() -> bool:
        return any(BAR.search(text) for _, text in shown(slack))

    await slack.wait_for(under_way, timeout=LATE_S)
    await bot.kill()
    ((ts, before),) = shown(slack)
    assert "Done" not in before, "it was over before it was killed: the test is too tame"

    await bot.start()
    await slack.wait_for(lambda: "Nothing changed" in shown(slack)[0][1], timeout=LATE_S)
    ((same, after),) = shown(slack)
    assert same == ts
    assert re.search(r"^Nothing changed: \d\d pages \(.*\), asked by <@", after), after
    assert "I was restarted on the way" in after
