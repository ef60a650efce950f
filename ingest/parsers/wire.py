"""Frames between a pool and its processes: JSON, a few sections or chunks at a time.

JSON rather than pickle: the output of a process that read somebody's file is data, and is validated as such. A few at
a time, since nothing else runs while a frame is being read.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from ingest.front_matter.front_matter import FrontMatter
from ingest.page import Section
from kb.inference.counting import CountedModel
from kb.models import Page

_SECTIONS = 200
_CHARACTERS = 200_000
"""Approximate maximum of a frame: a millisecond or two. A single section of megabytes is one frame."""
_TRACEBACK_FRAMES = 5
"""Innermost frames of a failure that are reported."""


class _Frame(BaseModel):
    model_config = ConfigDict(frozen=True)


class Task(_Frame):
    """The first of a request's two frames; the second is the file's content."""

    path: str
    media_type: str | None = None


class Parsed(_Frame):
    """A page without its sections, which follow in `frames` frames."""

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
    """A failure of a parser. `where`: the innermost frames of our code, without any text of the file."""

    kind: Literal["broken"] = "broken"
    error: str
    where: tuple[str, ...] = ()


def broken(error: Exception) -> Broken:
    frames = traceback.extract_tb(error.__traceback__)[-_TRACEBACK_FRAMES:]
    where = tuple(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames)
    return Broken(error=type(error).__name__, where=where)


class CutTask(_Frame):
    """A page to be cut, with token counts by these models. Its sections follow in `frames` frames."""

    page: Page
    models: tuple[CountedModel, ...]
    max_tokens: int
    frames: int


class FlatChunk(_Frame):
    """A chunk without its page; its position is its index among all."""

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


def batches(sections: Sequence[Section]) -> list[list[Section]]:
    """Groups sections into the frames that `SECTIONS` writes."""
    made: list[list[Section]] = []
    held = 0
    for section in sections:
        size = sum(len(part) for block in section.blocks for part in block.parts)
        if not made or len(made[-1]) == _SECTIONS or held + size > _CHARACTERS:
            made.append([])
            held = 0
        made[-1].append(section)
        held += size
    return made
