"""The bot dies by kill -9 while somebody reads the answer that it writes, and comes back: what they see of it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio

from bot.playground import SlackLimits, sample_workspace
from kb.config.model_settings import ModelSettings
from tests.fakes.browser import need_chromium
from tests.fakes.messages_server import MessagesServer, Say, say_json
from tests.fakes.playground import Playground
from tests.fakes.serving import Serve, sample_data, slack_of
from tests.journeys.colleague import Colleague
from tests.journeys.conftest import VIEW

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.series,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.timeout(400),
]

QUESTION = "How does paid holiday work here?"
FIRST = "Full-time employees get 25 days of paid holiday a year."
SECOND = "Public holidays come on top of these days."
LAST = "Unused days expire on 31 March of the following year."
JUDGE = ModelSettings().rewrite_model
BACK_MS = 240_000
"""A start on a busy machine, and the lease of the one that died."""
LIMITS = SlackLimits(retry_delays_s=(0.0, *[1.0] * 300), streams_told=False)
EVENTS_A_PIECE = 4
"""Its start, two halves, its end."""


class Author:
    """A model that writes all but the end of `LAST` and then waits; from `goes_on` on it writes to the end."""

    def __init__(self) -> None:
        self.goes_on = asyncio.Event()

    def __call__(self, body: Mapping[str, Any]) -> Say:
        if body["model"] == JUDGE:
            return _all_supported(body)
        pieces = [f"{FIRST} [1] ", f"{SECOND} [1] ", LAST[:30], f"{LAST[30:]} [3]"]
        return Say(*pieces, until=self.goes_on, after=1 + 3 * EVENTS_A_PIECE)


def _all_supported(body: Mapping[str, Any]) -> Say:
    content = body["messages"][-1]["content"]
    told, _ = json.JSONDecoder().raw_decode(content if isinstance(content, str) else content[-1]["text"])
    verdicts = [{"sentence": one["number"], "verdict": "supported", "sure": 95} for one in told["sentences"]]
    return say_json({"verdicts": verdicts})


@dataclass(frozen=True, kw_only=True)
class Desk:
    alice: Colleague
    author: Author
    bot: Serve


@pytest_asyncio.fixture(loop_scope="session")
async def desk(tmp_path_factory: pytest.TempPathFactory, chromium: Any) -> AsyncIterator[Desk]:
    """Slack is the playground, in this process, so that it survives the bot."""
    need_chromium()
    data = await asyncio.to_thread(sample_data, tmp_path_factory.getbasetemp(), "killed-while-writing")
    author = Author()
    async with (
        Playground(sample_workspace(), limits=LIMITS) as slack,
        MessagesServer(answering=author) as model,
    ):
        variables = {
            "ANTHROPIC_API_KEY": model.key,
            "ANTHROPIC_BASE_URL": model.url,
            "FOOTNOTE_REWRITE__MODE": "heuristic",
            "FOOTNOTE_MODEL__ANSWER_DEADLINE_S": "60",
        }
        bot = Serve(data, variables | slack_of(slack))
        context = await chromium.new_context(viewport=VIEW, color_scheme="light", locale="en-GB")
        try:
            await bot.start()
            alice = Colleague(await context.new_page(), slack.url, "alice")
            await alice.sit_down("general")
            yield Desk(alice=alice, author=author, bot=bot)
            assert alice.problems == []
            assert model.refusals == []
        finally:
            author.goes_on.set()
            await context.close()
            await bot.stop()


async def test_a_bot_that_is_killed_while_it_writes_answers_once_and_leaves_no_draft(
    desk: Desk, look: Any
) -> None:
    alice = desk.alice
    await alice.ask(QUESTION)
    draft = await alice.answer()
    await draft.get_by_text(SECOND).wait_for()
    await draft.get_by_label("still writing").wait_for()
    await desk.bot.kill()
    await look("killed", alice.page)

    desk.author.goes_on.set()
    await desk.bot.start()
    done = alice.thread.get_by_role("button", name="Why this answer?")
    await done.wait_for(timeout=BACK_MS)
    await asyncio.sleep(3)  # a second answer would come now
    ours = alice.thread.get_by_role("article", name=re.compile("^footnote,"))
    assert await ours.count() == 1
    said = await ours.inner_text()
    assert said.count(FIRST) == 1
    assert LAST in said
    assert await alice.thread.get_by_label("still writing").count() == 0
    assert await alice.page.get_by_role("status").filter(has_text="footnote").count() == 0
    await look("killed-and-back", alice.page)
