"""Why Slack refuses a call."""

from __future__ import annotations

from collections.abc import Awaitable

import pytest
from slack_sdk.errors import SlackApiError


async def refusal(call: Awaitable[object]) -> str:
    with pytest.raises(SlackApiError) as caught:
        await call
    return str(caught.value.response["error"])
