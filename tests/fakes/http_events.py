"""Signed HTTP: each envelope is POSTed to the app's one address, signed as Slack signs (scheme v0)."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any
from urllib.parse import urlencode

import aiohttp

from bot.playground.delivery import Envelope, NotDelivered, Reply
from bot.playground.slack_limits import Clock, SlackLimits


class HttpEvents:
    """Posts to `url`. A `Transport`."""

    def __init__(self, url: str, *, signing_secret: str, clock: Clock, limits: SlackLimits) -> None:
        self._url = url
        self._secret = signing_secret
        self._clock = clock
        self._limits = limits
        self._session: aiohttp.ClientSession | None = None

    async def open(self) -> None:
        self._session = aiohttp.ClientSession()

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def send(self, envelope: Envelope) -> Reply:
        """POSTs the envelope, signed, and waits for its acknowledgement.

        Raises:
            NotDelivered: no answer within 3 seconds, or one that is not 2xx.
        """
        if self._session is None:
            raise NotDelivered("connection_failed")
        body, content_type = _encode(envelope)
        headers = {"Content-Type": content_type, **self._signature(body)}
        if envelope.attempt:
            headers |= {"X-Slack-Retry-Num": str(envelope.attempt), "X-Slack-Retry-Reason": envelope.reason}
        timeout = aiohttp.ClientTimeout(total=self._limits.ack_timeout_s)
        try:
            async with self._session.post(self._url, data=body, headers=headers, timeout=timeout) as response:
                text = await response.text()
        except TimeoutError:
            raise NotDelivered("http_timeout") from None
        except aiohttp.ClientError as error:
            raise NotDelivered("connection_failed") from error
        if response.status // 100 != 2:
            raise NotDelivered("http_error")
        return Reply(payload=_decode(text, response.content_type))

    def _signature(self, body: str) -> dict[str, str]:
        timestamp = str(int(self._clock()))
        base = f"v0:{timestamp}:{body}".encode()
        digest = hmac.new(self._secret.encode(), base, hashlib.sha256).hexdigest()
        return {"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": f"v0={digest}"}


def _encode(envelope: Envelope) -> tuple[str, str]:
    if envelope.kind == "events_api":
        return json.dumps(envelope.payload), "application/json"
    form = (
        envelope.payload if envelope.kind == "slash_commands" else {"payload": json.dumps(envelope.payload)}
    )
    return urlencode(form), "application/x-www-form-urlencoded"


def _decode(text: str, content_type: str) -> dict[str, Any]:
    """A command may be answered with plain text."""
    if content_type == "application/json" and text:
        answer = json.loads(text)
        return answer if isinstance(answer, dict) else {}
    return {"text": text} if text else {}
