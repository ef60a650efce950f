"""Classifies errors of Slack's Web API: what may be tried again, what may have been done, what is refused for good.

SlackApiError     Slack's own refusal: it has a code
SlackNoResponseError    no answer of Slack's: an outage, a proxy's page, a connection that was cut

passing      nothing was done, and later it will be: a rate limit, no connection
uncertain    it may have been done or not: look before trying again
lasting      nothing was done, and nothing will be until somebody changes something
"""

from __future__ import annotations

from typing import Any, Final, Literal

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

FailureKind = Literal["passing", "uncertain", "lasting"]

UNREACHABLE = "unreachable"
"""The code of a `SlackNoResponseError` whose request never left."""

RATE_LIMITS = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
MIGRATING = frozenset({"team_added_to_org", "org_login_required", "external_channel_migrating"})
"""Slack moves the workspace or the channel, and refuses until that is done."""
PASSING = RATE_LIMITS | MIGRATING
OWN_TROUBLE = frozenset(
    {
        "fatal_error", "internal_error", "internal_server_error", "server_error", "unknown_error",
        "request_timeout", "timeout", "service_unavailable", "temporarily_unavailable", "update_failed",
    }
)  # fmt: skip
"""Slack says of the first two that a part of the work may have been done; of the rest it says nothing."""
NO_ACCESS = frozenset(
    {
        "account_inactive", "app_uninstalled", "invalid_auth", "missing_scope", "no_permission", "not_allowed_token_type",
        "not_authed", "team_access_not_granted", "token_expired", "token_revoked",
    }
)  # fmt: skip
"""Refusals of us, whatever is asked and wherever."""


class SlackNoResponseError(SlackClientError):
    """No answer of Slack's came. `code`: "unreachable", "cut", "timeout", "http_502", "no_json" or "odd".

    "odd": JSON that is no answer to what was asked, as a proxy's page may be.
    """

    def __init__(self, code: str) -> None:
        super().__init__(f"no answer from Slack: {code}")
        self.code = code


SLACK_FAILURES: Final = (SlackClientError, aiohttp.ClientError, TimeoutError)
"""Slack refuses the call, cannot be reached, or does not answer in time."""


def error_code(error: BaseException | None) -> str | None:
    """Returns the code of a refusal by Slack, such as "channel_not_found", or ours where Slack did not answer; else
    None.
    """
    if isinstance(error, SlackNoResponseError):
        return error.code
    data = _data(error)
    code = data.get("error") if isinstance(data, dict) else None
    return str(code) if code else None


def cause_of(error: BaseException) -> str:
    """Returns one word for the log: the error's code, else the name of its class."""
    return error_code(error) or type(error).__name__


def failure_kind(error: BaseException) -> FailureKind:
    """Classifies one of `SLACK_FAILURES`: whether to try again."""
    if isinstance(error, SlackNoResponseError):
        return "passing" if error.code == UNREACHABLE else "uncertain"
    if not isinstance(error, SlackApiError):
        return "uncertain"
    code, status = error_code(error), int(getattr(error.response, "status_code", 200) or 200)
    if status == 429 or code in PASSING:
        return "passing"
    return "uncertain" if code is None or code in OWN_TROUBLE or status >= 500 else "lasting"


def retry_after_s(error: BaseException | None) -> float:
    """Returns the seconds that Slack asks us to wait; 0 where it asks for none."""
    headers = getattr(error.response, "headers", None) if isinstance(error, SlackApiError) else None
    return retry_after_header_s(headers or {})


def retry_after_header_s(headers: Any) -> float:
    """Reads `Retry-After` in seconds; 0 where there is none, or none in seconds."""
    value: Any = next((header for name, header in headers.items() if name.lower() == "retry-after"), "")
    value = value[0] if isinstance(value, list) and value else value
    try:
        return max(0.0, float(value))
    except (TypeError, ValueError):
        return 0.0


def _data(error: BaseException | None) -> Any:
    response: Any = error.response if isinstance(error, SlackApiError) else None
    return getattr(response, "data", response)  # a proxy's answer is text
