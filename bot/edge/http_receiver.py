"""Checks HTTP requests from Slack before Bolt reads them: 401 for a wrong signature, 400 for a malformed event.

The signature is of the bytes, so it is checked before they are read as anything. Nothing of a body is logged.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from aiohttp import web
from pydantic import JsonValue, ValidationError
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest

from bot.slack.message_parts import Payload
from kb.text.unicode import well_formed_value

logger = logging.getLogger(__name__)

LARGEST = 1024 * 1024
"""Bytes of a body: a message of 40,000 characters, told as text and as
blocks, before and after an edit, is half of it.
"""
OLDEST_S = 300
"""Seconds since a request was signed: what is older may have been recorded."""
MOST_FIELDS = 1000

_TIMESTAMP = re.compile(r"[0-9]{1,12}")
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")

SlackReference = str | dict[str, JsonValue] | None
"""Slack names users, channels and teams by their ids or describes them, event by event."""


class NoEventError(ValueError):
    """A signed request is nothing that Slack sends. The text quotes nothing of it."""


class _Event(Payload):
    type: str
    subtype: str | None = None
    user: SlackReference = None
    channel: SlackReference = None
    team: SlackReference = None
    item: dict[str, JsonValue] | None = None
    message: dict[str, JsonValue] | None = None
    previous_message: dict[str, JsonValue] | None = None


class _Envelope(Payload):
    """What Bolt reads of an event or an interaction; it trusts the types of all that."""

    type: str
    challenge: str = ""
    event: _Event | None = None
    authorizations: list[dict[str, JsonValue]] | None = None
    enterprise: SlackReference = None
    enterprise_id: str | None = None
    team: SlackReference = None
    team_id: str | None = None
    user: SlackReference = None
    channel: SlackReference = None
    message: dict[str, JsonValue] | None = None
    view: dict[str, JsonValue] | None = None
    actions: list[dict[str, JsonValue]] | None = None
    response_urls: list[dict[str, JsonValue]] | None = None
    callback_id: str | None = None


async def receive(request: web.Request, app: AsyncApp, *, secret: str) -> web.StreamResponse:
    """Hands a request to Bolt, where Slack sent it and it is one.

    Args:
        secret: what Slack signs with.
    """
    if request.headers.get("Content-Encoding", "identity") != "identity":
        return _refused("packed")  # Slack never does so, and its signature would be of other bytes
    signed_at, signature = _signature(request)
    if signed_at is None or signature is None:
        return web.Response(status=401)
    try:
        body = await request.read()
    except web.HTTPRequestEntityTooLarge:
        return _refused("too large")
    if not _is_signed(body, signed_at, signature, secret):
        return web.Response(status=401)
    try:
        read_body(body, request.content_type)
        bolt_request = _bolt_request(request, body.decode())
    except NoEventError as error:
        return _refused(str(error))
    return await to_aiohttp_response(await app.async_dispatch(bolt_request))


def read_body(body: bytes, content_type: str) -> Mapping[str, Any]:
    """Reads a body, and checks it as far as Bolt trusts it.

    Raises:
        NoEventError: it is nothing that Slack sends.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError:
        _refuse("not UTF-8")
    if content_type == "application/json":
        return _checked(_json(text))
    if content_type != "application/x-www-form-urlencoded":
        _refuse("neither JSON nor a form")
    fields = _fields(text)
    if "payload" in fields:
        return _checked(_json(fields["payload"]))
    if "command" not in fields and "ssl_check" not in fields:
        _refuse("a form without a payload or a command")
    return fields


def _signature(request: web.Request) -> tuple[str | None, str | None]:
    """Reads the time and the signature; None if one is missing, repeated or malformed."""
    stamps = request.headers.getall("X-Slack-Request-Timestamp", [])
    signatures = request.headers.getall("X-Slack-Signature", [])
    signed_at = stamps[0] if len(stamps) == 1 and _TIMESTAMP.fullmatch(stamps[0]) else None
    return signed_at, signatures[0] if len(signatures) == 1 else None


def _is_signed(body: bytes, signed_at: str, signature: str, secret: str) -> bool:
    if abs(time.time() - int(signed_at)) > OLDEST_S:
        return False
    wanted = "v0=" + hmac.new(secret.encode(), f"v0:{signed_at}:".encode() + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(wanted.encode(), signature.encode(errors="replace"))


def _bolt_request(request: web.Request, body: str) -> AsyncBoltRequest:
    headers: dict[str, str | Sequence[str]] = {name: [value] for name, value in request.headers.items()}
    try:
        return AsyncBoltRequest(body=body, query=request.query_string, headers=headers)
    except (
        AttributeError,
        IndexError,
        KeyError,
        TypeError,
        ValueError,
    ):  # Bolt only looks for ids in the body
        _refuse("ids where Slack has none")


def _json(text: str) -> Any:
    try:
        return well_formed_value(json.loads(text, parse_constant=lambda _: _refuse("a number that is none")))
    except (ValueError, RecursionError):  # too deep, or with a number of thousands of digits
        _refuse("no JSON")


def _fields(text: str) -> dict[str, str]:
    if _BROKEN_ESCAPE.search(text):
        _refuse("a broken form")
    try:
        return dict(
            parse_qsl(
                text, keep_blank_values=True, strict_parsing=True, errors="strict", max_num_fields=MOST_FIELDS
            )
        )
    except ValueError:
        _refuse("a broken form")


def _checked(payload: Any) -> Mapping[str, Any]:
    try:
        envelope = _Envelope.model_validate(payload)
    except ValidationError:
        _refuse("no event of Slack's")
    if envelope.type == "block_actions" and not envelope.actions:
        _refuse("a press of nothing")
    if envelope.type.startswith("view_") and envelope.view is None:
        _refuse("a view that is none")
    if envelope.event is None and (envelope.type == "event_callback" or "event" in payload):
        _refuse("an event without an event")
    return dict(payload)


def _refuse(why: str) -> NoReturn:
    raise NoEventError(why) from None


def _refused(why: str) -> web.Response:
    logger.warning("http.refused", extra={"why": why})
    return web.Response(status=400)
