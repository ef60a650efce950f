"""What can go wrong on the way to the model: which failures pass by themselves, and what each is to Footnote.

`except anthropic.APIError` is not enough: a dropped or stalled stream raises httpx2's own errors, a bad chunk a
JSONDecodeError, a cut one nothing at all, and an overload inside a stream a plain APIStatusError with status 200.
"""

from __future__ import annotations

import random
import time
from email.utils import parsedate_to_datetime

import anthropic
import httpx2

from kb.errors import FootnoteError, ModelReplyError, ModelUnavailableError
from kb.llm.stream import StreamCutError

LAST_BACKOFF_S = 8.0
RETRIED_STATUS = frozenset({408, 409, 429})
"""Besides every 5xx. 529 is Claude's "overloaded"."""
RETRIED_TYPES = frozenset({"overloaded_error", "rate_limit_error", "api_error", "timeout_error"})
"""What an error inside a stream that began with 200 says when trying again makes sense."""

PASSING = (anthropic.APIError, httpx2.TransportError, StreamCutError)
"""Failures among which `retry_wait` finds those that may pass."""
FAILURES = (
    anthropic.AnthropicError,
    httpx2.HTTPError,
    httpx2.StreamError,
    httpx2.InvalidURL,
    StreamCutError,
    ModelReplyError,
    ValueError,  # JSONDecodeError, UnicodeDecodeError and pydantic's ValidationError: a chunk that cannot be read
    RecursionError,  # JSON of thousands of brackets
    OSError,  # TimeoutError is one: the deadline
)
"""Everything that a call can raise for a reason outside this program."""

_MENDING = {
    401: "the key is not accepted; check ANTHROPIC_API_KEY",
    402: "billing stands in the way; check the account's credit",
    403: "the key may not use this model",
    404: "there is no such model or address; check model.answer_model, model.rewrite_model and the base URL",
    413: "the request is too large; lower answer.read_passages or answer.read_tokens",
}


def retry_wait(error: BaseException, attempt: int, first_backoff_s: float) -> float | None:
    """Returns the seconds to wait before the next attempt (0-based `attempt` failed), or None when it would be no use.

    What the server asks for in retry-after(-ms) wins; else exponential backoff, jittered down by up to a half.
    """
    if isinstance(error, anthropic.APIStatusError):
        headers = error.response.headers
        if headers.get("x-should-retry") == "false" or not _may_pass(error):
            return None
        if (asked := _retry_after(headers)) is not None:
            return asked
    elif not isinstance(error, anthropic.APIConnectionError | httpx2.TransportError | StreamCutError):
        return None
    backoff = min(first_backoff_s * 2.0**attempt, LAST_BACKOFF_S)
    return backoff * random.uniform(0.5, 1.0)


def translate(error: BaseException, *, model: str, host: str, deadline_s: float) -> FootnoteError:
    """Translates an error for the rest of Footnote. Its text holds no key, prompt or reply: bodies may echo those."""
    if isinstance(error, FootnoteError):
        return error
    if isinstance(error, anthropic.APITimeoutError | httpx2.TimeoutException | TimeoutError):
        return ModelUnavailableError(f"{model} at {host} did not finish within {deadline_s:g} s")
    if isinstance(error, anthropic.APIStatusError):
        return ModelUnavailableError(f"{model} at {host} answered {_status(error)}")
    if isinstance(error, StreamCutError):
        return ModelUnavailableError(f"the stream of {model} at {host} was cut")
    if isinstance(error, anthropic.APIResponseValidationError) or (
        isinstance(error, ValueError | RecursionError) and not isinstance(error, UnicodeEncodeError)
    ):
        return ModelReplyError(f"a chunk of the reply of {model} at {host} cannot be read")
    return ModelUnavailableError(f"{model} at {host} cannot be reached ({type(error).__name__})")


def _may_pass(error: anthropic.APIStatusError) -> bool:
    status = error.status_code
    return status in RETRIED_STATUS or status >= 500 or (status < 400 and error.type in RETRIED_TYPES)


def _retry_after(headers: httpx2.Headers) -> float | None:
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            return max(0.0, float(value) * scale)
        except ValueError:
            return _until(value)
    return None


def _until(http_date: str) -> float | None:
    try:
        return max(0.0, parsedate_to_datetime(http_date).timestamp() - time.time())
    except ValueError:
        return None


def _status(error: anthropic.APIStatusError) -> str:
    answered = f"{error.status_code} {error.type or 'without a reason'}"
    mending = _MENDING.get(error.status_code)
    request = f" (request {error.request_id})" if error.request_id else ""
    return f"{answered}{request}" + (f": {mending}" if mending else "")
