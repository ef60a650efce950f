"""What a call of Slack's ends with, sorted: passing, uncertain or lasting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import sample_workspace
from bot.slack.clients import SlackClients, slack_clients
from bot.slack.errors import SLACK_FAILURES, SlackNoResponseError, error_code, failure_kind, retry_after_s
from kb.config.slack_settings import SlackSettings
from tests.fakes.playground import Playground
from tests.fakes.ports import free_port
from tests.fakes.slack_outages import OUTAGES


@pytest.fixture
async def slack() -> AsyncIterator[Playground]:
    async with Playground(sample_workspace()) as slack:
        yield slack


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=0.5)) as session:
        yield session


def clients_of(api_url: str, session: aiohttp.ClientSession) -> SlackClients:
    return slack_clients(
        SlackSettings.model_validate({"bot_token": "xoxb-playground", "api_url": api_url}), session
    )


async def error_of(client: AsyncWebClient) -> Exception:
    with pytest.raises(SLACK_FAILURES) as caught:
        await client.chat_postMessage(channel="C0GENERAL", text="a secret answer")
    assert "secret" not in str(caught.value)
    return caught.value


PASSING = {"a migration", "429 without Retry-After", "429 for minutes"}


@pytest.mark.parametrize("kind", OUTAGES)
async def test_every_outage_is_one_and_never_lasting(
    slack: Playground, session: aiohttp.ClientSession, kind: str
) -> None:
    slack.faults.add("*", **OUTAGES[kind], times=9)
    error = await error_of(clients_of(slack.api_url, session).streaming)
    assert failure_kind(error) == ("passing" if kind in PASSING else "uncertain")
    assert error_code(error)
    assert retry_after_s(error) == (120.0 if kind == "429 for minutes" else 0.0)


async def test_a_limit_is_one_in_whatever_form(slack: Playground, session: aiohttp.ClientSession) -> None:
    half = {"status": 429, "body": b'{"ok": fal', "content_type": "application/json", "retry_after": 30}
    slack.faults.add("*", **half)
    error = await error_of(clients_of(slack.api_url, session).posting)
    assert (failure_kind(error), error_code(error), retry_after_s(error)) == ("passing", "ratelimited", 30.0)


@pytest.mark.parametrize("code", ["token_revoked", "is_archived", "channel_not_found", "a_code_of_tomorrow"])
async def test_a_refusal_is_lasting(slack: Playground, session: aiohttp.ClientSession, code: str) -> None:
    slack.faults.add("*", error=code, times=9)
    error = await error_of(clients_of(slack.api_url, session).posting)
    assert isinstance(error, SlackApiError)
    assert (failure_kind(error), error_code(error)) == ("lasting", code)


@pytest.mark.parametrize("place", ["a closed port", "a name that there is not"])
async def test_what_never_left_was_not_done(session: aiohttp.ClientSession, place: str) -> None:
    host = f"127.0.0.1:{free_port()}" if place == "a closed port" else "slack.invalid"
    error = await error_of(clients_of(f"http://{host}/api/", session).posting)
    assert isinstance(error, SlackNoResponseError)
    assert (failure_kind(error), error.code) == ("passing", "unreachable")


async def test_what_takes_too_long_may_have_been_done(
    slack: Playground, session: aiohttp.ClientSession
) -> None:
    slack.faults.add("chat.postMessage", delay=5)
    error = await error_of(clients_of(slack.api_url, session).posting)
    assert isinstance(error, SlackNoResponseError)
    assert (failure_kind(error), error.code) == ("uncertain", "timeout")


@pytest.mark.parametrize("told", ["Wed, 21 Oct 2026 07:28:00 GMT", "0.5", "-3", "soon"])
async def test_a_retry_after_of_any_form_is_waited_out(told: str) -> None:
    """Slack's SDK breaks on one that is no whole number."""
    asked = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        asked += 1
        await reader.readuntil(b"\r\n\r\n")
        body, status = (b"slow", "429 Slow") if asked == 1 else (b'{"ok": true, "ts": "1.2"}', "200 OK")
        kind = "text/plain" if asked == 1 else "application/json"
        head = f"HTTP/1.1 {status}\r\nRetry-After: {told}\r\nContent-Type: {kind}\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", port := free_port())
    async with server, aiohttp.ClientSession() as session:
        reply: Any = await clients_of(f"http://127.0.0.1:{port}/api/", session).posting.chat_postMessage(
            channel="C0GENERAL", text="An answer"
        )
    assert (reply["ts"], asked) == ("1.2", 2)
