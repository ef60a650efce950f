"""Rate limits with Retry-After, and faults that are ordered."""

from __future__ import annotations

import time

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import SlackLimits
from tests.fakes.playground import Playground


@pytest.fixture
def limits() -> SlackLimits:
    return SlackLimits(post_burst=3)


async def ratelimited(call) -> int:
    with pytest.raises(SlackApiError) as caught:
        await call
    assert caught.value.response.status_code == 429
    assert caught.value.response["error"] == "ratelimited"
    return int(caught.value.response.headers["Retry-After"])


async def test_a_channel_takes_a_short_burst_and_then_a_post_a_second(client: AsyncWebClient, clock) -> None:
    for _ in range(3):
        await client.chat_postMessage(channel="C0GENERAL", text="hi")
    assert await ratelimited(client.chat_postMessage(channel="C0GENERAL", text="hi")) == 1
    await client.chat_postMessage(channel="C0GARDEN", text="another channel has its own count")
    clock.move(1)
    await client.chat_postMessage(channel="C0GENERAL", text="hi")
    assert await ratelimited(client.chat_postMessage(channel="C0GENERAL", text="hi")) == 1


async def test_a_tier_is_counted_for_each_method(client: AsyncWebClient, clock) -> None:
    for _ in range(20):
        await client.users_list()
    assert await ratelimited(client.users_list()) == 3
    await client.users_info(user="U0ALICE")
    clock.move(3)
    await client.users_list()


async def test_people_are_not_rate_limited(playground: Playground) -> None:
    for number in range(10):
        await playground.say("alice", "#general", str(number))
    assert len(playground.messages("#general")) == 10


async def test_an_ordered_error_comes_as_often_as_ordered(
    client: AsyncWebClient, playground: Playground
) -> None:
    playground.faults.add("chat.postMessage", error="internal_error", times=2)
    for _ in range(2):
        with pytest.raises(SlackApiError, match="internal_error"):
            await client.chat_postMessage(channel="C0GENERAL", text="hi")
    await client.chat_postMessage(channel="C0GENERAL", text="hi")
    assert len(playground.messages("#general")) == 1


async def test_an_ordered_429_is_retried_by_the_sdk_after_retry_after(playground: Playground) -> None:
    client = AsyncWebClient(token="xoxb-playground", base_url=playground.api_url)
    client.retry_handlers.append(AsyncRateLimitErrorRetryHandler(max_retry_count=1))
    playground.faults.add("chat.postMessage", retry_after=1)
    started = time.monotonic()
    await client.chat_postMessage(channel="C0GENERAL", text="hi")
    assert time.monotonic() - started >= 1
    assert [call.status for call in playground.calls] == [429, 200]


async def test_a_reply_can_get_lost_after_the_deed(client: AsyncWebClient, playground: Playground) -> None:
    client.retry_handlers.clear()
    playground.faults.add("chat.postMessage", drop=True, after=True)
    with pytest.raises(aiohttp.ClientError):
        await client.chat_postMessage(channel="C0GENERAL", text="hi")
    assert [one["text"] for one in playground.messages("#general")] == ["hi"]
    assert playground.calls[-1].response is None


async def test_a_proxy_page_and_a_delay_can_be_ordered(
    client: AsyncWebClient, playground: Playground
) -> None:
    playground.faults.add("auth.test", status=503)
    with pytest.raises(SlackApiError) as caught:
        await client.auth_test()
    assert caught.value.response.status_code == 503
    playground.faults.add("auth.test", delay=0.05)
    started = time.monotonic()
    await client.auth_test()
    assert time.monotonic() - started >= 0.05
