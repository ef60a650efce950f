"""Defines the errors of the HTTP API.

    ApiError
    ├── KeyRefusedError         401: no key, or one that is unknown, revoked or expired
    ├── TooManyRequestsError    429: the key has used up its minute
    ├── BusyError               503: as many questions as allowed are being worked on
    └── OutageError             503: the index, the store or the embedder does not answer; never "not found"

`code` is for programs, `message` for people. Neither tells a cause: that is in the log.
"""

from __future__ import annotations

from typing import ClassVar


class ApiError(Exception):
    """Base. `retry_after_s`: whole seconds after which another try makes sense; None: none does."""

    status: ClassVar[int]
    code: ClassVar[str]
    message: ClassVar[str]

    def __init__(self, *, retry_after_s: int | None = None) -> None:
        super().__init__(self.message)
        self.retry_after_s = retry_after_s

    @property
    def headers(self) -> dict[str, str]:
        return {} if self.retry_after_s is None else {"Retry-After": str(self.retry_after_s)}


class KeyRefusedError(ApiError):
    status, code = 401, "invalid_key"
    message = "Send `Authorization: Bearer KEY` with a key that is neither revoked nor expired."

    @property
    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": "Bearer"}


class TooManyRequestsError(ApiError):
    status, code = 429, "rate_limited"
    message = "This key has asked as often as it may in a minute. Try again after Retry-After seconds."


class BusyError(ApiError):
    status, code = 503, "busy"
    message = "As many questions as allowed are being worked on. Try again after Retry-After seconds."


class OutageError(ApiError):
    status, code = 503, "unavailable"
    message = "Something that Footnote needs does not answer. This says nothing about the pages. Try again."
