"""What goes between a crawl and the process that reads its large pages."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from ingest.parsers.wire import Broken

LINKS_A_FRAME = 1_000
"""A millisecond."""


class _Frame(BaseModel):
    model_config = ConfigDict(frozen=True)


class Answer(_Frame):
    """What a site answered, but for its content, which is the next frame."""

    url: str
    media_type: str
    charset: str | None
    robots: str


class Reading(_Frame):
    """A `WebDocument`, but for its content, which is the next frame unless it is
    what was answered, and its links, which are in so many `frames` after that.
    """

    kind: Literal["reading"] = "reading"
    url: str
    media_type: str
    mark: str
    canonical: str | None
    edited: date | None
    hidden: bool
    audience: tuple[str, ...] | None
    closed: str | None
    as_answered: bool
    frames: int


class Nothing(_Frame):
    """It is no kind of text that we read."""

    kind: Literal["nothing"] = "nothing"


READING: TypeAdapter[Reading | Nothing | Broken] = TypeAdapter(
    Annotated[Reading | Nothing | Broken, Field(discriminator="kind")]
)
LINKS: TypeAdapter[tuple[str, ...]] = TypeAdapter(tuple[str, ...])
