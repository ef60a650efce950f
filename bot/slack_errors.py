"""What a call of Slack's Web API may end with instead of an answer."""

from __future__ import annotations

from typing import Any, Final

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

SLACK_FAILURES: Final = (SlackClientError, aiohttp.ClientError, TimeoutError)
"""Slack refuses the call, cannot be reached, or does not answer in time."""


def error_code(error: Exception) -> str | None:
    """Slack's word for why it refused, such as "channel_not_found"; None where it gave none."""
    response: Any = error.response if isinstance(error, SlackApiError) else None
    told = getattr(response, "data", response)  # a proxy's answer is text
    code = told.get("error") if isinstance(told, dict) else None
    return str(code) if code else None
