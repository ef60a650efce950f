"""Requests to a session and their replies, as the socket in the data folder carries them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from bot.api.keys import MOST_PER_MINUTE, PER_MINUTE
from kb.jobs import ReindexProgress

PROGRESS: TypeAdapter[ReindexProgress] = TypeAdapter(ReindexProgress)


class AskRequest(BaseModel):
    """`thread` and `channel` are names of the caller's choosing; a channel's name also says what may be read."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: str = Field(min_length=1, max_length=4000)
    thread: str | None = None
    channel: str | None = None


class AskReply(BaseModel):
    """`answer` and `trace` as `kb.answering.answer_json` writes them; `warnings` as Markdown, in the reader's words."""

    model_config = ConfigDict(frozen=True)

    answer: dict[str, Any]
    trace: dict[str, Any]
    warnings: tuple[str, ...] = ()


class IngestRequest(BaseModel):
    """Which pages to read: folders given now (and remembered), the sample, or the sources known already."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    paths: tuple[Path, ...] = ()
    sample: bool = False
    source: str | None = None
    full: bool = False
    dry_run: bool = False
    force: bool = False
    rollback: bool = False


class ForgetRequest(BaseModel):
    """`address`: a page's URL, path or id. `undo`: let the next sync find it again."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    address: str = Field(min_length=1, max_length=2000)
    undo: bool = False


class ForgetReply(BaseModel):
    """The pages by title and address; with `undo`, by their ids. Empty: there is none."""

    model_config = ConfigDict(frozen=True)

    pages: tuple[str, ...]


class AddKeyRequest(BaseModel):
    """A key of the HTTP API, as `bot.api.keys.ApiKeys.add` takes it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    audience: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    per_minute: int = Field(default=PER_MINUTE, ge=1, le=MOST_PER_MINUTE)
    expires_in_days: int | None = Field(default=None, ge=1, le=3650)
