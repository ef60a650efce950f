"""The same bot, unchanged, in a Slack that others wrote: `footnote serve` against local-slack, over both transports."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from bot.edge.slack_app import PATH
from tests.fakes.local_slack import ALICE, BOT, DANA, GENERAL, MISSING, LocalSlack, binary
from tests.fakes.office import free_port
from tests.fakes.serving import Serve, sample_data
from tests.fakes.waiting import until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(binary() is None, reason=MISSING),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["socket", "http"])
async def slack(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[LocalSlack]:
    """local-slack with the bot in it, connected by Socket Mode or by signed HTTP events."""
    how, port = request.param, free_port()
    data = await asyncio.to_thread(sample_data, tmp_path_factory.getbasetemp(), f"local-slack-{how}")
    events_url = f"http://127.0.0.1:{port}{PATH}" if how == "http" else None
    async with LocalSlack(tmp_path_factory.mktemp(how), events_url) as slack:
        connection = (
            {"SLACK_APP_TOKEN": slack.app_token}
            if how == "socket"
            else {"SLACK_SIGNING_SECRET": slack.signing_secret, "FOOTNOTE_SLACK__PORT": str(port)}
        )
        variables = {"SLACK_BOT_TOKEN": slack.bot_token, "SLACK_API_URL": slack.api_url}
        bot = Serve(data, variables | connection | {"FOOTNOTE_SLACK__ADMINS": DANA})
        try:
            await bot.start()
            yield slack
        finally:
            await bot.stop()


async def answers(slack: LocalSlack, thread_ts: str, count: int) -> list[dict[str, Any]]:
    """All that the bot says in a thread, once it has said enough and then says no more."""

    async def answered() -> bool:
        replies = await slack.replies(thread_ts)
        return sum("says:" in one["text"] for one in replies) >= count

    await until(answered, seconds=60, pause=0.1)
    await slack.quiet()
    return await slack.replies(thread_ts)


def whispers(messages: list[dict[str, Any]], user: str) -> list[str]:
    return [one["text"] for one in messages if one.get("ephemeral_to") == user]


def progress(messages: list[dict[str, Any]]) -> list[str]:
    """The bot's messages for everyone outside threads."""
    return [
        one["text"]
        for one in messages
        if one["user"] == BOT and "thread_ts" not in one and one.get("subtype") != "ephemeral"
    ]


async def test_a_mention_gets_one_cited_answer_in_its_thread(slack: LocalSlack) -> None:
    ts = await slack.say(ALICE, f"<@{BOT}> How many days of holiday do I get?")
    (answer,) = await answers(slack, ts, 1)
    assert "25 days of paid holiday" in answer["text"]
    assert "Leave policy › Annual leave" in answer["text"]
    assert "Quotes from the pages." in answer["text"]
    assert "*Leave policy* was due for review on 3 May 2025" in answer["text"]
    assert answer["channel"] == GENERAL


async def test_the_placeholder_becomes_the_answer_where_there_is_no_status(slack: LocalSlack) -> None:
    ts = await slack.say(ALICE, f"<@{BOT}> How do I report a lost laptop?")
    (answer,) = await answers(slack, ts, 1)
    calls = [one for one in await slack.log() if one["kind"] == "web_api" and one["direction"] == "from_bot"]
    posts = [
        one for one in calls if one["summary"] == "chat.postMessage" and one["detail"].get("thread_ts") == ts
    ]
    assert [one["detail"]["text"] for one in posts] == ["Searching the knowledge base…"]
    assert any(
        one["summary"] == "chat.update" and one["detail"]["ts"] == answer["ts"] and one["detail"]["blocks"]
        for one in calls
    )


async def test_a_reply_in_the_thread_needs_no_mention(slack: LocalSlack) -> None:
    ts = await slack.say(ALICE, f"<@{BOT}> How many days of holiday do I get?")
    await answers(slack, ts, 1)
    await slack.say(ALICE, "and when do they expire?", ts)
    _, follow_up = await answers(slack, ts, 2)
    assert "expire on 31 March" in follow_up["text"]
    assert "Interpreted as:" in follow_up["text"]


async def test_what_people_say_among_themselves_is_left_alone(slack: LocalSlack) -> None:
    ts = await slack.say(ALICE, "How many days of holiday do you have left?")
    await slack.say(DANA, "What do you need them for?", ts)
    await slack.quiet()
    assert await slack.replies(ts) == []


async def test_an_admin_reindexes_and_sees_what_changed(slack: LocalSlack) -> None:
    before = progress(await slack.messages())
    await slack.command(DANA, "/kb", "reindex")

    async def done() -> bool:
        return any("Nothing changed" in one for one in progress(await slack.messages())[len(before) :])

    await until(done, seconds=60, pause=0.1)
    await slack.quiet()
    messages = await slack.messages()
    (told,) = progress(messages)[len(before) :]
    assert "Nothing changed: " in told
    assert [one for one in whispers(messages, DANA) if one.startswith("Reindexing")] == []


async def test_somebody_else_is_politely_refused_and_nothing_is_reindexed(slack: LocalSlack) -> None:
    before = progress(await slack.messages())
    await slack.command(ALICE, "/kb", "reindex")

    async def told() -> bool:
        return bool(whispers(await slack.messages(), ALICE))

    await until(told, seconds=60, pause=0.1)
    await slack.quiet()
    messages = await slack.messages()
    (refusal,) = whispers(messages, ALICE)
    assert refusal.startswith("Sorry, only admins can do that.")
    assert progress(messages) == before


async def test_what_goes_to_the_bot_arrives_and_is_acknowledged(slack: LocalSlack) -> None:
    """Last: it looks back at all of the above."""
    log = await slack.log()
    problems = [
        one["summary"]
        for one in log
        if any(word in one["summary"].lower() for word in ("drop", "fail", "error", "timeout", "timed out"))
    ]
    assert problems == []
    assert any(one["direction"] == "to_bot" for one in log)
