"""What a vendor's JSON API answers: its response, the shapes of its JSON, and its errors.

ApiError                 no answer that can be used
├── BusyError            ask again later
└── CredentialsError     there is no token; the message says what to do
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

T = TypeVar("T")

UNKNOWN_FORM = "it answers in a form that Footnote does not know"

REDIRECTS = (301, 302, 303, 307, 308)
_TRANSIENT = (429, 500, 502, 503, 504)


class ApiError(Exception):
    """The API gave no answer that can be used. `status`: HTTP's, or the one that the error stands for; None when
    nothing came back, or not this API. `payload`: the JSON that came with it, if any; `code`: the vendor's word for it.
    """

    def __init__(
        self, message: str, *, status: int | None = None, payload: Any = None, code: str = ""
    ) -> None:
        super().__init__(message)
        self.status = status
        self.payload = payload
        self.code = code


class BusyError(ApiError):
    """Ask again after `wait_s` seconds; None: after about `first_s`, which doubles with each attempt."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        payload: Any = None,
        wait_s: float | None = None,
        first_s: float = 1.0,
    ) -> None:
        super().__init__(message, status=status, payload=payload)
        self.wait_s = wait_s
        self.first_s = first_s


class CredentialsError(ApiError):
    """There is no token; the message says what to do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Response:
    """`payload`: the parsed JSON; None: it is not JSON. `following`: the next page of results by the header `Link`."""

    host: str | None
    status: int
    headers: Mapping[str, str]
    payload: Any
    following: str | None = None

    @property
    def retry_after_s(self) -> float | None:
        return seconds(self.headers.get("Retry-After"))


def error_of(response: Response) -> ApiError | None:
    """Returns the error in a response, as most vendors mean it; None where there is none."""
    if response.status in _TRANSIENT:
        wait_s = response.retry_after_s
        return BusyError(f"it answers {response.status}", status=response.status, wait_s=wait_s)
    if response.status not in (200, 201):
        return ApiError(
            f"{response.host} answers {response.status}", status=response.status, payload=response.payload
        )
    if response.payload is None:
        return ApiError(f"{response.host} answers with something that is no JSON")
    return None


class Shape(BaseModel):
    """A part of a vendor's JSON, whose names may be written in camel case. What else it holds is ignored."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)


def parsed(shape: type[T] | TypeAdapter[T], payload: object, *, unknown: str = UNKNOWN_FORM) -> T:
    """
    Raises:
        ApiError: the payload has another form than the published one; `unknown` says so.
    """
    adapter = shape if isinstance(shape, TypeAdapter) else TypeAdapter(shape)
    try:
        return adapter.validate_python(payload)
    except ValidationError as error:
        raise ApiError(unknown) from error


def seconds(header: str | None) -> float | None:
    """Reads a header that holds a number of seconds; None if it does not."""
    try:
        return max(0.0, float(header)) if header else None
    except ValueError:
        return None
