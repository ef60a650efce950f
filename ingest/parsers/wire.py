"""What goes between a pool and its worker: frames of a length and its bytes, JSON inside.

JSON rather than pickle: what comes out of a process that read somebody's file is data, and is validated as such.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from ingest.parsers.page import ParsedPage

LENGTH_BYTES = 8
"""Of the unsigned big-endian number before each frame."""


class Task(BaseModel):
    """The first of a request's two frames; the second is the file's content."""

    model_config = ConfigDict(frozen=True)

    path: str
    media_type: str | None = None


class Parsed(BaseModel):
    model_config = ConfigDict(frozen=True)

    kind: Literal["parsed"] = "parsed"
    page: ParsedPage


class Refused(BaseModel):
    """A `PageError`."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["refused"] = "refused"
    reason: str
    withdraw: bool = False
    left_out: bool = False


class Broken(BaseModel):
    """A parser failed. `where`: the innermost frames of our code, without any text of the file."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["broken"] = "broken"
    error: str
    where: tuple[str, ...] = ()


Reply = Annotated[Parsed | Refused | Broken, Field(discriminator="kind")]
REPLY: TypeAdapter[Parsed | Refused | Broken] = TypeAdapter(Reply)


def frame(content: bytes) -> bytes:
    return len(content).to_bytes(LENGTH_BYTES) + content
