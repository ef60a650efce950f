"""Builds clients of Slack's Web API, by what they retry."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.async_handler import AsyncRetryHandler
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncServerErrorRetryHandler,
)
from slack_sdk.http_retry.response import HttpResponse
from slack_sdk.http_retry.state import RetryState
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.errors import UNREACHABLE, SlackNoResponseError, retry_after_header_s
from kb.config.slack_settings import SlackSettings
from kb.text.unicode import TooDeepError, well_formed_value

RATE_LIMIT_WAITS = 3
"""How often a call waits for Slack's Retry-After before the queue takes over."""
LONGEST_WAIT_S = 10.0
"""A longer Retry-After is waited for in the queue, where nobody is kept from working."""
CALL_S = 30.0
"""Seconds. A call that takes longer is lost: the slowest of Slack's take some ten."""

ANSWERS: Final = MappingProxyType(
    {
        "apps.connections.open": ("url",),
        "auth.test": ("user_id", "team_id"),
        "chat.postMessage": ("ts",),
        "chat.startStream": ("ts",),
        "chat.update": ("ts",),
        "conversations.history": ("messages",),
        "conversations.info": ("channel",),
        "conversations.replies": ("messages",),
        "users.info": ("user",),
    }
)
"""What an answer must hold to be one: a proxy can say `"ok": true` as
well, and a thread that looks empty is posted into.
"""


class SlackClient(AsyncWebClient):
    """A client whose calls raise `SlackApiError` with a code, or `SlackNoResponseError`, and nothing else."""

    async def _request(self, *, http_verb: str, api_url: str, req_args: dict[str, Any]) -> dict[str, Any]:
        try:
            reply: dict[str, Any] = await super()._request(
                http_verb=http_verb, api_url=api_url, req_args=req_args
            )
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise SlackNoResponseError(UNREACHABLE) from error
        except TimeoutError as error:
            raise SlackNoResponseError("timeout") from error
        except (aiohttp.ClientError, OSError) as error:
            raise SlackNoResponseError("cut") from error
        except SlackApiError as error:  # the response claims to be JSON and is not
            response: Any = error.response
            reply = {"data": None, "headers": response.headers, "status_code": response.status}
        except ValueError:
            raise SlackNoResponseError("no_json") from None  # its text quotes what came
        return _answer(reply, api_url.rpartition("/")[2])


def _answer(payload: dict[str, Any], method: str) -> dict[str, Any]:
    """Returns what came, where it is an answer of Slack's to this method.

    Raises:
        SlackNoResponseError: it is not one.
    """
    data, status = payload["data"], int(payload["status_code"])
    is_answer = isinstance(data, dict) and isinstance(data.get("ok"), bool)
    if status == 429:  # whoever limits us, in whatever format
        refusal = data if is_answer and data.get("error") else {"ok": False, "error": "ratelimited"}
        return payload | {"data": refusal}
    if not is_answer:
        raise SlackNoResponseError("no_json" if status == 200 else f"http_{status}")
    if data["ok"] and status != 200:
        raise SlackNoResponseError(f"http_{status}")
    wanted = ANSWERS.get(method, ()) if data["ok"] else ("error",)
    if any(not data.get(key) and data.get(key) != [] for key in wanted):
        raise SlackNoResponseError("odd")
    try:
        return payload | {"data": well_formed_value(data)}
    except TooDeepError:
        raise SlackNoResponseError("odd") from None


class RateLimitHandler(AsyncRetryHandler):
    """Waits for a Retry-After of seconds; what takes longer is the queue's to wait for.

    The SDK's own would hold the caller for as long as Slack says, and breaks on a Retry-After that is a date.
    """

    async def _can_retry_async(self, *, response: HttpResponse | None = None, **_: Any) -> bool:
        limited = response is not None and response.status_code == 429
        return limited and retry_after_header_s(response.headers if response else {}) <= LONGEST_WAIT_S

    async def prepare_for_next_attempt_async(
        self, *, state: RetryState, response: HttpResponse | None = None, **_: Any
    ) -> None:
        await asyncio.sleep(retry_after_header_s(response.headers if response else {}) or 1.0)
        state.next_attempt_requested = True
        state.increment_current_attempt()


@dataclass(frozen=True, kw_only=True, slots=True)
class SlackClients:
    """One Web API client for each manner of failing.

    `reading` retries whatever may pass. `posting` waits out short rate limits, which mean that nothing was done, and
    retries nothing else: a lost connection may hide a posted message. `quick` waits for nothing, for use before an ack.
    `streaming` tries once: what comes late is of no use there.
    """

    reading: AsyncWebClient
    posting: AsyncWebClient
    quick: AsyncWebClient
    streaming: AsyncWebClient


def slack_session() -> aiohttp.ClientSession:
    """Opens the session of all clients, with a time-out: aiohttp's own is five minutes a call."""
    return aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=CALL_S))


def slack_clients(settings: SlackSettings, session: aiohttp.ClientSession) -> SlackClients:
    """Builds the clients. They share one session, so that a call need not open a connection first."""
    token = settings.bot_token.get_secret_value() if settings.bot_token else None

    def client(*handlers: Any) -> AsyncWebClient:
        return SlackClient(
            token=token, base_url=settings.api_url, session=session, retry_handlers=list(handlers)
        )

    rate_limits = RateLimitHandler(max_retry_count=RATE_LIMIT_WAITS)
    return SlackClients(
        reading=client(rate_limits, AsyncConnectionErrorRetryHandler(), AsyncServerErrorRetryHandler()),
        posting=client(rate_limits),
        quick=client(AsyncConnectionErrorRetryHandler()),
        streaming=client(),
    )
