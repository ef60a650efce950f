"""Calls a Qdrant server: what is retried and for how long, and what is said about a call that fails.

Only calls that may be carried out twice go through here with a limit above 0: a response may get lost after the work
was done.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import grpc
import httpx
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

from kb.errors import IndexUnavailableError, SettingsError

logger = logging.getLogger(__name__)

READ_FOR_S = 1.0
"""Seconds for which a read is tried again. A question waits for it, and had better learn of an outage soon."""
WRITE_FOR_S = 60.0
"""Seconds for which a write is tried again, unless `index.retry_s` says otherwise: a server restarts in less."""
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 5.0

PASSING = frozenset({408, 429, 500, 502, 503, 504})
"""HTTP statuses of a server that is starting, overloaded or moves a shard."""
_PASSING_CODES = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.INTERNAL,
    }
)
_REFUSED_CODES = frozenset({grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED})
FAILURES = (ApiException, QdrantException, grpc.RpcError, OSError)

_T = TypeVar("_T")


class KeyRefusedError(SettingsError, IndexUnavailableError):
    """The server does not take the key. A setting is wrong; a question meanwhile meets an index that is away."""


async def asked(doing: str, call: Callable[[], Awaitable[_T]], *, for_s: float) -> _T:
    """Returns what the server answers; retries transient failures with growing pauses for `for_s` seconds.

    Raises:
        KeyRefusedError: the server does not take the key.
        IndexUnavailableError: anything else, in words; after retries it says for how long they went on.
    """
    begun = time.monotonic()
    pause = FIRST_PAUSE_S
    while True:
        try:
            return await call()
        except FAILURES as error:
            if _is_refused_key(error):
                raise KeyRefusedError(
                    "QDRANT_API_KEY is refused by the Qdrant server: set the key that the server was given, "
                    "with the right to write"
                ) from error
            wait = max(pause * random.uniform(0.75, 1.25), _asked_to_wait_s(error))
            left = for_s - (time.monotonic() - begun)
            if not _may_pass(error) or wait > left:
                tried = round(time.monotonic() - begun)
                how_long = f", tried for {tried} s" if tried else ""
                raise IndexUnavailableError(
                    f"Qdrant failed while {doing}{how_long}: {in_words(error)}"
                ) from error
            logger.warning(
                "index.tried_again", extra={"doing": doing, "cause": in_words(error), "pause_s": wait}
            )
        await asyncio.sleep(wait)
        pause = min(pause * 2, LONGEST_PAUSE_S)


def in_words(error: BaseException) -> str:
    """Words an error in one line for an operator; of a response it quotes the message, never its bytes."""
    cause = error.source if isinstance(error, ResponseHandlingException) else error
    if isinstance(cause, httpx.TimeoutException):
        return "no answer in time (index.timeout_s)"
    if isinstance(cause, httpx.ConnectError) and "CERTIFICATE_VERIFY_FAILED" in str(cause):
        return "its certificate is signed by nobody that is trusted here: index.ca_file names the authority"
    if isinstance(cause, httpx.ConnectError):
        return f"no connection ({cause or 'refused'}): is it running, and is QDRANT_URL right?"
    if isinstance(cause, httpx.TransportError):
        return "the connection was cut"
    if isinstance(cause, ResourceExhaustedResponse):
        return f"it asks to wait for {cause.retry_after_s} s (429)"
    if isinstance(cause, UnexpectedResponse):
        return f"it answers {cause.status_code}: {_said(cause)}"
    if isinstance(cause, grpc.RpcError):
        code = _code(cause)
        return f"gRPC {code.name.lower().replace('_', ' ')}" if code is not None else "gRPC failed"
    return str(cause) or type(cause).__name__


def _said(answer: UnexpectedResponse) -> str:
    try:
        message = json.loads(answer.content)["status"]["error"]
    except (ValueError, KeyError, TypeError):
        message = answer.content.decode(errors="replace") or answer.reason_phrase
    return " ".join(str(message).split())[:300]


def _may_pass(error: BaseException) -> bool:
    if isinstance(error, UnexpectedResponse):
        return error.status_code in PASSING
    if isinstance(error, ResponseHandlingException):
        return isinstance(error.source, httpx.TransportError | OSError)
    if isinstance(error, grpc.RpcError):
        return _code(error) in _PASSING_CODES
    return isinstance(error, ResourceExhaustedResponse | OSError)


def _is_refused_key(error: BaseException) -> bool:
    if isinstance(error, UnexpectedResponse):
        return error.status_code in (401, 403)
    return isinstance(error, grpc.RpcError) and _code(error) in _REFUSED_CODES


def _asked_to_wait_s(error: BaseException) -> float:
    return float(error.retry_after_s) if isinstance(error, ResourceExhaustedResponse) else 0.0


def _code(error: grpc.RpcError) -> grpc.StatusCode | None:
    return error.code() if hasattr(error, "code") else None
