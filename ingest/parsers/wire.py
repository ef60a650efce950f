"""What goes between a pool and its processes, in frames: JSON of a page, a few sections or chunks at a time.

JSON rather than pickle: what comes out of a process that read somebody's file is data, and
is validated as such. A few at a time, since nothing else runs while a frame is being read.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from ingest.front_matter.front_matter import FrontMatter
from ingest.page import Section
from kb.inference.counting import CountedModel
from kb.models import Page

_SECTIONS = 200
_CHARACTERS = 200_000
"""About what a frame holds at most: a millisecond or two. A single section of megabytes is one frame."""


_FRAMES = 5
"""Innermost frames of a failure that are reported."""


class _Frame(BaseModel):
    model_config = ConfigDict(frozen=True)


class Task(_Frame):
    """The first of a request's two frames; the second is the file's content."""

    path: str
    media_type: str | None = None


class Parsed(_Frame):
    """A page without its sections, which follow in so many frames."""

    kind: Literal["parsed"] = "parsed"
    title: str
    front: FrontMatter
    frames: int


class Refused(_Frame):
    """A `PageError`."""

    kind: Literal["refused"] = "refused"
    reason: str
    withdraw: bool = False
    left_out: bool = False


class Broken(_Frame):
    """A parser failed. `where`: the innermost frames of our code, without any text of the file."""

    kind: Literal["broken"] = "broken"
    error: str
    where: tuple[str, ...] = ()


def broken(error: Exception) -> Broken:
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    where = tuple(f"{Path(one.filename).name}:{one.lineno} {one.name}" for one in frames)
    return Broken(error=type(error).__name__, where=where)


class CutTask(_Frame):
    """A page to be cut, as counted by these models. The frames of its sections follow."""

    page: Page
    models: tuple[CountedModel, ...]
    max_tokens: int
    frames: int


class FlatChunk(_Frame):
    """A chunk without its page; its position is its place among all."""

    id: str
    text: str
    section: tuple[str, ...]
    url: str


class Pieces(_Frame):
    """Some chunks. `last`: no more follow."""

    kind: Literal["pieces"] = "pieces"
    chunks: tuple[FlatChunk, ...]
    last: bool


Reply = Annotated[Parsed | Refused | Broken, Field(discriminator="kind")]
REPLY: TypeAdapter[Parsed | Refused | Broken] = TypeAdapter(Reply)
CUT_REPLY: TypeAdapter[Pieces | Broken] = TypeAdapter(Annotated[Pieces | Broken, Field(discriminator="kind")])
SECTIONS: TypeAdapter[tuple[Section, ...]] = TypeAdapter(tuple[Section, ...])


def framed(sections: Sequence[Section]) -> list[Sequence[Section]]:
    """The sections of each frame."""
    return list(_framed(sections))


def _framed(sections: Sequence[Section]) -> Iterator[Sequence[Section]]:
    first, held = 0, 0
    for at, section in enumerate(sections):
        size = sum(len(part) for block in section.blocks for part in block.parts)
        if at > first and (at - first == _SECTIONS or held + size > _CHARACTERS):
            yield sections[first:at]
            first, held = at, 0
        held += size
    if len(sections) > first:
        yield sections[first:]
