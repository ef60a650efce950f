"""What the pages say, as somebody reads it who asks a bot without a model."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import SlackLimits, sample_workspace
from bot.rendering.render import render
from tests.fakes.answers import a_chunk, a_citation, a_page, a_quote, quotes_of
from tests.fakes.playground import Playground
from tests.journeys.colleague import Colleague

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.timeout(300),  # the first journey waits for the bot to start
]

LEADS = """| Team | Lead | Channel |
|---|---|---|
| Garden shop | Femke de Boer | #garden-shop |
| Platform | Tomás Ribeiro | #platform |
| People team | Ingrid Solberg | #people |"""


async def test_a_list_is_quoted_whole_under_the_name_of_its_page(sit_down: Any, picture: Any) -> None:
    alice: Colleague = await sit_down("alice")
    await alice.ask("How do I file an expense?")
    answer = await alice.answer()
    said = await answer.inner_text()
    assert "Expenses › Filing a claim" in said
    assert "(reviewed 2 February 2026) says:" in said
    items = answer.get_by_role("list").first.get_by_role("listitem")
    assert (await items.nth(0).inner_text()).startswith("Photograph the receipt")
    assert await items.count() == 3
    assert "[1]" not in said
    await picture("quoted-list", alice.page, _question(alice), answer)

    page = await alice.follow(answer.get_by_role("link", name="Expenses").first)
    assert page.url.endswith("/finance/expenses.md#filing-a-claim")


async def test_where_no_page_says_it_the_closest_is_called_that(sit_down: Any, picture: Any) -> None:
    alice: Colleague = await sit_down("alice")
    await alice.ask("How do I order business cards?")
    answer = await alice.answer()
    said = await answer.inner_text()
    assert "I found no direct answer. The closest is:" in said
    assert "Owner" in said
    assert "%" not in said
    await picture("closest", alice.page, _question(alice), answer)


async def test_each_of_two_questions_is_met_and_the_one_that_no_page_answers_is_named(
    sit_down: Any, picture: Any
) -> None:
    alice: Colleague = await sit_down("alice")
    await alice.ask("How do I file an expense, and what is the budget for the moon base?")
    answer = await alice.answer()
    said = await answer.inner_text()
    assert "How do I file an expense?" in said
    assert "I found no direct answer to: What is the budget for the moon base?" in said
    await picture("two-parts", alice.page, _question(alice), answer)


async def test_a_table_tells_of_the_rows_that_it_leaves_out(chromium: Any, picture: Any) -> None:
    """The sample has no table that is too long to be quoted, so this answer is made by hand."""
    teams = a_page(title="About Havik", dates=a_page().dates)
    cited = a_citation(chunk=a_chunk(teams, section=("Teams",)))
    quote = a_quote("Who leads which team:", LEADS, citation=cited, shown=3, total=7)
    message = render(quotes_of(quote), question_id="q", today=date(2026, 11, 27))
    async with Playground(sample_workspace(), limits=SlackLimits(rate_limited=False)) as slack:
        bot = AsyncWebClient(token=slack.workspace.bot_token, base_url=slack.api_url)
        context = await chromium.new_context(viewport={"width": 1280, "height": 860}, color_scheme="light")
        alice = Colleague(await context.new_page(), slack.url, "alice")
        await alice.sit_down("general")
        asked = await slack.say(
            "U0ALICE", "C0GENERAL", f"<@{slack.workspace.bot_user_id}> who leads the platform team?"
        )
        await bot.chat_postMessage(
            channel="C0GENERAL", thread_ts=asked, text=message.text, blocks=list(message.blocks)
        )
        await alice.sees_in_a_thread("Who leads which team:")
        answer = await alice.answer()
        assert await answer.get_by_role("row").count() == 4
        assert "3 of 7 rows; the page has them all." in await answer.inner_text()
        await picture("table-rows", alice.page, _question(alice), answer)
        await context.close()
        assert alice.problems == []


def _question(colleague: Colleague) -> Any:
    return colleague.thread.get_by_role("log").get_by_role("article").first
