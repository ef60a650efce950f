"""Signed HTTP: who is let in."""

from __future__ import annotations

import hashlib
import hmac
import json
import time

import aiohttp
import pytest
from redis.asyncio import Redis

from bot.edge import PATH, open_edge
from bot.playground import Limits
from kb.errors import SettingsError
from kb.settings import SlackSettings
from tests.fakes.office import Office, backend_of, clock, open_office

BODY = json.dumps({"type": "url_verification", "challenge": "c"})


async def post(office: Office, body: str, **headers: str) -> tuple[int, str]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(
            f"http://127.0.0.1:{office.edge.port}{PATH}",
            data=body.encode(),
            headers={"Content-Type": "application/json"} | headers,
        ) as response,
    ):
        return response.status, await response.text()


def signed(office: Office, body: str, at: int) -> dict[str, str]:
    secret = office.slack.workspace.signing_secret.encode()
    signature = hmac.new(secret, f"v0:{at}:{body}".encode(), hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": str(at), "X-Slack-Signature": f"v0={signature}"}


async def test_only_what_slack_signed_lately_is_taken(redis: Redis, limits: Limits) -> None:
    async with open_office(redis, limits, "http", working=False) as office:
        now = int(time.time())
        good = signed(office, BODY, now)
        assert (await post(office, BODY, **good))[0] == 200
        assert (await post(office, BODY))[0] == 401
        assert (await post(office, BODY, **(good | {"X-Slack-Signature": "v0=0"})))[0] == 401
        assert (await post(office, BODY, **signed(office, BODY, now - 600)))[0] == 401
        for timestamp in ("yesterday", "", "1e9", "-5", "１２"):
            headers = good | {"X-Slack-Request-Timestamp": timestamp}
            try:
                status, _ = await post(office, BODY, **headers)
            except UnicodeEncodeError:
                continue
            assert status == 401, timestamp


async def test_a_body_that_is_no_json_is_the_senders_fault(redis: Redis, limits: Limits) -> None:
    async with open_office(redis, limits, "http", working=False) as office:
        for body in ("{", "payload={", "\x00"):
            status, _ = await post(office, body, **signed(office, body, int(time.time())))
            assert status < 500, body


async def test_without_any_way_to_hear_slack_the_start_says_what_to_set(redis: Redis, limits: Limits) -> None:
    async with open_office(redis, limits, "socket", working=False) as office:
        for settings, named in (
            ({"bot_token": "xoxb-playground"}, "SLACK_APP_TOKEN"),
            ({}, "SLACK_BOT_TOKEN"),
        ):
            with pytest.raises(SettingsError, match=named):
                async with open_edge(
                    settings=SlackSettings.model_validate(settings | {"api_url": office.slack.api_url}),
                    backend=backend_of(office),
                    clock=clock,
                ) as edge:
                    await edge.connect()


async def test_activity_remembers_when_slack_was_heard_last(redis: Redis, limits: Limits) -> None:
    async with open_office(redis, limits) as office:
        assert await office.edge.is_connected()
        assert office.edge.activity.last_event is None
        ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
        await office.answers("#general", ts)
        assert office.edge.activity.last_event == clock()
        assert office.edge.activity.events >= 2
        await office.edge.close()
        assert not await office.edge.is_connected()
