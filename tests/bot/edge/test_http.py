"""Signed HTTP: who is let in."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import http.client
import json
import time
from collections.abc import Sequence
from typing import Any

import aiohttp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis

from bot.edge.slack_app import PATH, open_edge
from bot.playground import SlackLimits
from bot.rendering.render import HELPFUL
from kb.config.slack_settings import SlackSettings
from kb.errors import SettingsError
from tests.fakes.office import Office, backend_of, clock, open_office

JSON = "application/json"
FIELDS = [
    "type", "event", "ts", "thread_ts", "channel", "user", "team", "subtype", "message", "previous_message", "actions", "view",
    "authorizations", "is_ext_shared_channel", "container", "callback_id", "text", "blocks", "attachments", "files", "edited",
    "bot_profile", "item", "id", "enterprise", "state", "response_urls", "assistant_thread", "function_data", "metadata",
]  # fmt: skip
EVENTS = [
    "message",
    "app_mention",
    "app_home_opened",
    "assistant_thread_started",
    "reaction_added",
    "function_executed",
]

BODY = json.dumps({"type": "url_verification", "challenge": "c"})


async def post(office: Office, body: str, **headers: str) -> tuple[int, str]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(
            f"http://127.0.0.1:{office.settings.port}{PATH}",
            data=body.encode(),
            headers={"Content-Type": "application/json"} | headers,
        ) as response,
    ):
        return response.status, await response.text()


def signed(office: Office, body: str, at: int) -> dict[str, str]:
    secret = office.slack.workspace.signing_secret.encode()
    signature = hmac.new(secret, f"v0:{at}:{body}".encode(), hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": str(at), "X-Slack-Signature": f"v0={signature}"}


async def test_only_what_slack_signed_lately_is_taken(redis: Redis, limits: SlackLimits) -> None:
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


def sign(office: Office, body: bytes, at: int | None = None) -> dict[str, str]:
    secret, at = office.slack.workspace.signing_secret.encode(), at or int(time.time())
    signature = hmac.new(secret, f"v0:{at}:".encode() + body, hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": str(at), "X-Slack-Signature": f"v0={signature}"}


def send(office: Office, body: bytes, headers: Sequence[tuple[str, str | bytes]]) -> int:
    """One request, with headers just as they are. Blocks."""
    connection = http.client.HTTPConnection("127.0.0.1", office.settings.port, timeout=20)
    try:
        connection.putrequest("POST", PATH)
        for name, value in [*headers, ("Content-Length", str(len(body)))]:
            connection.putheader(name, value)
        connection.endheaders(body)
        return connection.getresponse().status
    finally:
        connection.close()


async def status(office: Office, body: bytes | str, content_type: str = JSON, **headers: str | bytes) -> int:
    body = body.encode() if isinstance(body, str) else body
    sent = {"Content-Type": content_type, **sign(office, body), **headers}
    return await asyncio.to_thread(send, office, body, list(sent.items()))


STAMPS: list[str | bytes] = [
    "", " ", "yesterday", "1e9", "-5", "+5", "0x5", "1_000", "1.5", "NaN", "9" * 400, "9" * 5000,
    "0" * 5000, "\u0661\u0662".encode(), "１２".encode(), b"\xff\xfe", "é".encode(), "²".encode("latin-1"),
]  # fmt: skip
SIGNATURES: list[str | bytes] = [
    "", "v0=", "v0=0", "v1=0", "é".encode(), "v0=é".encode("latin-1"), "v0=" + "f" * 64, "v0=" + "f" * 7000, b"\xff",
]  # fmt: skip


async def test_what_slack_did_not_sign_is_401_whatever_its_shape(redis: Redis, limits: SlackLimits) -> None:
    async with open_office(redis, limits, "http", working=False) as office:
        for name, values in (("X-Slack-Request-Timestamp", STAMPS), ("X-Slack-Signature", SIGNATURES)):
            for value in values:
                assert await status(office, BODY, **{name: value}) == 401, (name, value)
        good = [("Content-Type", JSON), *sign(office, BODY.encode()).items()]
        for twice in good[1:]:
            for other in ("0", twice[1]):
                doubled = [*good, (twice[0].lower(), other)]
                assert await asyncio.to_thread(send, office, BODY.encode(), doubled) == 401
        for missing in (1, 2):
            assert (
                await asyncio.to_thread(send, office, BODY.encode(), [*good[:missing], *good[missing + 1 :]])
                == 401
            )
        for body in MALFORMED:
            unsigned = [("Content-Type", JSON), *sign(office, b"something else").items()]
            assert await asyncio.to_thread(send, office, body[:100_000], unsigned) == 401
        assert await status(office, BODY) == 200


EVENT = {
    "type": "message",
    "channel": "C1",
    "channel_type": "channel",
    "user": "U1",
    "text": "hello",
    "ts": "1.000001",
}


def wrapped(event: Any, **changes: Any) -> bytes:
    return json.dumps({"type": "event_callback", "team_id": "T1", "event": event} | changes).encode()


MALFORMED = [
    b"", b" ", b"{", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf{}", b"[]", b"1", b"null", b"true", b'"a"', b"{}", b"NaN",
    b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 500 + b"1" + b"}" * 500,
    b'{"type":' + b"9" * 5000 + b"}", b'{"type": 1}', b'{"type": null}', b'{"type": []}', b'{"type": "event_callback"}',
    b'{"type": "event_callback", "event": {"type": "message", "ts": Infinity}}',
    b'{"type": "event_callback", "event": {"type": "message", "ts": 1e999}}',
    wrapped(None), wrapped([]), wrapped(1), wrapped("event"), wrapped({}), wrapped({"type": 1}), wrapped({"type": "message"}),
    wrapped({**EVENT, "ts": None}), wrapped({**EVENT, "ts": 10**400}), wrapped({**EVENT, "ts": "9" * 5000}),
    wrapped({**EVENT, "ts": "yesterday"}), wrapped({**EVENT, "thread_ts": "\ud800"}), wrapped({**EVENT, "channel": None}),
    wrapped({**EVENT, "user": 5}), wrapped({**EVENT, "edited": 1}), wrapped({**EVENT, "type": "app_mention", "ts": {}}),
    wrapped({**EVENT, "subtype": {}}), wrapped({**EVENT, "subtype": "message_changed", "message": 1}),
    wrapped({**EVENT, "subtype": "message_deleted", "deleted_ts": "x"}),
    wrapped(EVENT, authorizations=[None]), wrapped(EVENT, authorizations={}), wrapped(EVENT, team=5),
    wrapped({"type": "app_home_opened"}), wrapped({"type": "assistant_thread_started"}),
    b'{"type": "block_actions", "actions": 1}', b'{"type": "block_actions", "actions": [null]}', b"x" * 2_000_000,
]  # fmt: skip
FORMS = [
    b"", b"a", b"a=b", b"payload", b"payload=", b"payload={", b"payload=[]", b"payload=null", b"payload=%7B%7D", b"payload=1",
    b"command=/kb&text=%zz", b"command=/kb&text=%", b"command=/kb&text=%ff", b"command=/kb", b"&".join([b"a=b"] * 5000),
    b"payload=" + json.dumps({"type": "block_actions", "actions": [{"action_id": HELPFUL}], "user": {}}).encode(),
    b'payload={"type":"block_actions","actions":[]}', b'payload={"type":"block_actions"}',
    b'payload={"type":"view_submission","view":null}', b'payload={"type":"view_closed"}',
]  # fmt: skip


async def test_what_is_signed_and_no_event_is_400_and_nothing_of_it_is_logged(
    redis: Redis, limits: SlackLimits, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_office(redis, limits, "http", working=False) as office:
        for body in MALFORMED:
            assert await status(office, body) == 400, body[:100]
        for body in FORMS:
            assert await status(office, body, "application/x-www-form-urlencoded") == 400, body[:100]
        for content_type in (
            "text/plain",
            "application/xml",
            "",
            "multipart/form-data; boundary=x",
            "é",
            "application",
        ):
            assert await status(office, BODY, content_type) == 400, content_type
        for coding in ("gzip", "deflate", "br", "zstd", "x"):
            assert await status(office, BODY, **{"Content-Encoding": coding}) == 400, coding
        assert await status(office, wrapped(EVENT | {"text": "secret", "ts": None})) == 400
        assert "secret" not in caplog.text
        for charset in ("utf-8", "utf-7", "no-such-charset", "base64", '"', "utf-16"):
            assert await status(office, BODY, f"{JSON}; charset={charset}") == 200  # JSON is UTF-8
        assert await status(office, wrapped(EVENT)) == 200


async def test_half_characters_in_what_slack_tells_are_no_reason_to_lose_it(
    redis: Redis, limits: SlackLimits
) -> None:
    async with open_office(redis, limits, "http") as office:
        ts = await office.ask("alice", "dm", "What about \ud800 and \ud83d\ude00?")
        (answer,) = await office.answers(office.slack.dm("alice"), ts)
        assert answer["text"].startswith("About: What about \ufffd and \U0001f600?")


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=20)
    | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=12,
)


async def test_no_signed_body_breaks_anything(redis: Redis, limits: SlackLimits) -> None:
    async with open_office(redis, limits, "http", working=False) as office:

        @settings(max_examples=80, deadline=None, database=None)
        @given(st.data())
        def walk(data: st.DataObject) -> None:
            kind = data.draw(
                st.sampled_from(["event_callback", "block_actions", "view_submission", "message_action"])
            )
            event: dict[str, Any] = dict(EVENT, type=data.draw(st.sampled_from(EVENTS)))
            whole: dict[str, Any] = {"type": kind, "team_id": "T1", "event": event, "user": {"id": "U1"}}
            for changed in data.draw(st.lists(st.sampled_from([event, whole]), min_size=1, max_size=3)):
                changed[data.draw(st.sampled_from(FIELDS))] = data.draw(VALUES)
            body = json.dumps(whole).encode()
            if data.draw(st.booleans()):
                at = data.draw(st.integers(0, len(body)))
                body = (
                    body[:at] + data.draw(st.binary(max_size=4)) + body[at + data.draw(st.integers(0, 3)) :]
                )
            content_type = data.draw(
                st.sampled_from([JSON, "application/x-www-form-urlencoded", "text/plain"])
            )
            sent = {"Content-Type": content_type} | sign(office, body)
            assert send(office, body, list(sent.items())) < 500

        await asyncio.to_thread(walk)


async def test_without_any_way_to_hear_slack_the_start_says_what_to_set(
    redis: Redis, limits: SlackLimits
) -> None:
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


async def test_activity_remembers_when_slack_was_heard_last(redis: Redis, limits: SlackLimits) -> None:
    async with open_office(redis, limits) as office:
        assert await office.edge.is_connected()
        assert office.edge.activity.last_event is None
        ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
        await office.answers("#general", ts)
        assert office.edge.activity.last_event == clock()
        assert office.edge.activity.events >= 2
        await office.edge.close()
        assert not await office.edge.is_connected()
