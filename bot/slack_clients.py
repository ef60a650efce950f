"""Clients of Slack's Web API, by what may be tried again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import aiohttp
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
    AsyncServerErrorRetryHandler,
)
from slack_sdk.web.async_client import AsyncWebClient

from kb.settings import SlackSettings

RATE_LIMIT_WAITS = 3
"""How often a call waits for Slack's Retry-After before the queue takes over."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SlackClients:
    """One Web API client for each manner of failing.

    `reading` retries whatever may pass. `posting` waits out rate limits, which mean that nothing was done, and retries
    nothing else: a lost connection may hide a posted message. `quick` waits for nothing, for use before an ack.
    `streaming` tries once: what comes late is of no use there.
    """

    reading: AsyncWebClient
    posting: AsyncWebClient
    quick: AsyncWebClient
    streaming: AsyncWebClient


def slack_clients(settings: SlackSettings, session: aiohttp.ClientSession) -> SlackClients:
    """The clients share one session, so that a call need not open a connection first."""
    token = settings.bot_token.get_secret_value() if settings.bot_token else None

    def client(*handlers: Any) -> AsyncWebClient:
        return AsyncWebClient(
            token=token, base_url=settings.api_url, session=session, retry_handlers=list(handlers)
        )

    rate_limits = AsyncRateLimitErrorRetryHandler(max_retry_count=RATE_LIMIT_WAITS)
    return SlackClients(
        reading=client(rate_limits, AsyncConnectionErrorRetryHandler(), AsyncServerErrorRetryHandler()),
        posting=client(rate_limits),
        quick=client(AsyncConnectionErrorRetryHandler()),
        streaming=client(),
    )
